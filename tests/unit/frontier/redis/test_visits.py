"""A host or address has one visitor at a time and rests afterwards, across all workers of all crawls."""

from __future__ import annotations

import time
from math import inf

import redis
from support.eventloop import Loop, crawl, take
from support.frontiersteps import url
from support.workers import Workers

from crawlproject.frontier.redis.crew import BURST, HostVisit
from crawlproject.frontier.redis.keys import CrawlKeys
from crawlproject.frontier.redis.worker import RedisWorker


def waits(loop: Loop, frontier: RedisWorker, seconds: float) -> None:
    """Assert that nothing can be taken for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert frontier.take(time.time()) is None
        loop.run_one()


def test_a_host_sees_one_visitor_of_all_crawls_and_rests(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name, min_delay=1.0)) for name in ("one", "two"))
    for frontier in (one, two):
        frontier.put(url("a/1"))
    held = take(one, loop)
    waits(loop, two, 0.5)
    ended = time.time()
    one.done(held.url, ended, 0.1)
    assert take(two, loop) == url("a/1")
    assert 1.0 <= time.time() - ended < 2.0


def test_an_address_sees_one_visitor_of_all_workers_and_crawls(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name, min_delay=0.5)) for name in ("one", "two"))
    for frontier in (one, two):
        for host in ("a.test", "b.test"):
            frontier.host_address(host, "192.0.2.1")
    one.put(url("a/1"))
    held = take(one, loop)
    two.put(url("b/1"))
    waits(loop, two, 0.5)
    ended = time.time()
    one.done(held.url, ended, 0.1)
    assert take(two, loop) == url("b/1")
    assert 0.5 <= time.time() - ended < 1.5


def test_a_visit_joins_the_address_that_becomes_known_meanwhile(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name)) for name in ("one", "two"))
    one.put(url("a/1"))
    held = take(one, loop)
    for frontier, host in ((one, "a.test"), (two, "b.test")):
        frontier.host_address(host, "192.0.2.1")
    loop.run_for(0.2)
    two.put(url("b/1"))
    waits(loop, two, 0.5)
    one.host_address("a.test", "192.0.2.9")
    assert take(two, loop) == url("b/1"), "a is elsewhere now"
    one.done(held.url, time.time(), 0.0)


def test_a_host_whose_fetch_was_cut_off_rests_before_others_come(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name, min_delay=1.0)) for name in ("one", "two"))
    for frontier in (one, two):
        frontier.put(url("a/1"))
    take(one, loop)
    ended = time.time()
    workers.end(one)
    loop.forget(one)
    assert take(two, loop) == url("a/1")
    assert time.time() - ended >= 1.0


def test_a_visit_that_is_refused_holds_no_part_of_it(workers: Workers, loop: Loop, database: redis.Redis) -> None:
    one, two = (loop.start(workers.join("w", crawl=name)) for name in ("one", "two"))
    two.host_address("b.test", "192.0.2.1")
    one.host_address("a.test", "192.0.2.1")
    one.put(url("a/1"))
    held = take(one, loop)
    two.put(url("b/1"))
    waits(loop, two, 0.3)
    loop.run_until(lambda: not database.exists("topical:clock:b.test"))
    one.done(held.url, time.time(), 0.0)
    assert take(two, loop)


def test_the_visitor_of_a_crawl_that_died_does_not_block_the_host_for_ever(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name, lease=1.0)) for name in ("one", "two"))
    one.put(url("a/1"))
    take(one, loop)
    two.put(url("a/1"))
    waits(loop, two, 0.5)
    assert take(two, loop) == url("a/1")


def test_a_visit_that_took_too_long_lets_the_host_rest_all_the_same(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    one, two = (loop.start(workers.join("w", crawl=name, lease=0.5, min_delay=1.0)) for name in ("one", "two"))
    one.put(url("a/1"))
    held = take(one, loop)
    loop.run_until(lambda: not database.exists("topical:clock:a.test"))
    ended = time.time()
    one.done(held.url, ended, 0.1)
    loop.run_until(lambda: database.get("topical:clock:a.test") == b"")
    two.put(url("a/1"))
    take(two, loop)
    assert time.time() - ended >= 1.0


def test_an_answer_that_comes_too_late_is_none(workers: Workers, loop: Loop) -> None:
    """By then the host may belong to another worker, which has fetched the URL."""
    one = loop.start(workers.join("w", lease=600.0))
    one.put(url("a/1"))
    asked = time.time()
    one.take(asked)
    loop.run_for(0.3)
    assert one.take(asked + 301) is None
    assert one.leases() == 0
    assert take(one, loop) == url("a/1")


def test_who_was_killed_visits_its_hosts_again_at_once(workers: Workers, loop: Loop) -> None:
    one = loop.start(workers.join("a"))
    one.put(url("a/1"))
    assert take(one, loop) == url("a/1")
    began = time.time()
    again = loop.start(workers.again(one, "a", loop))
    assert take(again, loop) == url("a/1")
    assert time.time() - began < 2.0


def test_what_was_visited_in_passing_rests_for_all(workers: Workers, loop: Loop) -> None:
    """For example the target of a redirect."""
    one, two = (loop.start(workers.join("w", crawl=name, min_delay=1.0)) for name in ("one", "two"))
    passed = time.time()
    one.done("http://a.test/target", passed, 0.0)
    loop.run_for(0.2)
    two.put(url("a/1"))
    assert take(two, loop) and time.time() - passed >= 1.0


def test_scripts_visit_hosts_in_their_turn(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name, min_delay=1.0)) for name in ("one", "two"))
    now = time.time()
    assert one.visit("a.test", now) == now
    assert one.visit("a.test", now) == two.visit("a.test", now) == inf
    one.put(url("a/1"))
    waits(loop, one, 0.4)
    ended = time.time()
    one.visited("a.test", ended, 0.0)
    loop.run_until(lambda: (opens := two.visit("a.test", time.time())) < inf and opens > ended + 0.9, 0.9)
    assert take(one, loop) == url("a/1")
    assert time.time() - ended >= 1.0


def test_a_script_whose_visit_has_no_answer_blocks_nobody(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name)) for name in ("one", "two"))
    begin = one._crew.begin

    def lose_the_answer(visit: HostVisit) -> float:
        assert not begin(visit)
        raise redis.exceptions.TimeoutError

    one._crew.begin = lose_the_answer  # type: ignore[method-assign]
    assert one.visit("a.test", time.time()) == inf
    two.put(url("a/1"))
    assert take(two, loop) == url("a/1")


def test_a_host_that_a_script_visits_at_the_end_rests_before_others_come(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name, min_delay=1.0)) for name in ("one", "two"))
    assert one.visit("a.test", time.time()) < inf
    ended = time.time()
    workers.end(one)
    two.put(url("a/1"))
    assert take(two, loop) == url("a/1")
    assert time.time() - ended >= 1.0


def test_a_rest_that_a_host_asks_for_is_known_to_all_crawls(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join("w", crawl=name)) for name in ("one", "two"))
    one.crawl_delay("a.test", 1.0)
    one.put(url("a/1"))
    held = take(one, loop)
    one.done(held.url, time.time(), 0.0)
    ended = time.time()
    two.put(url("a/1"))
    assert take(two, loop) and time.time() - ended >= 0.9


# ------------------------------------------------------------ what all workers together may do


def test_all_workers_have_one_pace(workers: Workers, loop: Loop) -> None:
    crew = {name: workers.join(name) for name in "ab"}
    for frontier in crew.values():
        loop.start(frontier, 50)
    loop.run_until(lambda: all(len(frontier.workers()) == 2 for frontier in crew.values()))
    for frontier in crew.values():
        frontier.set_pace(20.0)
    crew["a"].put_many(url(f"h{number}/") for number in range(400))
    began, taken = time.time(), list[str]()
    while time.time() < began + 3.0:
        for name, frontier in crew.items():
            while record := frontier.take(time.time()):
                taken.append(name)
                frontier.done(record.url, time.time(), 0.0)
        loop.run_one()
    assert set(taken) == {"a", "b"}
    assert 40 <= len(taken) <= 3.2 * 20 + BURST + 1


def test_the_pace_outlasts_a_clock_that_is_set_back(workers: Workers, loop: Loop, database: redis.Redis) -> None:
    one = loop.start(workers.join("a"))
    one.set_pace(10.0)
    database.set(CrawlKeys("crawl").pace[0], time.time() + 3600.0)
    one.put(url("a/1"))
    assert take(one, loop) == url("a/1")


def test_the_budget_of_pages_is_exact_for_all_workers(workers: Workers, loop: Loop) -> None:
    crew = [loop.start(workers.join(name, max_pages=30), 8) for name in "abc"]
    loop.run_until(lambda: all(len(frontier.workers()) == 3 for frontier in crew))
    crew[0].put_many(url(f"h{number}/") for number in range(200))
    open_leases: list[tuple[RedisWorker, str]] = []
    counted = 0

    def step() -> bool:
        nonlocal counted
        for frontier in crew:
            while record := frontier.take(time.time()):
                open_leases.append((frontier, record.url))
        for _ in range(min(2, len(open_leases))):
            frontier, key = open_leases.pop(0)
            if len(key) % 2:  # a page; else an error, which does not count
                frontier.count_page(key)
                counted += 1
            frontier.done(key, time.time(), 0.0)
        assert counted + len(open_leases) <= 30
        return counted == 30

    loop.run_until(step)
    loop.run_until(lambda: all(frontier.pages() == 30 for frontier in crew))
    loop.run_for(1.0)
    assert not any(frontier.take(time.time()) for frontier in crew)


def test_what_failed_fetches_of_a_worker_do_not_need_others_get(workers: Workers, loop: Loop) -> None:
    one, two = (loop.start(workers.join(name, max_pages=5)) for name in "ab")
    loop.run_until(lambda: len(one.workers()) == len(two.workers()) == 2)
    one.put_many(url(f"h{number}/") for number in range(200) if one.is_own(f"h{number}.test"))
    failed = [take(one, loop) for _ in range(4)]
    for record in list(one.waiting()):
        one.drop(record.key)
    for record in failed:
        one.done(record.key, time.time(), 0.0)
    two.put_many(url(f"h{number}/") for number in range(200) if two.is_own(f"h{number}.test"))
    for _ in range(5):
        record = take(two, loop)
        two.count_page(record.key)
        two.done(record.key, time.time(), 0.0)
    loop.run_until(lambda: one.pages() == 5)
    waits(loop, two, 1.5)


def test_pages_of_before_count(workers: Workers, loop: Loop) -> None:
    one = loop.start(workers.join("a", pages=9, max_pages=10))
    two = loop.start(workers.join("b", max_pages=10))
    loop.run_until(lambda: one.pages() == two.pages() == 9)
    two.put_many(url(f"h{number}/") for number in range(40))
    take(two, loop)  # the other worker has not asked for a URL yet
    waits(loop, two, 0.5)
    waits(loop, one, 0.5)


# ------------------------------------------------------------ messages


def test_published_messages_arrive_once_and_in_order(workers: Workers, loop: Loop, database: redis.Redis) -> None:
    heard: dict[str, list[bytes]] = {name: [] for name in "abc"}
    crew = {name: workers.join(name, messages=1000) for name in "abc"}
    crew["a"].publish("any", b"before", 1)
    for name, frontier in crew.items():
        frontier.when_published(heard[name].extend)
    crew["b"].catch_up()
    assert heard["b"] == [b"before"]
    for frontier in crew.values():
        loop.start(frontier)
    for number in (2, 3, 2, 1, 4):
        crew["a"].publish("any", b"%d" % number, number)
    crew["b"].publish("any", b"without a number")
    loop.run_until(lambda: all(len(messages) >= 4 for messages in (heard["b"], heard["c"])))
    loop.run_for(0.3)
    assert heard["b"] == [b"before", b"2", b"3", b"4"]
    assert [message for message in heard["c"] if message[0] < 65] == [b"2", b"3", b"4"]
    assert heard["a"] == [b"without a number"]
    assert workers.join("d", messages=1000).last_published() == 0
    assert database.hgetall("topical:{crawl}:published") == {b"a": b"4"}


def test_without_messages_nobody_is_told_anything(workers: Workers, loop: Loop, database: redis.Redis) -> None:
    one = loop.start(workers.join("a"))
    one.publish("any", b"message", 1)
    one.put(url("a/1"))
    crawl(one, loop)
    assert not one.shares and not database.exists("topical:{crawl}:messages")


def test_who_leases_a_url_gets_what_is_attached_to_it(workers: Workers, loop: Loop) -> None:
    told: list[bytes] = []
    first, second = (workers.join(name, messages=1000) for name in "ab")
    second.when_published(told.extend)
    loop.start(first)
    loop.start(second)
    loop.run_until(lambda: len(first.workers()) == len(second.workers()) == 2)
    [host] = [name for name in (f"h{n}" for n in range(50)) if second.is_own(f"{name}.test")][:1]
    records = [url(f"{host}/{page}", page, kind="revisit") for page in (3, 2, 1)]
    for number, message in ((2.0, b"second"), (1.0, b"first"), (2.0, b"again")):
        first.attach(records[0].key, message, number)
    first.attach(records[1].key, b"for a while", 1.0)
    first.attach(records[1].key, b"", 2.0)
    loop.run_for(0.3)
    assert list(second.attached()) == [b"second"]
    second.put_many(records)
    for expected in records:
        taken = take(second, loop)
        assert (taken.key, told) == (expected.key, [b"second"])
        second.done(taken.key, time.time(), 0.0)
