"""Workers with a Redis Cluster of three nodes: no command may touch keys of two nodes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from support.eventloop import Loop, crawl, take
from support.frontiersteps import url
from support.redisserver import PROGRAM, RedisServer
from support.workers import Workers

from crawlproject.frontier.redis.connection import connect
from crawlproject.frontier.redis.crew import BURST
from crawlproject.frontier.views.redis import RedisView
from crawlproject.records import CrawlUrl

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")
KEY_SLOTS = 16384


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RedisServer]]:
    made = [RedisServer(tmp_path_factory.mktemp("node"), "--cluster-enabled", "yes") for _ in range(3)]
    try:
        for node in made:
            node.start()
        clients = [redis.Redis(port=node.port) for node in made]
        for number, client in enumerate(clients):
            first, end = (KEY_SLOTS * part // 3 for part in (number, number + 1))
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", made[0].port)
        limit = time.monotonic() + 60
        while not all(client.cluster("info")["cluster_state"] == "ok" for client in clients):
            assert time.monotonic() < limit, "the nodes did not find each other"
            time.sleep(0.05)
        yield made
    finally:
        for node in made:
            node.kill()


@pytest.fixture
def workers(nodes: list[RedisServer], tmp_path: Path) -> Iterator[Workers]:
    made = Workers(nodes[0].url, tmp_path)
    yield made
    made.close()
    for node in nodes:
        redis.Redis(port=node.port).flushall()


def urls(number: int) -> list[CrawlUrl]:
    return [url(f"h{page % 60}/{page}", float(page % 7)) for page in range(number)]


def test_workers_crawl_all_of_it_each_url_once(workers: Workers, nodes: list[RedisServer], loop: Loop) -> None:
    crew = [loop.start(workers.join(name, min_delay=0.01), 5) for name in "abc"]
    for place, frontier in enumerate(crew):
        frontier.put_many(urls(300)[place::2])
    fetched = crawl(crew, loop)
    assert Counter(fetched) == dict.fromkeys((record.url for record in urls(300)), 1)
    assert not loop.failures
    clocks = [redis.Redis(port=node.port).dbsize() for node in nodes]
    assert all(clocks), "inboxes and clocks lie on all nodes"


def test_a_killed_worker_goes_on(workers: Workers, loop: Loop) -> None:
    a, b = (loop.start(workers.join(name)) for name in "ab")
    a.put_many(urls(200))
    held = [take(a, loop).url for _ in range(4)]
    again = loop.start(workers.again(a, "a", loop))
    assert Counter(crawl([again, b], loop)) == dict.fromkeys((record.url for record in urls(200)), 1)
    assert set(held) < {record.url for record in urls(200)}


def test_addresses_messages_budget_and_pace(workers: Workers, loop: Loop) -> None:
    heard: list[bytes] = []
    a, b = (workers.join(name, messages=100, max_pages=15) for name in "ab")
    for frontier in (a, b):
        frontier.when_published(heard.extend if frontier is b else lambda messages: None)
        loop.start(frontier, 10)
        for number in range(60):
            frontier.host_address(f"h{number}.test", f"192.0.2.{number % 5}")
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    a.publish("any", b"message", 1)
    a.attach("http://h1.test/1", b"attached", 1.0)
    for frontier in (a, b):
        frontier.set_pace(1000.0 / BURST)
    a.put_many(urls(100))
    taken: list[str] = []

    def step() -> bool:
        for frontier in (a, b):
            while record := frontier.take(time.time()):
                taken.append(record.url)
                frontier.count_page(record.url)
                frontier.done(record.url, time.time(), 0.0)
        return len(taken) == 15

    loop.run_until(step)
    loop.run_until(lambda: heard == [b"message"])
    loop.run_for(0.5)
    assert not a.take(time.time()) and not b.take(time.time())
    assert a.last_published() == 1 and list(b.attached()) == [b"attached"]


def test_whoever_looks_into_it_sees_numbers_and_removes_it(
    workers: Workers, nodes: list[RedisServer], loop: Loop
) -> None:
    frontier = loop.start(workers.join("a", min_delay=60.0), 1)
    frontier.put_many(urls(5))
    frontier.done(take(frontier, loop).url, time.time(), 0.0)
    view = RedisView(connect(url=nodes[2].url), "crawl")
    loop.run_until(lambda: frontier.take(time.time()) or view.counts().leased == 1)
    assert view.exists() and view.workers() == ["a"] and len(view.rests()) == 1
    workers.end(frontier)
    view.clear()
    assert not view.exists()
    left = [key for node in nodes for key in redis.Redis(port=node.port).keys("*")]
    assert [key for key in left if b"clock" not in key] == []
