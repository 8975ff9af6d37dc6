"""One worker and its server, which fails, comes back, is full, refuses commands, or loses its data."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import redis
from support.eventloop import Loop, crawl, take
from support.frontiersteps import url
from support.redisserver import LASTING, PROGRAM, RedisServer, redis_server
from support.workers import Workers, own_frontier

from crawlproject.errors import ServerFailed, StorageFailed
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis import handover
from crawlproject.frontier.redis.keys import CrawlKeys
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.frontier.views.redis import RedisView
from crawlproject.parts.workers.shared_peers import SharedPeers
from crawlproject.records import ACTIVE, FIRST, OVER_BUDGET, WASTE, CrawlUrl
from crawlproject.urls.hosts import host_of

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path / "redis", *LASTING) as running:
        yield running


@pytest.fixture
def own(server: RedisServer, tmp_path: Path) -> Iterator[Workers]:
    """Workers with a separate server for this test."""
    made = Workers(server.url, tmp_path / "crawls")
    yield made
    made.close()


def urls(number: int) -> list[CrawlUrl]:
    return [url(f"h{page % 100}/{page}", float(page)) for page in range(number)]


def names(number: int) -> list[str]:
    return sorted(record.url for record in urls(number))


def test_a_worker_keeps_the_contract_of_shared_frontiers(workers: Workers) -> None:
    assert isinstance(workers.join("w"), SharedFrontier)


# ------------------------------------------------------------ taking


def test_no_more_is_taken_than_there_is_room_for(workers: Workers, loop: Loop, database: redis.Redis) -> None:
    frontier = loop.start(workers.join("w"), 3)
    frontier.put_many(urls(20))
    held = [take(frontier, loop).url for _ in range(3)]
    loop.run_for(0.5)
    assert frontier.take(time.time()) is None
    assert (frontier.leases(), frontier.next_due(time.time()), len(frontier)) == (3, None, 17)
    assert len(list(database.scan_iter(match="topical:clock:*"))) == 3
    assert all(frontier.leased(key) for key in held)
    workers.end(frontier)
    assert not list(database.scan_iter(match="topical:clock:*")), "nobody is there any more"


def test_the_floor_of_the_moment_is_that_of_the_next_take(workers: Workers, loop: Loop) -> None:
    frontier = loop.start(workers.join("w"))
    frontier.put_many(url(f"{host}/{page}", float(page)) for host in "abc" for page in (1, 2))
    frontier.put(url("low/", 0.5))
    frontier.set_floor(1.0)
    frontier.set_ceiling(ACTIVE)
    assert {take(frontier, loop).score for _ in range(3)} == {2.0}
    loop.run_for(0.3)
    assert frontier.take(time.time()) is None
    frontier.set_floor(0.1)
    assert take(frontier, loop).url == "http://low.test/"


def test_a_class_is_changed_without_waiting(workers: Workers, loop: Loop) -> None:
    frontier = loop.start(workers.join("w"), 1)
    frontier.put_many(url(f"{host}/", 1.0) for host in "abcd")
    taken = take(frontier, loop)
    assert frontier.set_precedence(taken.url, WASTE), "it is leased: that ends"
    assert frontier.set_precedence("http://d.test/", FIRST)
    frontier.set_host_precedence("b.test", OVER_BUDGET)
    assert frontier.leases() == 0
    assert crawl(frontier, loop) == [f"http://{host}.test/" for host in "dcba"]


def test_what_is_on_its_way_to_whoever_takes_keeps_its_lease(workers: Workers, loop: Loop) -> None:
    """The taker then asks whether it has to wait: otherwise a host would have two visitors."""
    frontier = loop.start(workers.join("w"))
    frontier.put_many(urls(4))
    assert frontier.take(time.time()) is None, "asked for"
    for key in names(4):
        assert frontier.hold(key, time.time() + 60.0)
        assert frontier.set_precedence(key, WASTE)
    loop.run_for(0.3)
    assert [frontier.hold(key, time.time() + 60.0) for key in names(4)] == [True] * 4
    assert sorted(take(frontier, loop).url for _ in range(4)) == names(4)


def test_a_lease_that_ends_without_a_visit_leaves_no_rest(workers: Workers, loop: Loop) -> None:
    frontier = loop.start(workers.join("w", min_delay=60.0))
    frontier.put_many(url(f"a/{page}", page) for page in range(4))
    frontier.drop(take(frontier, loop).url)
    taken = take(frontier, loop)
    assert frontier.hold(taken.url, time.time() + 60.0)
    assert take(frontier, loop).url == "http://a.test/1"


def test_a_url_waits_for_its_next_visit(workers: Workers, loop: Loop) -> None:
    frontier = loop.start(workers.join("w"))
    frontier.put(url("a/1"))
    taken = take(frontier, loop)
    frontier.done(taken.url, time.time(), 0.0, 0.0, 7.0)
    assert take(frontier, loop) == url("a/1", 7.0)
    frontier.done(taken.url, time.time(), 0.0, time.time() + 3600.0, 9.0)
    workers.end(frontier)
    again = workers.join("w")
    assert (len(again), again.best(), again.take(time.time())) == (1, 9.0, None)


def test_what_was_not_fetched_waits_when_the_worker_is_back(workers: Workers, loop: Loop) -> None:
    frontier = loop.start(workers.join("w"))
    frontier.put_many(urls(10))
    for _ in range(3):
        take(frontier, loop)
    workers.end(frontier)
    again = loop.start(workers.join("w"))
    assert not again.was_forgotten
    assert sorted(crawl(again, loop)) == names(10)


# ------------------------------------------------------------ the server


def test_nothing_waits_for_the_server(own: Workers, server: RedisServer, loop: Loop) -> None:
    """While the server is down, every call still returns; once it is back, all work gets done."""
    frontier = loop.start(own.join("w"))
    server.kill()
    began = time.perf_counter()
    frontier.put_many(urls(50))
    assert frontier.take(time.time()) is None
    frontier.crawl_delay("h1.test", 0.0)
    frontier.publish("any", b"message", 1)
    assert frontier.pending()
    assert time.perf_counter() - began < 5.0, "the time-out of the connection is longer"
    server.start()
    assert sorted(crawl(frontier, loop)) == names(50)


def test_a_worker_that_ends_before_it_has_started_closes_its_files_though_the_server_is_away(
    own: Workers, server: RedisServer, tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    frontier = own._join("a", own_frontier(folder), folder)
    frontier.put(url("h1/1"))
    assert frontier.take(time.time()) and (folder / "lines").exists()
    server.kill()
    with pytest.raises(ServerFailed):
        own.end(frontier)
    assert not (folder / "lines").exists(), "it exists while a frontier is open"


def test_letters_wait_for_a_server_that_is_away(own: Workers, server: RedisServer, loop: Loop) -> None:
    a, b = (loop.start(own.join(name)) for name in "ab")
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    server.kill()
    a.put_many(urls(200))
    loop.run_for(0.5)
    again = loop.start(own.again(a, "a", loop, meanwhile=server.start))
    assert sorted(crawl([again, b], loop)) == names(200)


def three(workers: Workers, loop: Loop) -> tuple[RedisWorker, RedisWorker, RedisWorker, list[CrawlUrl]]:
    """Three workers, and URLs of hosts that belong to the third."""
    a, b, c = (loop.start(workers.join(name)) for name in "abc")
    loop.run_until(lambda: all(len(member.workers()) == 3 for member in (a, b, c)))
    return a, b, c, [record for record in urls(60) if c.is_own(host_of(record.url))]


def lose(worker: str, client: redis.Redis) -> None:
    """Make a worker appear silent for too long."""
    keys = CrawlKeys("crawl")
    client.hdel(keys.members, worker)
    client.zrem(keys.alive, worker)
    client.incr(keys.epoch)


def test_letters_from_before_a_kill_go_to_the_heir_of_a_worker_that_was_lost_meanwhile(
    own: Workers, server: RedisServer, loop: Loop
) -> None:
    a, b, c, records = three(own, loop)
    server.kill()
    a.put_many(records)
    own.cut(c, loop)

    def meanwhile() -> None:
        server.start()
        lose("c", redis.Redis(port=server.port))

    again = loop.start(own.again(a, "a", loop, meanwhile=meanwhile))
    assert sorted(crawl([again, b], loop)) == sorted(record.url for record in records)


def test_what_a_worker_was_sent_after_its_death_is_read_by_its_heirs(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b, c, records = three(workers, loop)
    workers.cut(c, loop)
    for record in records:  # more than one read returns
        for page in range(40):
            a.put(replace(record, url=f"{record.url}/{page}"))
            loop.run_for(0.0)
    loop.run_until(lambda: not a._outbox)
    lose("c", database)
    assert len(crawl([a, b], loop)) == 40 * len(records)
    assert database.xlen(CrawlKeys("crawl").inbox("c")), "it may come back"


@pytest.mark.parametrize("is_read_before", [False, True])
def test_what_a_lost_worker_was_told_of_a_url_does_not_undo_what_its_heir_was_told_since(
    workers: Workers, loop: Loop, database: redis.Redis, is_read_before: bool
) -> None:
    """Its inbox is read when it is lost, and again after each change of members."""
    a, b, c, records = three(workers, loop)
    workers.cut(c, loop)
    names, until = ("scored", "held", "classed"), time.time() + 3600.0
    hosts = sorted({host_of(record.url).removesuffix(".test") for record in records})
    a.put_many(url(f"{host}/{name}", 0.5) for host in hosts for name in names)
    for host in hosts:
        a.rescore(url(f"{host}/scored").url, 0.1)
        a.hold(url(f"{host}/held").url, until)
        a.set_precedence(url(f"{host}/classed").url, WASTE)
    loop.run_until(lambda: not a._outbox)
    lose("c", database)
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    host = next(host for host in hosts if b.is_own(f"{host}.test"))
    scored, held, classed = (url(f"{host}/{name}", 0.5) for name in names)
    if is_read_before:
        loop.run_until(lambda: (found := b._own.record(classed.url)) and found.precedence == WASTE)
        was = [b._own.record(each.url) for each in (scored, held, classed)]
        assert was == [replace(scored, score=0.1), replace(held, not_before=pytest.approx(until, abs=1.0)), was[2]]
    a.put_many((scored, held, classed))
    a.rescore(scored.url, 0.9)
    a.hold(held.url, 0.0)
    a.set_precedence(classed.url, ACTIVE)
    if is_read_before:
        loop.run_until(lambda: (found := b._own.record(classed.url)) and found.precedence == ACTIVE)
        late = loop.start(workers.join("late"))
        loop.run_until(lambda: len(b.workers()) == len(late.workers()) == 3)
    loop.run_for(1.0)
    owner = b if b.is_own(f"{host}.test") else late
    assert [owner._own.record(each.url) for each in (scored, held, classed)] == [
        replace(scored, score=0.9),
        held,
        classed,
    ]


def test_an_heir_whose_server_fails_for_a_moment_is_not_over_before_it_has_inherited(
    workers: Workers, loop: Loop, database: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = (loop.start(workers.join(name, messages=100)) for name in "ab")
    a.when_published(lambda messages: None)
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    peers, asked = SharedPeers("a", a, Path("a")), list[int]()
    seed = next(record.url for record in urls(60) if b.is_own(host_of(record.url)))
    peers._services = cast(
        Any,
        SimpleNamespace(
            topic=SimpleNamespace(seeds=[seed]),
            admission=SimpleNamespace(seed_record=lambda url: CrawlUrl(url, 1.0), offer=a.put),
            parts=[],
            folder=SimpleNamespace(history=()),
        ),
    )

    def away() -> None:
        asked.append(1)
        raise ServerFailed("Redis refused: timed out")

    monkeypatch.setattr(a, "kept_messages", away)
    workers.cut(b, loop)
    lose("b", database)
    loop.run_until(lambda: a.workers() == ["a"])
    peers.pass_time(100.0)
    assert asked
    loop.run_for(1.0)
    assert peers.pending(a), "there is more to come"
    peers.pass_time(102.0)
    assert len(asked) == 2
    monkeypatch.setattr(a, "kept_messages", lambda: iter(()))
    peers.pass_time(104.0)
    assert crawl(a, loop) == [seed]
    assert not peers.pending(a)


def test_an_heir_that_is_killed_before_it_has_inherited_inherits_when_it_goes_on(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b, c, records = three(workers, loop)
    workers.cut(c, loop)
    lose("c", database)
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    loop.run_for(0.5)
    host = next(host for record in records if a.is_own(host := host_of(record.url)))
    again = loop.start(workers.again(a, "a", loop))
    loop.run_until(lambda: len(again.workers()) == 2)
    gained = again.inherited()
    assert gained is not None and gained(host)
    b.put_many(records)
    crawl([again, b], loop)
    later = loop.start(workers.again(again, "a", loop))
    loop.run_until(lambda: len(later.workers()) == 2)
    assert later.inherited() is None, "that was done"


def test_a_new_heir_that_is_killed_before_it_has_inherited_inherits_when_it_goes_on(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b, c, _ = three(workers, loop)
    for member in (b, c):
        workers.cut(member, loop)
        lose(member._name, database)
    loop.run_until(lambda: len(a.workers()) == 1)
    assert a.inherited() is not None
    late = loop.start(workers.join("late"))
    loop.run_until(lambda: not late._handover.is_open)
    loop.run_for(0.5)
    again = loop.start(workers.again(late, "late", loop))
    loop.run_until(lambda: not again._handover.is_open)
    assert again.inherited() is not None
    loop.run_for(0.5)
    later = loop.start(workers.again(again, "late", loop))
    loop.run_until(lambda: not later._handover.is_open)
    assert later.inherited() is None, "that was done"


def test_a_worker_that_comes_later_reads_what_one_lost_before_was_sent(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b, c, records = three(workers, loop)
    for member in (b, c):
        workers.cut(member, loop)
    a.put_many(records)
    loop.run_until(lambda: not a._outbox)
    workers.end(a)
    lose("c", database)
    lose("b", database)
    late = loop.start(workers.join("late"))
    again = loop.start(workers.join("a"))
    assert sorted(crawl([late, again], loop)) == sorted(record.url for record in records)


@pytest.mark.parametrize(("anew", "other"), ["ab", "ba"])
def test_a_worker_that_has_lost_its_folder_ends_with_the_others(
    workers: Workers, loop: Loop, database: redis.Redis, tmp_path: Path, anew: str, other: str
) -> None:
    a, b, c, records = three(workers, loop)
    workers.cut(c, loop)
    lose("c", database)
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    crawl([a, b], loop)
    members = {"a": a, "b": b}
    workers.cut(members[anew], loop)
    again = loop.start(workers._join(anew, own_frontier(tmp_path / "anew"), tmp_path / "anew"))
    again.put_many(records)
    fetched = crawl([again, members[other]], loop)
    assert {*fetched} == {record.url for record in records}


def test_letters_that_leave_as_their_receiver_is_lost_go_to_its_heir(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b, c, records = three(workers, loop)
    workers.cut(c, loop)
    with a._exchange:  # no step of the exchange begins
        a.put_many(records)
        lose("c", database)
        a._exchange._next_beat = 0.0
    assert sorted(crawl([a, b], loop)) == sorted(record.url for record in records)


def test_what_a_lost_worker_was_sent_is_sent_to_its_heir_when_it_is_found_again(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b, c, records = three(workers, loop)
    a.put_many(records)
    loop.run_until(lambda: len(c._own) == len(records))
    workers.cut(c, loop)
    lose("c", database)
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    a.put_many(records)
    assert sorted(crawl([a, b], loop)) == sorted(record.url for record in records)


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_page_whose_letters_the_disk_refuses_is_not_done_after_a_kill(
    own: Workers, server: RedisServer, loop: Loop, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    a, b = (loop.start(own.join(name)) for name in "ab")
    loop.run_until(lambda: len(a.workers()) == len(b.workers()) == 2)
    ours = [record for record in urls(20) if a.is_own(host_of(record.url))][:2]
    theirs = [record for record in urls(60) if b.is_own(host_of(record.url))]
    a.put(ours[0])
    taken = take(a, loop)
    server.kill()
    write, outbox = os.pwrite, a._outbox._log
    assert outbox is not None
    with monkeypatch.context() as patched:
        patched.setattr("os.pwrite", lambda file, *what: 0 if file == outbox._file else write(file, *what))
        with pytest.raises(StorageFailed, match="outbox"), a.batch():
            a.put_many(theirs)
            a.done(taken.url, time.time(), 0.0)
        with pytest.raises(StorageFailed, match="outbox"):
            a.put(ours[1])
    if not is_killed:
        a.put(ours[1])  # there is room again
    again = loop.start(own.again(a, "a", loop, meanwhile=server.start))
    fetched = crawl([again, b], loop, lambda key: theirs if key == taken.url else ())
    expected = [*theirs, taken] if is_killed else [*theirs, ours[1]]
    assert sorted(fetched) == sorted(record.url for record in expected)


def test_a_full_server_is_waited_for(
    own: Workers, server: RedisServer, loop: Loop, caplog: pytest.LogCaptureFixture
) -> None:
    frontier = loop.start(own.join("w"))
    client = redis.Redis(port=server.port)
    client.config_set("maxmemory", client.info("memory")["used_memory"] // 2)
    with caplog.at_level(logging.WARNING):
        frontier.put_many(urls(100))
        frontier.take(time.time())
        loop.run_until(lambda: "maxmemory" in caplog.text)
        client.config_set("maxmemory", 0)
        assert sorted(crawl(frontier, loop)) == names(100)
    assert "the crawl continues" in caplog.text


def test_letters_that_fill_a_server_are_read(own: Workers, server: RedisServer, loop: Loop) -> None:
    a, b = loop.start(own.join("a")), own.join("b")
    loop.run_until(lambda: len(a.workers()) == 2)
    a.put_many(urls(200))
    client, inbox = redis.Redis(port=server.port), CrawlKeys("crawl").inbox("b")
    loop.run_until(lambda: client.xlen(inbox))
    loop.run_for(0.5)
    client.config_set("maxmemory", client.info("memory")["used_memory"] // 2)
    loop.start(b)
    loop.run_until(lambda: client.xlen(inbox) == 0)
    assert {record.url for member in (a, b) for record in member.waiting()} == set(names(200))
    client.config_set("maxmemory", 0)
    assert sorted(crawl([a, b], loop)) == names(200)


def test_a_handover_waits_for_a_server_that_is_away(
    own: Workers, server: RedisServer, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all letters of the handover would be in memory."""
    monkeypatch.setattr(handover, "AT_ONCE", 10)
    a = loop.start(own.join("a"))
    a.put_many(urls(800))
    b = loop.start(own.join("b"))
    loop.run_until(lambda: len(a.workers()) == 2)
    server.kill()
    loop.run_for(1.0)
    assert any(not a.is_own(queue_of(record.url)) for record in a.waiting())
    server.start()
    assert sorted(crawl([a, b], loop)) == names(800)


def test_a_server_that_refuses_ends_the_crawl_with_a_reason(
    workers: Workers, database: redis.Redis, loop: Loop
) -> None:
    loop.start(workers.join("w"))
    database.set("topical:{crawl/w}:inbox", "of another program")
    loop.run_until(lambda: loop.failures)
    assert "WRONGTYPE" in str(loop.failures[0])


def test_a_server_that_lost_the_crawl_ends_the_worker(workers: Workers, database: redis.Redis, loop: Loop) -> None:
    frontier = loop.start(workers.join("w"))
    frontier.put_many(urls(3))
    database.flushdb()
    loop.run_until(lambda: loop.failures)
    assert "appendonly" in str(loop.failures[0])
    workers.close()
    again = loop.start(workers.join("w"))
    assert again.was_forgotten and sorted(crawl(again, loop)) == names(3), "its own URLs it has on disk"


def test_another_process_under_the_same_name_takes_over(workers: Workers, loop: Loop, tmp_path: Path) -> None:
    loop.start(workers.join("same"))
    Workers(workers.url).join("same")
    loop.run_until(lambda: loop.failures)
    assert "CRAWL_WORKER" in str(loop.failures[0])


def test_whoever_looks_into_the_server_sees_numbers_and_no_urls(
    workers: Workers, database: redis.Redis, loop: Loop
) -> None:
    frontier = loop.start(workers.join("w", min_delay=60.0), 1)
    frontier.put_many(urls(7))
    taken = take(frontier, loop)
    frontier.count_page(taken.url)
    frontier.done(taken.url, time.time(), 0.0)
    view = RedisView(database, "crawl")
    loop.run_until(lambda: view.counts()[:3] == (6, 0, 1))
    assert view.exists() and view.workers() == ["w"]
    assert list(view.rests()) == ["h6.test"]
    for ask in (view.waiting, view.leased, lambda: view.find(taken.url)):
        with pytest.raises(ValueError, match="folders of its workers"):
            ask()
    workers.end(frontier)
    assert view.workers() == []
    view.clear()
    assert not view.exists()
    assert [key for key in database.scan_iter() if b"clock" not in key] == []
