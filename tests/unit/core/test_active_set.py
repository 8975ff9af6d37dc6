"""How a crawl applies the floor of its ordering."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.webs import html

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.orderings import registry
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import CrawlUrl, Fetch, Link, Page, Topic
from crawlproject.urls.hosts import host_of

SEEDS = ("http://a.example/", "http://b.example/")
LINKS = {"http://active.example/": 0.8, "http://spare.example/": 0.55, "http://poor.example/": 0.1}


class Divided(BaseOrdering):
    """Links have the scores of a table; a test sets the floor."""

    learns = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self.floor = 0.6
        self.told: list[tuple[str, str]] = []

    def score(self, page: Page, link: Link) -> float | None:
        return LINKS.get(f"http://{host_of(link.url)}/", 0.7)

    def revise(self) -> Iterable[tuple[str, float]]:
        return ()

    def refused(self, url: str) -> None:
        self.told.append(("refused", url))

    def too_deep(self, url: str) -> None:
        self.told.append(("too deep", url))

    def postponed(self, url: str) -> None:
        self.told.append(("postponed", url))


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """``opened(**settings)``: a crawl whose two seeds were fetched, with the links of ``LINKS``."""
    monkeypatch.setitem(registry.ORDERINGS, "divided", Divided)

    def open_one(*links: str, fetches: int = 2, **settings: object) -> Crawl:
        given = {"ORDERING": "divided", "POLITENESS_MIN_DELAY": 10, "POLITENESS_FACTOR": 0, **settings}
        crawl = assemble(Topic("reef", ("coral reef",), SEEDS), read_options(given), clock=lambda: 0.0, folder=tmp_path)
        for _ in range(fetches):
            fetch(crawl, *LINKS, *links)
        return crawl

    return open_one


def fetch(crawl: Crawl, *links: str) -> None:
    url = crawl.take(1.0)
    assert url is not None
    body = html(*links, text="reef")
    page, fetched = crawl.steps.read(url, body), Fetch(200, 1.0, 0.1)
    crawl.steps.keep(page, crawl.steps.visit(url, page, body, fetched))
    crawl.steps.offer(page, fetched)


def hosts_taken(crawl: Crawl) -> list[str]:
    """The hosts taken while no fetch ends."""
    return [host_of(url.url) for url in iter(lambda: crawl.take(2.0), None)]


@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        ({"CRAWL_SCARCE": "pages"}, ["active.example"]),
        ({"CRAWL_SCARCE": "both", "CRAWL_MAX_PAGES": 50}, ["active.example", "spare.example"]),
        ({"CRAWL_SCARCE": "both"}, ["active.example", "spare.example", "poor.example"]),
        ({"CRAWL_SCARCE": "time", "CRAWL_MAX_PAGES": 50}, ["active.example", "spare.example", "poor.example"]),
    ],
)
def test_what_is_scarce_says_which_hosts_may_be_taken_below_the_floor(
    opened, given: dict[str, object], hosts: list[str]
) -> None:
    crawl = opened(*(f"{url}second" for url in LINKS), **given)
    assert hosts_taken(crawl) == hosts


def test_without_a_floor_all_hosts_are_taken(opened) -> None:
    crawl = opened(fetches=1)
    crawl.ordering.floor = -math.inf
    fetch(crawl)
    assert hosts_taken(crawl) == ["active.example", "spare.example", "poor.example"]


def test_a_resumed_crawl_has_its_floor_before_its_first_fetch(opened) -> None:
    opened("http://active.example/second", CRAWL_SCARCE="pages").close("stopped", 3.0)
    resumed = opened(fetches=0, CRAWL_SCARCE="pages")
    assert hosts_taken(resumed) == ["active.example"]


def test_the_ordering_hears_of_what_cannot_enter(opened) -> None:
    film, deep = CrawlUrl("http://c.example/film.mp4", 9.0, 1), CrawlUrl("http://c.example/deep", 9.0, 6)
    crawl = opened(TRAP_MAX_DEPTH=5)
    assert not crawl.admission.offer(film) and not crawl.admission.offer(deep)
    assert crawl.ordering.told == [("refused", film.url), ("too deep", deep.url)]


def test_when_nothing_active_waits_the_best_of_the_others_are_taken(opened) -> None:
    assert hosts_taken(opened(CRAWL_SCARCE="pages")) == ["active.example", "spare.example", "poor.example"]


def test_what_an_earlier_version_put_aside_waits_after_a_resume(opened) -> None:
    crawl = opened()
    crawl.frontier._store.evict("http://spare.example/", 0)  # put aside, it was unknown to the frontier
    crawl.close("stopped", 3.0)
    resumed = opened(fetches=0)
    waiting = {url.url: (url.score, url.depth, url.parent) for url in resumed.frontier.waiting()}
    assert waiting["http://spare.example/"] == (0.55, 1, "http://a.example/")
