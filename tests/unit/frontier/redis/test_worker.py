"""The worker's side of the Redis frontier, with a server that goes away, comes back, and is full."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from random import Random

import pytest
import redis
from crawlproject.frontier.redis.client_thread import BURST
from crawlproject.frontier.redis.operations import slot_of
from crawlproject.frontier.redis.script import FrontierRules
from support.eventloop import Loop, crawl
from support.redisserver import LASTING, PROGRAM, RedisServer, redis_server

from crawlproject.errors import StorageFailed
from crawlproject.frontier.redis.connection import connect
from crawlproject.frontier.redis.joining import join
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import HOST_FULL, KNOWN
from crawlproject.records import ACTIVE, FIRST, OVER_BUDGET, REVISITS, WASTE, CrawlUrl

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path / "redis", *LASTING) as running:
        yield running


def worker(server: RedisServer, loop: Loop | None, name: str = "w", *, limit: int = 4, **rules: int) -> RedisWorker:
    chosen = FrontierRules(min_delay=0.0, factor=0.0, **rules)
    joined = join(connect(url=server.url), "crawl", name, chosen, clock=time.time, random=Random(1))
    return loop.start(joined, limit) if loop is not None else joined


def urls(number: int) -> list[CrawlUrl]:
    return [CrawlUrl(f"http://h{page % 100}.test/{page}", float(page)) for page in range(number)]


def test_nothing_waits_for_the_server(server: RedisServer, loop: Loop) -> None:
    """With the server gone, every call still returns; with the server back, everything was done."""
    frontier = worker(server, loop)
    server.kill()
    began = time.perf_counter()
    with frontier.batch():
        frontier.put_many(urls(50))
    assert frontier.take(time.time()) is None
    frontier.crawl_delay("h1.test", 0.0)
    assert frontier.pending()
    assert time.perf_counter() - began < 5.0, "the time-out of the connection is longer"
    server.start()
    assert sorted(crawl(frontier, loop)) == sorted(url.url for url in urls(50))
    frontier.close()


def test_no_more_is_taken_than_there_is_room_for(server: RedisServer, loop: Loop) -> None:
    frontier = worker(server, loop, limit=3)
    frontier.put_many(urls(20))
    held: list[str] = []

    def take() -> bool:
        while len(held) < 3 and (taken := frontier.take(time.time())):
            held.append(taken.url)
        return len(held) == 3

    loop.run_until(take)
    assert frontier.leases() == 3
    client = redis.Redis(port=server.port)
    assert client.hlen("topical:{0}:crawl:crawl:leases") == 3
    frontier.close()
    assert client.hlen("topical:{0}:crawl:crawl:leases") == 0, "what was not fetched waits again"


def test_the_floor_of_the_moment_is_sent_with_each_take(server: RedisServer, loop: Loop) -> None:
    frontier = worker(server, loop)
    with frontier.batch():
        frontier.put_many(CrawlUrl(f"http://{host}.test/{page}", float(page)) for host in "abc" for page in (1, 2))
        frontier.put(CrawlUrl("http://low.test/", 0.5))
        frontier.set_floor(1.0)
        frontier.set_ceiling(ACTIVE)
    held = []

    def take(number: int) -> None:
        def has_taken() -> bool:
            while len(held) < number and (taken := frontier.take(time.time())):
                held.append(taken.url)
            return len(held) == number

        loop.run_until(has_taken)

    take(3)
    assert {link[-1] for link in held} == {"2"}
    with pytest.raises(AssertionError, match="did not happen"):
        loop.run_until(lambda: frontier.take(time.time()), seconds=0.5)
    frontier.set_floor(0.1)
    take(4)
    assert held[-1] == "http://low.test/"
    frontier.close()


def test_a_class_is_changed_without_waiting(server: RedisServer, loop: Loop) -> None:
    frontier = worker(server, loop, limit=1)
    frontier.put_many(CrawlUrl(f"http://{host}.test/", 1.0) for host in "abcd")
    taken: list[str] = []

    def take() -> bool:
        while one := frontier.take(time.time()):
            taken.append(one.url)
        return bool(taken)

    loop.run_until(take)
    with frontier.batch():
        assert frontier.set_precedence(taken[0], WASTE), "it is leased: that ends"
        assert frontier.set_precedence("http://d.test/", FIRST)
        assert frontier.set_precedence("http://unknown.test/", FIRST), "as far as it is known"
        frontier.set_host_precedence("b.test", OVER_BUDGET)
    assert (frontier.leases(), taken) == (0, ["http://a.test/"])
    assert crawl(frontier, loop) == [f"http://{host}.test/" for host in "dcba"]
    frontier.close()


def test_no_slot_waits_for_what_another_one_cannot_give(server: RedisServer, loop: Loop) -> None:
    """The best that is known of a slot may rest, or be held for days."""
    hosts: dict[int, list[str]] = {0: [], 1: []}
    for number in range(20):
        hosts[slot_of(f"h{number}.test", 2)].append(f"h{number}.test")
    (held, late, *_), (rests, *_) = hosts.values()
    rules = FrontierRules(min_delay=0.0, factor=0.0)
    frontier = join(connect(url=server.url), "crawl", "w", rules, clock=time.time, random=Random(1), slots=2)
    frontier.put_many([CrawlUrl(f"http://{rests}/{page}", 1.0) for page in range(2)])
    frontier.put(CrawlUrl(f"http://{held}/", 1.0, not_before=time.time() + 1e5, precedence=REVISITS))
    frontier.crawl_delay(rests, 1e5)
    frontier.done(frontier.take(time.time()).url, time.time(), 0.0)
    loop.start(frontier, 4)
    assert frontier.take(time.time()) is None
    loop.run_until(lambda: len(frontier) == 2)
    frontier.put(CrawlUrl(f"http://{late}/", 1.0, precedence=OVER_BUDGET))
    loop.run_until(lambda: frontier.take(time.time()))
    assert [lease.url for lease in frontier._held.values()] == [f"http://{late}/"]
    frontier.close()


def test_the_end_is_known_only_when_nobody_has_anything_left(server: RedisServer, loop: Loop) -> None:
    other = worker(server, None, "other")
    other.put_many(urls(1))
    held = other.take(time.time())
    assert held is not None
    frontier = worker(server, loop)
    woken = loop.woken
    assert frontier.take(time.time()) is None
    with pytest.raises(AssertionError, match="did not happen"):
        loop.run_until(lambda: not frontier.pending(), seconds=1.0)
    other.put(CrawlUrl("http://new.test/", 1.0))
    other.done(held.url, time.time(), 0.0)
    assert crawl(frontier, loop) == ["http://new.test/"]
    assert loop.woken > woken
    frontier.close()


def test_a_full_server_is_waited_for(server: RedisServer, loop: Loop, caplog: pytest.LogCaptureFixture) -> None:
    frontier = worker(server, loop)
    client = redis.Redis(port=server.port)
    client.config_set("maxmemory", client.info("memory")["used_memory"] // 2)
    with caplog.at_level(logging.WARNING):
        frontier.put_many(urls(100))
        frontier.take(time.time())
        loop.run_until(lambda: "maxmemory" in caplog.text)
        client.config_set("maxmemory", 0)
        assert sorted(crawl(frontier, loop)) == sorted(url.url for url in urls(100))
    assert "the crawl continues" in caplog.text
    frontier.close()


def test_what_the_server_turned_away_is_reported(server: RedisServer, loop: Loop) -> None:
    frontier = worker(server, loop, max_urls_per_host=1)
    heard: list[tuple[str, int]] = []
    frontier.when_rejected(lambda url, why: heard.append((url.url, why)))
    assert frontier.put(CrawlUrl("http://a.test/1", 1.0))
    assert frontier.put(CrawlUrl("http://a.test/2", 1.0)), "it is not known yet"
    loop.run_until(lambda: heard)
    assert heard == [("http://a.test/2", HOST_FULL)]
    assert "http://a.test/2" not in frontier
    frontier.close()


def test_what_another_worker_has_put_before_is_reported_once(server: RedisServer, loop: Loop) -> None:
    first, second = worker(server, loop), worker(server, loop, "second")
    heard: list[tuple[str, int]] = []
    second.when_rejected(lambda url, why: heard.append((url.url, why)))
    first.put(CrawlUrl("http://a.test/1", 1.0))
    loop.run_until(lambda: len(first) == 1)
    for name in ("1", "2", "1", "2"):
        second.put(CrawlUrl(f"http://a.test/{name}", 1.0))
    loop.run_until(lambda: len(second) == 2 and not second._answers.unanswered())
    assert heard == [("http://a.test/1", KNOWN)], "its own it knows"
    assert "http://a.test/1" in second
    first.close()
    second.close()


def test_a_server_that_refuses_ends_the_crawl_with_a_reason(server: RedisServer, loop: Loop) -> None:
    frontier = worker(server, loop)
    redis.Redis(port=server.port).set("topical:{0}:crawl:crawl:records", "of another program")
    frontier.put_many(urls(1))
    loop.run_until(lambda: loop.failures)
    assert "WRONGTYPE" in str(loop.failures[0])
    with pytest.raises(StorageFailed):
        frontier.close()


def test_a_worker_lets_a_url_wait_for_its_next_visit(server: RedisServer, loop: Loop) -> None:
    frontier = worker(server, loop)
    [record] = urls(1)
    frontier.put(record)
    taken: list[CrawlUrl] = []

    def take() -> bool:
        if one := frontier.take(time.time()):
            taken.append(one)
        return bool(taken)

    loop.run_until(take)
    with frontier.batch():
        frontier.done(record.url, time.time(), 0.0, 0.0, 7.0)
    taken.clear()
    loop.run_until(take)
    assert taken == [CrawlUrl(record.url, 7.0)]
    frontier.done(record.url, time.time(), 0.0, time.time() + 3600.0, 9.0)
    frontier.close()
    again = worker(server, None, "other")
    assert (len(again), again.best(), again.take(time.time())) == (1, 9.0, None)
    again.close()


def test_what_is_on_its_way_to_a_worker_keeps_its_lease(server: RedisServer, loop: Loop) -> None:
    """Else the server would give it away again, and a host would have two visitors."""
    frontier = worker(server, loop, limit=4)
    frontier.put_many(urls(4))
    loop.run_until(lambda: frontier._strict.leases() == 4 or frontier.take(0.0))
    loop.run_until(lambda: len(frontier._answers.arrived) + len(frontier._held) == 4)
    for url in urls(4):
        frontier.hold(url.url, 0.0)
        frontier.drop(url.url)
    taken = [url.url for url in frontier._held.values()]

    def step() -> bool:
        while url := frontier.take(time.time()):
            taken.append(url.url)
        return not frontier._answers.unanswered()

    loop.run_until(step)
    loop.run_until(step)
    assert sorted(taken) == [url.url for url in urls(4)]
    assert frontier._strict.leases() == 4
    frontier.close()


def test_who_leases_a_url_gets_what_is_attached_to_it(server: RedisServer, loop: Loop) -> None:
    told: list[bytes] = []
    first, second = worker(server, loop, "a"), worker(server, None, "b")
    second.when_published(told.extend)
    first.put_many(urls(3))
    for number, message in ((2.0, b"second"), (1.0, b"first"), (2.0, b"again")):
        first.attach(urls(3)[2].url, message, number)
    first.attach(urls(3)[1].url, b"for a while", 1.0)
    first.attach(urls(3)[1].url, b"", 2.0)
    first.close()
    assert list(second.attached()) == [b"second"]
    assert second.take(time.time()) == urls(3)[2] and told == [b"second"]
    assert second.take(time.time()) == urls(3)[1] and told == [b"second"]
    loop.start(second, 4)
    second.done(urls(3)[2].url, time.time(), 0.0, refetch_at=time.time() - 1.0, score=9.0)
    loop.run_until(lambda: any(url.score == 9.0 for url in second._held.values()) or (second.take(0.0) and False))
    assert told == [b"second"] * 2
    second.close()


@pytest.mark.parametrize("slots", [1, 3])
def test_workers_have_one_pace(server: RedisServer, slots: int) -> None:
    loops = [Loop(), Loop()]
    rules = FrontierRules(min_delay=0.0, factor=0.0)
    crew = [
        join(connect(url=server.url), "crawl", name, rules, clock=time.time, random=Random(1), slots=slots)
        for name in ("a", "b")
    ]
    crew[0].put_many(urls(400))
    for frontier, loop in zip(crew, loops, strict=True):
        frontier.set_pace(20.0)
        loop.start(frontier, 50)
    began, taken = time.time(), list[tuple[float, str]]()
    while time.time() < began + 3.0:
        for name, frontier, loop in zip("ab", crew, loops, strict=True):
            while url := frontier.take(time.time()):
                taken.append((time.time(), name))
                frontier.done(url.url, time.time(), 0.0)
            try:
                loop._calls.get(timeout=0.01)()
            except Empty:
                continue
    for frontier in crew:
        frontier.close()
    assert {name for _, name in taken} == {"a", "b"}
    assert 40 <= len(taken) <= 3.2 * 20 + BURST + 1
