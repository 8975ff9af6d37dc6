"""The distinction between cloaked pages and pages that merely change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.pages import a_link
from support.pages import random_terms as text

from crawlproject.parts.probes.cloaking import can_be_judged, copy_of, is_sampled, judge
from crawlproject.parts.probes.probe_log import (
    AGAIN,
    BROWSER,
    BROWSER_AGAIN,
    CLOAKED,
    DISGUISED,
    HONEST,
    LOGGED_IN_AGAIN,
    PERSONALISED,
    STRANGER,
    STRANGER_AGAIN,
    UNDECIDED,
    WITHOUT_LOGIN,
    ProbeResponse,
)
from crawlproject.records import Fetch, Page

URL = "http://www.a.example/page"
MENU = tuple(f"http://www.a.example/{number}" for number in range(30))

Serve = Callable[[bool, int], Page]  # for a browser, number of the fetch


def a_page(*parts: list[str], links: tuple[str, ...] = MENU) -> Page:
    return Page(URL, terms=[term for part in parts for term in part], links=tuple(map(a_link, links)))


ARTICLE = text("article", 300)


def probe(serve: Serve, step: str = BROWSER) -> tuple[str, list[str]]:
    """The verdict, and the steps that it took."""
    copies, steps, other = copy_of(serve(False, 0)).numbers(), [], DISGUISED | WITHOUT_LOGIN
    while True:
        steps.append(step)
        found = judge(step, copies, ProbeResponse(Fetch(200, 1.0, 0.1), serve(step in other, len(steps))), URL)
        if not found.then:
            return found.verdict, steps
        step, copies = found.then, found.copies


CLOAKING: dict[str, Serve] = {
    "another text": lambda browser, _: a_page(text("shop", 200) if browser else ARTICLE),
    "keywords": lambda browser, _: a_page(ARTICLE, [] if browser else text("keywords", 120)),
    "links": lambda browser, _: a_page(
        ARTICLE, links=MENU if browser else (*MENU, *(f"http://farm{n}.example/" for n in range(40)))
    ),
    "another text beside advertisements": lambda browser, number: a_page(
        text("shop", 200) if browser else ARTICLE, text(number, 40)
    ),
}
HONESTY: dict[str, Serve] = {
    "the same": lambda browser, number: a_page(ARTICLE),
    "a counter": lambda browser, number: a_page(ARTICLE, [str(number)]),
    "advertisements": lambda browser, number: a_page(ARTICLE, text(number, 60)),
    "another text each time": lambda browser, number: a_page(text(number, 300)),
    "a banner for browsers": lambda browser, number: a_page(ARTICLE, text("banner", 200) if browser else []),
    "edited meanwhile": lambda browser, number: a_page(ARTICLE, text("old" if number == 0 else "new", 150)),
    "related pages": lambda browser, number: a_page(
        ARTICLE, links=(*MENU, *(f"http://www.a.example/related/{number}/{n}" for n in range(20)))
    ),
}


@pytest.mark.parametrize("style", CLOAKING)
def test_what_only_a_crawler_is_shown_is_cloaked(style: str) -> None:
    assert probe(CLOAKING[style]) == (CLOAKED, [BROWSER, AGAIN, BROWSER_AGAIN])


PERSONAL: dict[str, Serve] = {
    "recommended": lambda stranger, _: a_page(ARTICLE, text("bestsellers" if stranger else "for Ann", 150)),
    "a teaser": lambda stranger, _: a_page(ARTICLE[:60] if stranger else ARTICLE),
    "behind a login": lambda stranger, _: a_page(text("please log in", 60) if stranger else ARTICLE),
}


@pytest.mark.parametrize("style", PERSONAL)
def test_what_a_stranger_is_not_shown_is_personalised(style: str) -> None:
    assert probe(PERSONAL[style], STRANGER) == (PERSONALISED, [STRANGER, LOGGED_IN_AGAIN, STRANGER_AGAIN])


@pytest.mark.parametrize("style", HONESTY)
def test_what_changes_by_itself_or_greets_is_not_personalised(style: str) -> None:
    assert probe(HONESTY[style], STRANGER)[0] == HONEST
    assert probe(lambda stranger, _: a_page(ARTICLE, [] if stranger else ["hello", "ann"]), STRANGER)[0] == HONEST


@pytest.mark.parametrize("style", HONESTY)
def test_what_changes_by_itself_is_not(style: str) -> None:
    assert probe(HONESTY[style])[0] == HONEST


def test_a_page_that_is_the_same_costs_one_fetch() -> None:
    assert probe(HONESTY["the same"]) == (HONEST, [BROWSER])


@pytest.mark.parametrize(
    "answer",
    [
        ProbeResponse(Fetch(403, 1.0, 0.1), error="http 403"),
        ProbeResponse(Fetch(0, 1.0, 0.1), error="TimeoutError"),
        ProbeResponse(Fetch(200, 1.0, 0.1), error="content type image/png"),
        ProbeResponse(Fetch(302, 1.0, 0.1), redirect="http://m.a.example/page"),
        ProbeResponse(Fetch(200, 1.0, 0.1), a_page(text("enable scripts", 6))),
        ProbeResponse(Fetch(200, 1.0, 0.1), Page(URL, terms=text("wall", 90), signs={"block/captcha": 1.0})),
    ],
    ids=["forbidden", "timeout", "image", "same site", "scripts", "wall"],
)
def test_answers_that_prove_nothing(answer: ProbeResponse) -> None:
    found = judge(BROWSER, copy_of(a_page(ARTICLE)).numbers(), answer, URL)
    assert (found.verdict, found.then) == (UNDECIDED, "") and found.why


@pytest.mark.parametrize(
    ("step", "steps", "verdict"),
    [(BROWSER, (AGAIN, BROWSER_AGAIN), CLOAKED), (STRANGER, (LOGGED_IN_AGAIN, STRANGER_AGAIN), PERSONALISED)],
)
def test_who_is_sent_to_another_site_is_shown_nothing_of_the_page(
    step: str, steps: tuple[str, str], verdict: str
) -> None:
    """A browser to a shop, or a stranger to a login: such a page is behind the login, wherever that is."""
    away = ProbeResponse(Fetch(302, 1.0, 0.1), redirect="http://shop.example/")
    first = judge(step, copy_of(a_page(ARTICLE)).numbers(), away, URL)
    second = judge(first.then, first.copies, ProbeResponse(Fetch(200, 1.0, 0.1), a_page(ARTICLE)), URL)
    last = judge(second.then, second.copies, away, URL)
    assert (first.then, second.then, last.verdict) == (*steps, verdict)
    assert last.why == "text, a redirect to http://shop.example/"


@example(kept=128, changing=1, banner=167, seed=10394)
@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.integers(0, 10**6))
def test_whatever_is_drawn_anew_for_everybody_is_honest_or_shown_to_nobody(
    kept: int, changing: int, banner: int, seed: int
) -> None:
    """A page of any mixture of what stays and what is drawn for each fetch, with more for browsers, is never cloaked."""

    def serve(browser: bool, number: int) -> Page:
        return a_page(text(seed, kept), text((seed, number), changing), text("banner", banner) if browser else [])

    assert probe(serve)[0] != CLOAKED


def test_the_sample_is_a_share_that_stays() -> None:
    urls = [f"http://h{n % 7}.example/{n}" for n in range(4000)]
    chosen = {url for url in urls if is_sampled(url, 0.1, 1)}
    assert 300 < len(chosen) < 500
    assert chosen == {url for url in urls if is_sampled(url, 0.1, 1)} < {url for url in urls if is_sampled(url, 0.2, 1)}
    assert chosen != {url for url in urls if is_sampled(url, 0.1, -2)}
    assert all(is_sampled(url, 1.0, 1) for url in urls) and not any(is_sampled(url, 0.0, 1) for url in urls)


def test_a_page_needs_some_text_or_links() -> None:
    assert can_be_judged(a_page(ARTICLE, links=())) and can_be_judged(a_page())
    assert not can_be_judged(a_page(text(1, 20), links=MENU[:3]))
