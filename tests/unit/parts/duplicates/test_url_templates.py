"""Uninformative templates come later, are retried occasionally, and can recover."""

from __future__ import annotations

import pytest
from support.events import error_event, page_event, redirect_event

from crawlproject.parts.duplicates.url_templates import FACTOR, FIRST_DELAY, LONGEST_DELAY, UrlTemplates
from crawlproject.records import (
    ACTIVE,
    NEW_TEXT,
    NOT_KEPT,
    NOVELTY,
    REDUNDANT,
    REPETITIVE,
    UNINFORMATIVE,
    CrawlUrl,
    FetchEvent,
    Page,
)

A = "http://a.example"
CALENDAR = "a.example/cal/#"


def uninformative(number: int) -> FetchEvent:
    return page_event(Page(f"{A}/cal/{number}", duplicate_of=f"{A}/cal/0"))


def informative(number: int) -> FetchEvent:
    return page_event(Page(f"{A}/cal/{number}"))


def demoted() -> UrlTemplates:
    templates = UrlTemplates()
    for number in range(6):
        templates.learn(uninformative(number))
    return templates


@pytest.mark.parametrize(
    "event",
    [
        uninformative(1),
        page_event(Page(f"{A}/cal/1", signs={NOVELTY: 0.02})),
        error_event(f"{A}/cal/1", "soft_404"),
        error_event(f"{A}/cal/1", "parked"),
        error_event(f"{A}/cal/1", NOT_KEPT),
        error_event(f"{A}/cal/1", "content type application/rss+xml"),
    ],
    ids=["copy", "nothing new", "soft 404", "parked", "not to be kept", "not read"],
)
def test_a_template_whose_pages_say_nothing_is_demoted(event):
    templates = UrlTemplates()
    for _ in range(2):
        templates.learn(event)
    assert templates.demoted(f"{A}/cal/77") is None
    templates.learn(event)
    assert templates.demoted(f"{A}/cal/77") == CALENDAR
    assert templates.lowered(f"{A}/cal/77", 0.5) == 0.5 * FACTOR
    assert templates.lowered(f"{A}/cal/77", -0.5) < -0.5
    assert templates.lowered(f"{A}/reef", 0.5) == 0.5


def test_walls_and_failures_say_nothing_about_a_template():
    templates = UrlTemplates()
    for number in range(20):
        templates.learn(error_event(f"{A}/cal/{number}", "block/captcha", status=429))
        templates.learn(error_event(f"{A}/cal/{number}", "http 404", status=404))
    assert templates.demoted(f"{A}/cal/1") is None


def test_a_captcha_before_some_pages_of_a_host_demotes_these_and_no_others():
    templates = UrlTemplates()
    for number in range(20):
        templates.learn(error_event(f"{A}/blame?file={number}", "block/captcha", status=200))
    assert templates.demoted(f"{A}/blame?file=77") == "a.example/blame?file"
    assert templates.demoted(f"{A}/file?name=77") is None


def test_mixed_pages_do_not_demote():
    templates = UrlTemplates()
    for number in range(60):
        templates.learn(uninformative(number) if number % 2 else informative(number))
        assert templates.demoted(f"{A}/cal/1") is None
    assert templates.demoted(f"{A}/cal/1") is None


def test_names_of_words_are_demoted_with_their_folder():
    templates = UrlTemplates()
    for name in ("reef", "fish", "kelp", "crab", "tide", "sand", "wave", "foam", "gull", "salt", "sun", "sky", "dune"):
        templates.learn(error_event(f"{A}/gone/{name}", "soft_404"))
    assert templates.demoted(f"{A}/gone/shell")
    assert templates.demoted(f"{A}/kept/shell") == f"{A[7:]}/**"
    templates.learn(page_event(Page(f"{A}/kept/one")))
    templates.learn(page_event(Page(f"{A}/kept/two")))
    assert templates.demoted(f"{A}/kept/shell") is None


def test_a_path_that_grows_is_demoted_with_all_below_its_first_segment():
    templates = UrlTemplates()
    path = f"{A}/grow"
    for depth in range(14):
        path += f"/{'abcdefghijklmn'[depth]}"
        templates.learn(page_event(Page(path, duplicate_of=f"{A}/grow/a")))
    assert templates.demoted(f"{path}/x")


def asked(templates: UrlTemplates, path: str, now: float, precedence: int = ACTIVE) -> int:
    """The class of a URL whose turn has come."""
    return templates.precedence(CrawlUrl(f"{A}{path}", 1.0, precedence=precedence), now)


def test_of_a_demoted_template_one_url_is_tried_at_a_time_and_the_others_come_later():
    templates = demoted()
    gap = templates.delay(CALENDAR)
    assert gap >= FIRST_DELAY
    found = [asked(templates, f"/cal/{100 + second}", 1000.0 + second) for second in range(int(2 * gap) + 1)]
    tried = [second for second, precedence in enumerate(found) if precedence == ACTIVE]
    assert tried == [0, gap, 2 * gap]
    assert set(found) == {ACTIVE, REPETITIVE}
    assert asked(templates, "/reef", 1000.0) == ACTIVE
    assert asked(templates, "/cal/7", 1000.0, REPETITIVE) == REPETITIVE, "no refusal: it is fetched from there"


def test_another_is_tried_within_an_hour_however_many_said_nothing():
    templates = demoted()
    for number in range(50):
        templates.learn(uninformative(number))
    assert templates.delay(CALENDAR) == LONGEST_DELAY
    assert asked(templates, "/cal/100", 1000.0) == ACTIVE
    assert asked(templates, "/cal/101", 1000.0 + LONGEST_DELAY) == ACTIVE


def test_each_uninformative_page_makes_the_delay_longer_and_an_informative_one_short_again():
    templates = demoted()
    first = templates.delay(CALENDAR)
    templates.learn(uninformative(7))
    assert templates.delay(CALENDAR) == 2 * first
    templates.learn(informative(8))
    assert templates.delay(CALENDAR) == FIRST_DELAY


def test_a_template_recovers():
    templates = demoted()
    for number in range(10):
        templates.learn(informative(number))
    assert templates.demoted(f"{A}/cal/1") is None
    assert {asked(templates, f"/cal/{number}", 7.0) for number in range(20)} == {ACTIVE}


def test_what_is_known_is_limited():
    templates = UrlTemplates(most=10)
    for host in range(20):
        for number in range(8):
            templates.learn(
                page_event(Page(f"http://{host}.example/cal/{number}", duplicate_of=f"http://{host}.example/cal/0"))
            )
    assert templates.demoted("http://0.example/cal/1") is None
    assert templates.demoted("http://19.example/cal/1") is not None


@pytest.mark.parametrize(
    ("view", "other", "known"),
    [
        ("/git/log/{}.c", "/git/tree/{}.c", "/git/log/src/wave.c"),
        ("/?a=history;f={}.c", "/?a=blob;f={}.c", "/?a=history;f=wave.c"),
        ("/board/{}/print", "/board/{}/thread", "/board/wave/print"),
        ("/git/tree/{}.c?h=old", "/git/tree/{}.c", "/git/tree/src/wave.c?h=old"),
    ],
    ids=["a folder", "a word of the query", "the last name", "one parameter more"],
)
def test_a_view_of_pages_is_demoted_wherever_its_name_stands_and_the_pages_are_not(view: str, other: str, known: str):
    templates = UrlTemplates()
    for name in ("reef", "fish", "kelp", "crab", "tide"):
        templates.learn(page_event(Page(A + other.format(name))))
        templates.learn(page_event(Page(A + view.format(name), signs={NOVELTY: 0.01})))
    assert templates.demoted(A + known)
    assert templates.demoted(A + other.format("wave")) is None


def test_a_redirect_to_a_page_that_was_fetched_says_nothing_and_to_another_it_may():
    templates = UrlTemplates()
    for number in range(5):
        templates.learn(page_event(Page(f"{A}/de/{number}")))
        templates.learn(redirect_event(f"{A}/tr/de/{number}", f"{A}/de/{number}"))
        templates.learn(redirect_event(f"{A}/go/{number}", f"http://b.example/{number}"))
    assert templates.demoted(f"{A}/tr/de/77")
    assert templates.demoted(f"{A}/de/77") is None and templates.demoted(f"{A}/go/77") is None


def test_the_less_pages_of_a_template_say_the_later_it_comes():
    templates = UrlTemplates()
    for number in range(30):
        templates.learn(page_event(Page(f"{A}/none/{number}", duplicate_of=f"{A}/x")))
        templates.learn(
            page_event(Page(f"{A}/some/{number}", signs={NOVELTY: 0.01} if number % 5 else {NEW_TEXT: 0.4}))
        )
    for path in ("/none/97", "/some/97"):
        asked(templates, path, 1000.0)
    assert asked(templates, "/some/98", 1001.0) == UNINFORMATIVE
    assert asked(templates, "/none/98", 1001.0) == REDUNDANT
    assert asked(templates, "/none/98", 1001.0, UNINFORMATIVE) == REDUNDANT, "also when more is known by its turn"


def test_of_what_is_hardly_known_more_is_expected():
    templates = UrlTemplates()
    for number in range(3):
        templates.learn(uninformative(number))
    assert templates.later(f"{A}/cal/77") == UNINFORMATIVE
    for number in range(20):
        templates.learn(uninformative(number))
    assert templates.later(f"{A}/cal/77") == REDUNDANT


def test_many_folders_of_one_view_are_tried_as_one():
    templates = UrlTemplates()
    for folder in ("reef", "fish", "kelp", "crab"):
        for number in range(4):
            templates.learn(page_event(Page(f"{A}/git/log/{folder}/{number}", signs={NOVELTY: 0.0})))
    found = [asked(templates, f"/git/log/{folder}/77", 1000.0) for folder in ("reef", "fish", "kelp", "crab")]
    assert found.count(ACTIVE) == 1
