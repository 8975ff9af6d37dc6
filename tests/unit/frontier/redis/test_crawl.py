"""A crawl whose frontier other workers take from, too; nothing runs, so every step can be told."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis
from support.redisserver import empty_database
from support.webs import html

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.stopping import PAGE_BUDGET
from crawlproject.orderings.adaptive.adaptive import REVISE_EVERY
from crawlproject.records import Fetch, Topic

FRONT = "http://a.example/"


def worker(folder: Path, database: redis.Redis, name: str, **settings: object) -> Crawl:
    where = database.connection_pool.connection_kwargs
    asked = {"FRONTIER": "redis", "REDIS_PORT": where["port"], "REDIS_DB": where["db"], "CRAWL_WORKER": name}
    options = read_options({"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, **asked, **settings})
    return assemble(Topic("reef", ("coral reef",), (FRONT,)), options, clock=lambda: 100.0, folder=folder)


def fetch(crawl: Crawl, *links: str) -> str | None:
    """Take a URL, and find a page with these links there."""
    url = crawl.take(100.0)
    if url is None:
        return None
    page = crawl.steps.read(url, html(*links, text="coral reef"))
    crawl.steps.keep(page, crawl.steps.visit(url, page, b"", fetched := Fetch(200, 100.0, 0.1)))
    crawl.steps.offer(page, fetched)
    return url.url


def is_spent(crawl: Crawl) -> bool:
    return crawl.budget.end_reason(100.0) == PAGE_BUDGET


@pytest.fixture
def database() -> redis.Redis:
    return empty_database()


def test_a_worker_with_a_floor_shares_its_frontier(tmp_path: Path, database) -> None:
    """What it thinks little of is there for others; what is left then, it fetches itself."""
    first = worker(tmp_path / "first", database, "first", ORDERING="adaptive", ORDERING_ACTIVE=4)
    second = worker(tmp_path / "second", database, "second", ORDERING="dom")
    links = [f"http://h{number}.example/{page}" for number in range(12) for page in range(5)]
    fetched = [fetch(first, *links)] + [fetch(first) for _ in range(REVISE_EVERY)]
    assert first.ordering.floor > 0 and len(first.frontier) == len(links) - REVISE_EVERY, "all of them wait"
    fetched += [fetch(second) for _ in range(20)]
    while url := fetch(first):
        fetched.append(url)
    assert sorted(map(str, fetched)) == sorted([FRONT, *links])


def test_a_resumed_worker_learns_what_became_of_its_links(tmp_path: Path, database) -> None:
    first = worker(tmp_path, database, "first", ORDERING="adaptive", ORDERING_ACTIVE=4)
    links = [f"http://h{number}.example/{page}" for number in range(6) for page in range(5)]
    assert fetch(first, *links) == FRONT
    assert first.take(100.0) is not None, "a lease that is open when the process dies"
    first.folder.close("", 100.0, {})
    second = worker(tmp_path, database, "second", ORDERING="dom")
    others = fetch(second)
    first = worker(tmp_path, database, "first", ORDERING="adaptive", ORDERING_ACTIVE=4)
    fetched = {others}
    while url := fetch(first):
        assert url not in fetched
        fetched.add(url)
    assert fetched == set(links)


def test_pages_are_counted_once_for_all_workers(tmp_path: Path, database) -> None:
    first = worker(tmp_path, database, "first", ORDERING="dom", CRAWL_MAX_PAGES=3)
    second = worker(tmp_path, database, "second", ORDERING="dom", CRAWL_MAX_PAGES=3)
    assert fetch(first, *(f"http://h{number}.example/" for number in range(9))) == FRONT
    assert not is_spent(first) and not is_spent(second) and second.stats.pages == 0
    held = first.take(100.0)
    assert held is not None
    assert fetch(second) is not None
    assert second.take(100.0) is None, "the third page is being fetched already"
    assert not is_spent(second)
    first.fail(held, "http 500", Fetch(500, 100.0, 0.1))
    assert fetch(second) is not None
    assert is_spent(first) and is_spent(second)
    assert first.take(100.0) is None


def test_the_worker_of_a_name_is_one_process(tmp_path: Path, database) -> None:
    old = worker(tmp_path / "old", database, "same", ORDERING="dom")
    worker(tmp_path / "new", database, "same", ORDERING="dom")
    with pytest.raises(OSError, match="CRAWL_WORKER"):
        old.take(100.0)
