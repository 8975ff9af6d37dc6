"""What a crawl does when its ordering puts URLs aside and calls them back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from support.webs import html

from crawlproject.crawl.assembly import assemble
from crawlproject.crawl.crawl import Crawl
from crawlproject.options import read_options
from crawlproject.orderings import registry
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import CrawlUrl, Fetch, Link, Page, Topic
from crawlproject.urls.traps import TrapFilter

SEEDS = ("http://a.example/", "http://b.example/")


class Shelf(BaseOrdering):
    """Puts aside and calls back what a test says, each list once."""

    puts_aside = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self.aside: list[str] = []
        self.back: list[list[CrawlUrl]] = []
        self.told: list[tuple[str, str]] = []

    def score(self, page: Page, link: Link) -> float | None:
        return None if link.url.endswith("later") else 0.5

    def put_aside(self) -> Iterable[str]:
        urls, self.aside = self.aside, []
        return urls

    def recall(self) -> Iterable[CrawlUrl]:
        return self.back.pop(0) if self.back else []

    def refused(self, url: str) -> None:
        self.told.append(("refused", url))

    def too_deep(self, url: str) -> None:
        self.told.append(("too deep", url))


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Crawl, Shelf]:
    monkeypatch.setitem(registry.ORDERINGS, "shelf", Shelf)
    options = read_options(
        {"ORDERING": "shelf", "POLITENESS_MIN_DELAY": 0, "TRAP_MAX_URLS_PER_HOST": 3, "TRAP_MAX_DEPTH": 5}
    )
    crawl = assemble(Topic("reef", ("coral reef",), SEEDS), options, clock=lambda: 0.0, folder=tmp_path)
    assert isinstance(crawl.ordering, Shelf)
    return crawl, crawl.ordering


def fetch(crawl: Crawl, *links: str) -> None:
    url = crawl.take(1.0)
    assert url is not None
    crawl.steps.offer(crawl.steps.read(url, html(*links, text="reef")), Fetch(200, 1.0, 0.1))


def waiting(crawl: Crawl) -> set[str]:
    return {url.url for url in crawl.frontier.waiting()}


def test_what_is_put_aside_leaves_its_place_on_the_host_to_others(opened: tuple[Crawl, Shelf]) -> None:
    crawl, shelf = opened
    shelf.aside = ["http://a.example/1", "http://nobody-knows.example/", SEEDS[1]]
    fetch(crawl, "/1", "/2", "/later")
    assert waiting(crawl) == {SEEDS[1], "http://a.example/2"}, "a seed stays"
    assert crawl.stats.refused == 0, "what is not followed now may be later"
    shelf.back = [[CrawlUrl("http://a.example/later", 0.3, 1)]]
    crawl.take(1.0)
    assert "http://a.example/later" in crawl.frontier
    shelf.back = [[CrawlUrl("http://a.example/1", 0.3, 1)]]
    crawl.take(1.0)
    assert shelf.told == [("refused", "http://a.example/1")], "the host has its three"


def test_it_is_asked_again_until_something_enters(opened: tuple[Crawl, Shelf]) -> None:
    crawl, shelf = opened
    good, unasked = CrawlUrl("http://c.example/", 9.0, 1), CrawlUrl("http://d.example/", 9.0, 1)
    film, deep = CrawlUrl("http://c.example/film.mp4", 9.0, 1), CrawlUrl("http://c.example/deep", 9.0, 6)
    shelf.back = [[film], [deep], [good], [unasked]]
    assert crawl.take(1.0) == good
    assert shelf.told == [("refused", film.url), ("too deep", deep.url)]
    assert shelf.back == [[unasked]]


def test_a_withdrawn_url_frees_its_place() -> None:
    traps = TrapFilter(max_urls_per_host=1)
    traps.admitted("http://a.example/1")
    assert traps.refusal("http://a.example/2") == "host_full"
    traps.withdrawn("http://a.example/1")
    assert traps.refusal("http://a.example/2") is None
