"""Several workers of one crawl: each owns some hosts, and all share one budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import redis
from support.eventloop import Loop
from support.webs import html

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.stopping import PAGE_BUDGET
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.urls.hosts import origin_of

FRONT = "http://a.example/"
LINKS = [f"http://h{number}.example/{page}" for number in range(12) for page in range(5)]


def worker(folder: Path, database: redis.Redis, name: str, **settings: object) -> Crawl:
    where = database.connection_pool.connection_kwargs
    asked = {"FRONTIER": "redis", "REDIS_PORT": where["port"], "REDIS_DB": where["db"], "CRAWL_WORKER": name}
    options = read_options(
        {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_FRONT_PAGES": False, **asked, **settings}
    )
    return assemble(Topic("reef", ("coral reef",), (FRONT,)), options, clock=time.time, folder=folder / name)


def frontier_of(crawl: Crawl) -> RedisWorker:
    assert isinstance(crawl.frontier, RedisWorker)
    return crawl.frontier


def start(crawls: Iterable[Crawl], loop: Loop) -> None:
    crawls = list(crawls)
    for crawl in crawls:
        loop.start(frontier_of(crawl), 4)
    loop.run_until(lambda: all(len(frontier_of(crawl).workers()) == len(crawls) for crawl in crawls))


def read(crawl: Crawl, url: CrawlUrl, *links: str) -> None:
    """Finish ``url`` with a page that has these links."""
    now = time.time()
    page = crawl.steps.read(url, html(*links, text="coral reef"))
    crawl.steps.keep(page, crawl.steps.visit(url, page, b"", fetched := Fetch(200, now, 0.1)))
    crawl.steps.offer(page, fetched)


def run(
    crawls: Iterable[Crawl], loop: Loop, until: Callable[[list[str]], object], links: Iterable[str] = LINKS
) -> list[tuple[str, str]]:
    """Run the crawls; return each fetch as worker and URL. The first page has the links."""
    crawls, fetched = list(crawls), list[tuple[str, str]]()

    def step() -> object:
        for crawl in crawls:
            while url := crawl.take(time.time()):
                read(crawl, url, *links if url.url == FRONT else ())
                fetched.append((crawl.folder.path.name, url.url))
        return until([url for _, url in fetched])

    loop.run_until(step)
    return fetched


def close(*crawls: Crawl) -> None:
    for crawl in crawls:
        frontier_of(crawl).close()
        crawl.folder.close("", time.time(), {})


def is_spent(crawl: Crawl) -> bool:
    return crawl.budget.end_reason(time.time()) == PAGE_BUDGET


def test_each_worker_fetches_the_urls_of_its_hosts(tmp_path: Path, database: redis.Redis, loop: Loop) -> None:
    """Whatever its ordering scores them: each worker has its own floor."""
    crew = [
        worker(tmp_path, database, "first", ORDERING="adaptive", ORDERING_ACTIVE=4),
        worker(tmp_path, database, "second", ORDERING="dom"),
    ]
    start(crew, loop)
    fetched = run(crew, loop, lambda urls: len(urls) > len(LINKS))
    assert sorted(url for _, url in fetched) == sorted([FRONT, *LINKS])
    assert {name for name, _ in fetched} == {"first", "second"}
    for name, url in fetched:
        assert crew[name == "second"].peers.is_own(queue_of(url))
    loop.run_until(lambda: not any(crawl.peers.pending(crawl.frontier) for crawl in crew))
    close(*crew)


def test_front_pages_are_fetched_by_the_workers_of_their_hosts(
    tmp_path: Path, database: redis.Redis, loop: Loop
) -> None:
    crew = [
        worker(tmp_path, database, name, ORDERING="adaptive", CRAWL_FRONT_PAGES=True) for name in ("first", "second")
    ]
    start(crew, loop)
    expected = sorted({FRONT, *LINKS, *(f"{origin_of(url)}/" for url in LINKS)})
    fetched = run(crew, loop, lambda urls: len(urls) >= len(expected))
    assert sorted(url for _, url in fetched) == expected
    for name, url in fetched:
        assert crew[name == "second"].peers.is_own(queue_of(url))
    loop.run_until(lambda: not any(crawl.peers.pending(crawl.frontier) for crawl in crew))
    close(*crew)


def test_a_worker_that_died_goes_on_with_its_links(tmp_path: Path, database: redis.Redis, loop: Loop) -> None:
    first, second = (worker(tmp_path, database, name, ORDERING="dom") for name in ("first", "second"))
    start([first, second], loop)
    fetched = run([first, second], loop, lambda urls: len(urls) > 20)
    first.folder.close("", time.time(), {})
    loop.forget(frontier_of(first))
    again = worker(tmp_path, database, "first", ORDERING="dom")
    loop.start(frontier_of(again), 4)
    fetched += run([again, second], loop, lambda urls: len(urls) + len(fetched) > len(LINKS))
    assert sorted(url for _, url in fetched) == sorted([FRONT, *LINKS])
    close(again, second)


def test_pages_are_counted_once_for_all_workers(tmp_path: Path, database: redis.Redis, loop: Loop) -> None:
    crew = [worker(tmp_path, database, name, ORDERING="dom", CRAWL_MAX_PAGES=7) for name in ("first", "second")]
    start(crew, loop)
    held: list[tuple[Crawl, CrawlUrl]] = []

    def take() -> bool:
        for crawl in crew:
            while url := crawl.take(time.time()):
                if url.url == FRONT:
                    read(crawl, url, *LINKS)
                else:
                    held.append((crawl, url))
        return len(held) == 6

    loop.run_until(take)
    loop.run_for(0.5)
    take()
    assert len(held) == 6, "with the first one these may be seven pages"
    assert not any(map(is_spent, crew))
    crawl, failed = held.pop()
    crawl.fail(failed, "http 500", Fetch(500, time.time(), 0.1))
    loop.run_until(take)
    for crawl, url in held:
        read(crawl, url)
    loop.run_until(lambda: all(map(is_spent, crew)))
    assert [crawl.take(time.time()) for crawl in crew] == [None, None]
    assert sum(crawl.stats.pages for crawl in crew) == 7
    close(*crew)
