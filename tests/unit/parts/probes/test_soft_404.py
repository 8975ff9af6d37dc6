"""The response of a host for missing pages, and the detection of pages that are such responses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import a_link
from support.pages import random_terms as text

from crawlproject.parts.probes.probe_log import HONEST, MADE_UP, UNDECIDED, Finding, ProbeResponse
from crawlproject.parts.probes.soft_404 import Soft404Detector, made_up
from crawlproject.records import CrawlUrl, Fetch, Page
from crawlproject.urls.canonical import canonical_url

ORIGIN = "http://www.a.example"
ASKED = made_up(f"{ORIGIN}/articles/page.html", 1)


def a_page(url: str, *parts: list[str], title: str = "A site", links: int = 0, depth: int = 1) -> Page:
    terms = [term for part in parts for term in part]
    return Page(url, title, terms=terms, links=tuple(a_link(f"{ORIGIN}/{n}") for n in range(links)), depth=depth)


def came(page: Page | None = None, status: int = 200, redirect: str = "", error: str = "") -> ProbeResponse:
    return ProbeResponse(Fetch(status, 1.0, 0.1), page, redirect, error)


def told(answer: ProbeResponse) -> Soft404Detector:
    """A detector after the response to ``ASKED``."""
    missing = Soft404Detector(after=3)
    missing.learn(
        Finding(ASKED, "missing", f"{ORIGIN}/page", 1.0, 0.1, answer.fetch.status, **missing.judge(ASKED, answer))
    )
    return missing


def verdict(answer: ProbeResponse) -> str:
    return str(Soft404Detector(after=3).judge(ASKED, answer)["verdict"])


TEMPLATE = text("template", 200)
SORRY = a_page(ASKED, TEMPLATE, text("sorry", 12), title="A site: nothing called " + ASKED.rpartition("/")[2])


# ------------------------------------------------------------ asking


def test_a_host_is_asked_when_it_has_brought_so_many_pages() -> None:
    missing = Soft404Detector(after=2)
    asked = []
    for number in range(4):
        for host in ("a", "b"):
            missing.count(f"http://{host}.example/{number}")
            asked.append(missing.asked_for(f"http://{host}.example/{number}"))
    assert [bool(url) for url in asked] == [False, False, True, True, False, False, False, False]
    assert Soft404Detector().asked_for(f"{ORIGIN}/") == "", "nobody is asked unless asked for"


@pytest.mark.parametrize(
    ("url", "start", "end"),
    [
        ("http://a.example/", "http://a.example/", ""),
        ("http://a.example/dir/page.html", "http://a.example/dir/", ".html"),
        ("http://a.example/view.php?id=/7.html", "http://a.example/", ".php"),
        ("http://a.example:8080/v1.2/", "http://a.example:8080/v1.2/", ""),
    ],
)
def test_the_name_is_made_up_beside_a_page(url: str, start: str, end: str) -> None:
    name = made_up(url, 1)
    assert name.startswith(start) and name.endswith(end) and canonical_url(name) == name
    assert len(name) == len(start) + 16 + len(end)
    assert name == made_up(url, 1) != made_up(url, 2)


# ------------------------------------------------------------ what the host says


@pytest.mark.parametrize("status", [404, 410, 400])
def test_most_hosts_say_that_it_is_not_there(status: int) -> None:
    assert verdict(came(status=status, error=f"http {status}")) == HONEST


@pytest.mark.parametrize(
    "answer",
    [
        came(status=403, error="http 403"),
        came(status=503, error="http 503"),
        came(status=0, error="TimeoutError"),
        came(error="content type image/png"),
        came(Page(ASKED, signs={"block/captcha": 1.0})),
        came(status=301, redirect=ASKED.replace("http:", "https:")),
        came(status=302, redirect=f"{ORIGIN}/login?next={ASKED.rpartition('/')[2]}"),
    ],
    ids=["forbidden", "unavailable", "timeout", "image", "captcha", "moved", "login"],
)
def test_answers_that_prove_nothing(answer: ProbeResponse) -> None:
    found = Soft404Detector(after=3).judge(ASKED, answer)
    assert found["verdict"] == UNDECIDED and found["why"]


# ------------------------------------------------------------ pages


def test_a_page_with_the_same_text_is_not_there() -> None:
    missing = told(came(SORRY))
    url = f"{ORIGIN}/articles/gone-since-1997.html"
    assert missing.is_page(
        a_page(url, TEMPLATE, text("sorry", 12), title="A site: nothing called gone-since-1997.html")
    )
    assert missing.is_page(
        a_page(url, TEMPLATE, text("sorry", 12), ["12", "2026"], title="A site: nothing called x"[:22])
    )
    assert not missing.is_page(a_page(url, TEMPLATE, text("sorry", 12), title="A site: reefs"))
    assert not missing.is_page(a_page("http://b.example/x", TEMPLATE, text("sorry", 12), title=SORRY.title))


def test_a_page_of_the_same_template_is_there() -> None:
    missing = told(came(SORRY))
    for words in (25, 100, 1000):
        assert not missing.is_page(a_page(f"{ORIGIN}/x", TEMPLATE, text("article", words), title=SORRY.title))


def test_the_front_page_and_seeds_stay_what_they_are() -> None:
    """Many hosts show their front page for any URL."""
    front = a_page(f"{ORIGIN}/", TEMPLATE, text("news", 100), title="A site")
    missing = told(came(Page(ASKED, front.title, terms=front.terms)))
    assert not missing.is_page(front)
    assert not missing.is_page(a_page(f"{ORIGIN}/en", TEMPLATE, text("news", 100), title="A site", depth=0))
    assert missing.is_page(a_page(f"{ORIGIN}/gone", TEMPLATE, text("news", 100), title="A site"))


def test_an_article_that_the_front_page_shows_in_full_is_there() -> None:
    article = text("article", 80)
    front = [*TEMPLATE, *text("another article", 90), *article, *text("a third one", 70)]
    missing = told(came(Page(ASKED, "A site", terms=front)))
    assert not missing.is_page(a_page(f"{ORIGIN}/article", TEMPLATE, article, title="A site"))


def test_documents_with_hardly_a_text_must_lead_to_the_same_places() -> None:
    """Entry pages and stubs that forward their readers all have the same text."""
    missing = told(came(a_page(ASKED, text("enter here", 10), links=3)))
    assert missing.is_page(a_page(f"{ORIGIN}/x", text("enter here", 10), links=3))
    assert not missing.is_page(a_page(f"{ORIGIN}/x", text("enter here", 10), links=4))
    assert not missing.is_page(a_page(f"{ORIGIN}/x", text("enter there", 10), links=3))


@given(st.integers(0, 250), st.integers(0, 250), st.integers(0, 10**6))
def test_whatever_has_a_text_of_its_own_is_there(shared: int, own: int, seed: int) -> None:
    missing = told(came(a_page(ASKED, text(seed, shared), text((seed, "sorry"), 10))))
    page = a_page(f"{ORIGIN}/x", text(seed, shared), text((seed, "own"), own))
    assert not (missing.is_page(page) and own >= 20)


# ------------------------------------------------------------ redirects


def test_a_redirect_to_the_same_place_is_no_page() -> None:
    missing = told(came(status=302, redirect=f"{ORIGIN}/"))
    assert missing.is_redirect(CrawlUrl(f"{ORIGIN}/gone", 1.0, 2), f"{ORIGIN}/")
    assert not missing.is_redirect(CrawlUrl(f"{ORIGIN}/moved", 1.0, 2), f"{ORIGIN}/new")
    assert not missing.is_redirect(CrawlUrl(f"{ORIGIN}/", 1.0, 2), f"{ORIGIN}/"), "the front page may lead on"
    assert not missing.is_redirect(CrawlUrl(f"{ORIGIN}/gone", 1.0, 0), f"{ORIGIN}/"), "a seed may, too"
    assert not missing.is_redirect(CrawlUrl("http://b.example/gone", 1.0, 2), f"{ORIGIN}/")
    assert not missing.is_page(a_page(f"{ORIGIN}/gone")), "the text is that of another page"


def test_a_finding_holds_what_was_learned() -> None:
    """Enough of it is in the log for a resumed crawl."""
    for answer in (came(SORRY), came(status=302, redirect=f"{ORIGIN}/"), came(status=404, error="http 404")):
        said = Soft404Detector(after=3).judge(ASKED, answer)
        assert (said["verdict"] == MADE_UP) == (answer.fetch.status != 404)
        assert all(isinstance(value, str | int) for value in said.values())
