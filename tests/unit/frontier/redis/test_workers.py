"""Several workers of one crawl: any worker may find a URL, but the owner of its host fetches it, once."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from random import Random
from threading import Event

import pytest
import redis
from support.eventloop import Loop, crawl, take
from support.frontiersteps import url
from support.workers import Workers, own_frontier

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.disk.url_records import RECORDS
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.crew import Answer, Step
from crawlproject.frontier.redis.keys import CrawlKeys
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import DONE, FULL, GONE, HOST_FULL, KNOWN
from crawlproject.frontier.views.redis import RedisView
from crawlproject.records import ACTIVE, FIRST, WASTE, CrawlUrl

Links = Callable[[str], Iterable[CrawlUrl]]


def meet(loop: Loop, *members: RedisWorker) -> None:
    """Run the loop until all members know each other."""
    loop.run_until(lambda: all(len(member.workers()) == len(members) for member in members))
    loop.run_for(0.2)


def hosts_of(member: RedisWorker, number: int = 3) -> list[str]:
    """Some hosts that belong to the worker, without ``.test``."""
    return [name for name in (f"h{n}" for n in range(200)) if member.is_own(f"{name}.test")][:number]


def pair(workers: Workers, loop: Loop, **options: int) -> tuple[RedisWorker, RedisWorker]:
    a, b = (loop.start(workers.join(name, **options)) for name in "ab")
    meet(loop, a, b)
    return a, b


def random_web(seed: int, hosts: int = 15, pages: int = 8) -> dict[str, list[CrawlUrl]]:
    """The links of each page; ``http://h0.test/0`` leads to all."""
    random = Random(seed)
    names = [f"h{host}/{page}" for page in range(pages) for host in range(hosts)]
    web: dict[str, list[CrawlUrl]] = {url(name).url: [] for name in names}
    for place, name in enumerate(names[1:], start=1):
        for finder in {random.randrange(place), *random.choices(range(len(names)), k=2)}:
            web[url(names[finder]).url].append(url(name, round(random.random(), 1)))
    return web


# ------------------------------------------------------------ one crawl


@pytest.mark.parametrize("seed", range(6))
def test_each_url_is_fetched_once_by_its_owner_whoever_found_it(workers: Workers, loop: Loop, seed: int) -> None:
    web = random_web(seed)
    crew = {name: loop.start(workers.join(name), 3) for name in "abc"}
    for member in crew.values():
        member.put(url("h0/0"))
    fetched = crawl(crew.values(), loop, web.__getitem__)
    assert Counter(fetched) == dict.fromkeys(web, 1)
    assert not loop.failures
    assert all(len(member) == member.leases() == 0 and not member.pending() for member in crew.values())


@pytest.mark.parametrize("seed", range(6))
def test_kills_lose_nothing_and_repeat_what_was_being_fetched(workers: Workers, loop: Loop, seed: int) -> None:
    random, web, fetched = Random(seed), random_web(seed), list[str]()
    crew = {name: loop.start(workers.join(name), 3) for name in "abc"}
    crew["a"].put(url("h0/0"))
    held: list[tuple[str, CrawlUrl]] = []
    kills, lost = 6, 0

    def step() -> bool:
        nonlocal kills, lost
        for name, member in crew.items():
            if taken := member.take(time.time()):
                fetched.append(taken.url)
                held.append((name, taken))
        while held and random.random() < 0.6:
            name, done = held.pop(random.randrange(len(held)))
            with crew[name].batch():
                crew[name].put_many(web[done.url])
                crew[name].done(done.url, time.time(), 0.0)
        if kills and random.random() < 0.1:
            kills, name = kills - 1, random.choice("abc")
            lost += sum(who == name for who, _ in held)
            held[:] = [(who, one) for who, one in held if who != name]
            crew[name] = loop.start(workers.again(crew[name], name, loop), 3)
        return not held and not any(member.pending() for member in crew.values())

    loop.run_until(step, 50.0)
    assert set(fetched) == set(web)
    assert len(fetched) - len(web) <= lost
    assert not loop.failures


def test_a_kill_between_outbox_and_frontier_loses_nothing(workers: Workers, loop: Loop) -> None:
    """The letters of a step are on disk before the frontier commits the step."""
    a, b = pair(workers, loop)
    ours, [theirs, *_] = hosts_of(a), hosts_of(b)
    a.put(url(f"{ours[0]}/1"))
    taken = take(a, loop)
    killed: list[RedisWorker] = []
    before = a._own._store.commit  # type: ignore[attr-defined]

    def commit() -> None:
        if not killed:
            killed.append(workers.again(a, "a", loop))
        before()

    a._own._store.commit = commit  # type: ignore[attr-defined]
    with a.batch():
        a.put_many([url(f"{theirs}/1"), url(f"{ours[1]}/1")])
        a.done(taken.url, time.time(), 0.0)
    again = loop.start(killed[0])
    assert sorted(crawl([again, b], loop)) == sorted(url(f"{host}/1").url for host in (ours[0], theirs))
    again.put_many([url(f"{theirs}/1"), url(f"{ours[1]}/1")])
    assert crawl([again, b], loop) == [url(f"{ours[1]}/1").url], "fetched again, its page leads there again"


def test_who_joins_in_the_middle_takes_over_a_share_with_what_is_done(workers: Workers, loop: Loop) -> None:
    first = loop.start(workers.join("a"), 5)
    records = [url(f"h{host}/{page}") for host in range(30) for page in range(6)]
    first.put_many(records)
    fetched: list[str] = []

    def step() -> bool:
        while taken := first.take(time.time()):
            fetched.append(taken.url)
            first.done(taken.url, time.time(), 0.0)
        return len(fetched) > 60

    loop.run_until(step)
    late = loop.start(workers.join("late"), 5)
    assert late.take(time.time()) is None, "the other one has not handed over yet"
    loop.run_until(lambda: len(first.workers()) == 2)
    crew = {"a": first, "late": late}
    by: dict[str, str] = {}

    def together() -> bool:
        for name, member in crew.items():
            while taken := member.take(time.time()):
                by[taken.url] = name
                fetched.append(taken.url)
                member.done(taken.url, time.time(), 0.0)
        return not any(member.pending() for member in crew.values())

    loop.run_until(together)
    assert Counter(fetched) == dict.fromkeys((record.url for record in records), 1)
    assert set(by.values()) == {"a", "late"}
    for record in records:
        late.put(record)
        first.put(record)
    assert crawl([first, late], loop) == [], "what was done before is known"


def test_a_url_that_is_being_fetched_while_its_host_moves_is_fetched_once(workers: Workers, loop: Loop) -> None:
    first = loop.start(workers.join("a"), 40)
    first.put_many(url(f"h{host}/1") for host in range(40))
    held = [take(first, loop) for _ in range(40)]
    late = loop.start(workers.join("late"))
    meet(loop, first, late)
    for record in held:
        first.done(record.url, time.time(), 0.0)
    late.put_many(held)
    assert crawl([first, late], loop) == []
    assert any(late.is_own(queue_of(record.url)) for record in held)


def test_a_url_that_was_fetched_while_its_host_moved_counts_before_its_links(workers: Workers, loop: Loop) -> None:
    first = loop.start(workers.join("a", max_urls_per_host=5), 40)
    first.put_many(url(f"h{host}/1") for host in range(40))
    held = [take(first, loop) for _ in range(40)]
    late = loop.start(workers.join("late", max_urls_per_host=5))
    meet(loop, first, late)
    for record in held:
        with first.batch():
            first.put_many(url(f"{queue_of(record.url).removesuffix('.test')}/{number}") for number in range(2, 12))
            first.done(record.url, time.time(), 0.0)
    fetched = Counter(queue_of(key) for key in crawl([first, late], loop))
    moved = {queue_of(record.url) for record in held if late.is_own(queue_of(record.url))}
    assert moved and {host: fetched[host] for host in moved} == dict.fromkeys(moved, 4)


def test_workers_come_back_to_a_server_that_lost_the_crawl_with_one_more(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    """The server counts the changes of membership from 1 again."""
    database.set(CrawlKeys("crawl").epoch, 8)
    a, _ = pair(workers, loop)
    a.put_many(url(f"h{number}/1") for number in range(30))
    loop.run_for(0.3)
    database.flushdb()
    loop.run_until(lambda: len(loop.failures) == 2)
    workers.close()
    again = Loop()
    a = again.start(workers.join("a"))
    again.run_for(0.5)
    assert sorted(a.workers()) == ["a", "b"], "the other one may come back"
    b, c = (again.start(workers.join(name)) for name in "bc")
    meet(again, a, b, c)
    a.put_many(url(f"h{number}/2") for number in range(30))
    expected = [url(f"h{number}/{page}").url for number in range(30) for page in (1, 2)]
    assert sorted(crawl([a, b, c], again)) == sorted(expected)


# ------------------------------------------------------------ answers


def answers(member: RedisWorker) -> list[tuple[str, int]]:
    heard: list[tuple[str, int]] = []
    member.when_rejected(lambda record, why: heard.append((record.url, why)))
    return heard


def test_what_an_owner_does_not_take_is_reported(workers: Workers, loop: Loop) -> None:
    a, b = (loop.start(workers.join(name, max_urls_per_host=2)) for name in "ab")
    meet(loop, a, b)
    heard, [host, other, *_] = answers(a), hosts_of(b)
    b.put_many([url(f"{host}/1", 0.5), url(f"{other}/1", 0.5)])
    assert all(a.put(url(f"{host}/{page}", 0.5)) for page in (1, 2, 3)), "it is new here"
    loop.run_until(lambda: len(heard) == 2)
    assert sorted(heard) == [(url(f"{host}/1").url, KNOWN), (url(f"{host}/3").url, HOST_FULL)]
    assert [url(f"{host}/{page}").url in a for page in (1, 2, 3)] == [True, True, False]
    assert sorted(crawl([a, b], loop)) == [url(f"{host}/1").url, url(f"{host}/2").url, url(f"{other}/1").url]
    heard.clear()
    assert a.put(url(f"{other}/1"))
    loop.run_until(lambda: heard)
    assert heard == [(url(f"{other}/1").url, DONE)]


def test_a_worker_is_told_once_that_a_url_which_it_found_first_is_known(workers: Workers, loop: Loop) -> None:
    a, b = pair(workers, loop)
    heard, [host, *_] = answers(a), hosts_of(b)
    for score in (0.1, 0.5, 0.3, 0.9):
        a.put(url(f"{host}/1", score))
    loop.run_until(lambda: b.best() == 0.9)
    loop.run_for(0.3)
    assert (heard, len(b)) == ([], 1), "its own it knows"
    own = answers(b)
    assert not b.put(url(f"{host}/1", 0.2))
    assert own == [(url(f"{host}/1").url, KNOWN)], "another worker has found it before"


def test_a_full_owner_says_so(workers: Workers, loop: Loop) -> None:
    a = loop.start(workers.join("a"))
    b = loop.start(workers.join("b", own_frontier(max_urls=2)))
    meet(loop, a, b)
    heard, [host, *_] = answers(a), hosts_of(b)
    b.put_many([url(f"{host}/1", 0.9), url(f"{host}/2", 0.8)])
    a.put(url(f"{host}/3", 0.1))
    loop.run_until(lambda: heard)
    assert heard == [(url(f"{host}/3").url, FULL)] and url(f"{host}/3").url not in a


# ------------------------------------------------------------ a disk that fails


def test_letters_that_a_full_disk_has_not_taken_are_read_by_the_next_process(
    workers: Workers, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair(workers, loop)
    records = [url(f"{host}/1") for host in hosts_of(b, 20)]
    put, calls = b._own.put, count()

    def put_unless_full(record: CrawlUrl) -> bool:
        if next(calls) == 4:
            raise StorageFailed("No space left on device")
        return put(record)

    monkeypatch.setattr(b._own, "put", put_unless_full)
    a.put_many(records[:10])
    loop.run_until(lambda: loop.failures)
    a.put_many(records[10:])  # there is room again, while the crawl ends
    loop.run_for(1.0)
    again = loop.start(workers.again(b, "b", loop))
    assert set(crawl([a, again], loop)) == {record.url for record in records}


# ------------------------------------------------------------ damage


def damage(workers: Workers, member: RedisWorker, folder: Path) -> None:
    """End the worker, and overwrite some of the records of its URLs."""
    workers.end(member)
    path = folder / RECORDS
    content = bytearray(path.read_bytes())
    middle = slice(len(content) // 2, len(content) // 2 + 64)
    content[middle] = bytes(64)
    path.write_bytes(content)


def test_damage_that_a_handover_meets_ends_the_crawl_with_a_reason(
    workers: Workers, loop: Loop, tmp_path: Path
) -> None:
    a = loop.start(workers.join("a"))
    a.put_many(url(f"h{host}/{page}") for host in range(100) for page in range(40))
    damage(workers, a, tmp_path / "crawl" / "a")
    loop.start(workers.join("a"))
    loop.start(workers.join("b"))
    loop.run_until(lambda: loop.failures)
    assert isinstance(loop.failures[0], BadCrawlDir)


def test_damage_that_a_letter_meets_is_not_blamed_on_its_sender(
    workers: Workers, loop: Loop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    a, b = pair(workers, loop)
    paths = [f"{host}/{page}" for host in hosts_of(a, 50) for page in range(40)]
    a.put_many(map(url, paths))
    damage(workers, a, tmp_path / "crawl" / "a")
    a = loop.start(workers.join("a"))
    b.put_many(url(path, 9.0) for path in paths)
    loop.run_until(lambda: loop.failures)
    assert isinstance(loop.failures[0], BadCrawlDir)
    assert "one version" not in caplog.text


# ------------------------------------------------------------ what is said of others' URLs


def test_scores_classes_holds_and_drops_reach_the_owner(workers: Workers, loop: Loop) -> None:
    a, b = pair(workers, loop)
    heard, hosts = answers(a), hosts_of(b, 5)
    paths = [f"{host}/1" for host in hosts]
    b.put_many(url(path, 0.5) for path in paths)
    assert a.rescore(url(paths[4]).url, 0.9)
    assert a.set_precedence(url(paths[3]).url, FIRST)
    assert a.set_precedence(url(paths[2]).url, WASTE)
    assert a.hold(url(paths[1]).url, time.time() + 1.0)
    a.drop(url(paths[0]).url)
    assert a.rescore(url(f"{hosts[0]}/no").url, 0.1)
    loop.run_until(lambda: heard)
    began = time.time()
    assert heard == [(url(f"{hosts[0]}/no").url, GONE)]
    assert crawl([a, b], loop) == [url(paths[place]).url for place in (3, 4, 2, 1)]
    assert time.time() - began > 0.5, "it was held"
    assert b.state_of(url(paths[0]).url) == "done"


def test_what_is_said_of_a_url_that_is_being_fetched_changes_nothing(workers: Workers, loop: Loop) -> None:
    a, b = pair(workers, loop)
    [host, *_] = hosts_of(b)
    b.put(url(f"{host}/1", 0.5))
    taken = take(b, loop)
    a.drop(taken.url)
    a.hold(taken.url, time.time() + 9.0)
    a.rescore(taken.url, 0.1)
    loop.run_for(0.5)
    assert b.leased(taken.url) == taken
    b.done(taken.url, time.time(), 0.0)
    assert not crawl([a, b], loop)


def test_a_url_that_was_fetched_in_passing_is_done_for_its_owner(workers: Workers, loop: Loop) -> None:
    """For example the target of a redirect."""
    a, b = pair(workers, loop)
    [host, *_] = hosts_of(b)
    b.put(url(f"{host}/1"))
    loop.run_until(lambda: len(b) == 1)
    a.done(url(f"{host}/1").url, time.time(), 0.0)
    loop.run_until(lambda: b.state_of(url(f"{host}/1").url) == "done")
    assert not crawl([a, b], loop)


def test_a_letter_that_nobody_can_read_is_told_once_and_takes_no_other_along(
    workers: Workers, loop: Loop, database: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    _, b = pair(workers, loop)
    path = f"{hosts_of(b)[0]}/1"
    inbox = CrawlKeys("crawl").inbox("b")
    assert database.exists(inbox), "the name of the crawl is that of the other tests"
    good = ["page", url(path).url, 0.5, 0, None, "", 0.0]
    together = mail.BETWEEN.join(
        (mail.dump([["page"]]), b"no json", mail.dump([["page", 1], ["unheard of", 2], [], good]))
    )
    database.xadd(inbox, {b"\xff": b"no json"})
    for content in (b"[1, 2]", b"no json", together):
        database.xadd(inbox, {b"a": content})
    assert take(b, loop).url == url(path).url
    assert caplog.text.count("do all workers run the same version?") == 1


def test_what_one_worker_has_for_another_goes_with_one_entry(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b = pair(workers, loop)
    paths = [f"{host}/{n}" for host in hosts_of(b) for n in range(20)]
    inbox = CrawlKeys("crawl").inbox("b")
    entries = database.xinfo_stream(inbox)["entries-added"]
    with a._exchange:  # no step of the exchange begins
        for path in paths:
            a.put(url(path))
    assert sorted(crawl([b, a], loop)) == sorted(url(path).url for path in paths)
    assert database.xinfo_stream(inbox)["entries-added"] - entries <= 3, "sixty steps of a frontier"


@pytest.mark.parametrize("wrong", [math.nan])
def test_a_score_that_is_no_number_is_refused_at_once(workers: Workers, loop: Loop, wrong: float) -> None:
    a, b = pair(workers, loop)
    [host, *_] = hosts_of(b)
    with pytest.raises(ValueError, match="score"):
        a.put(url(f"{host}/1", wrong))
    with pytest.raises(ValueError, match="score"):
        a.rescore(url(f"{host}/1").url, wrong)
    assert not crawl([a, b], loop)


# ------------------------------------------------------------ the end


def test_the_end_is_known_only_when_nobody_has_anything_left(workers: Workers, loop: Loop) -> None:
    a, b = pair(workers, loop)
    [host, *_], [other, *_] = hosts_of(a), hosts_of(b)
    b.put(url(f"{other}/1"))
    held = take(b, loop)
    loop.run_for(1.5)
    assert a.pending() and a.take(time.time()) is None and len(a) == 1, "it is being fetched elsewhere"
    woken = loop.woken
    with b.batch():
        b.put(url(f"{host}/1"))
        b.done(held.url, time.time(), 0.0)
    assert crawl([a, b], loop) == [url(f"{host}/1").url]
    assert loop.woken > woken


def test_the_last_letters_of_a_worker_that_leaves_are_read(workers: Workers, loop: Loop, database: redis.Redis) -> None:
    """It sends them and leaves after the other worker has read its inbox and before that worker reads the list of members."""
    a, b = pair(workers, loop)
    b.put(url(f"{hosts_of(b)[0]}/1"))
    held = take(b, loop)
    loop.run_until(lambda: len(a) == 1)
    take_step, has_read, has_left = a._crew.take, Event(), Event()

    def wait_between(step: Step) -> Answer:
        if step.beat is None or has_read.is_set():
            return take_step(step)
        beat, step.beat = step.beat, None
        answer = take_step(step)
        has_read.set()
        assert has_left.wait(30.0)
        answer.heard = take_step(Step(beat=beat, read_inbox=False, read_messages=False)).heard
        return answer

    a._crew.take = wait_between  # type: ignore[method-assign]
    loop.run_until(has_read.is_set)
    with b.batch():
        b.put(url(f"{hosts_of(a)[0]}/1"))
        b.done(held.url, time.time(), 0.0)
    workers.end(b)
    has_left.set()
    assert crawl(a, loop) == [f"http://{hosts_of(a)[0]}.test/1"]


def test_who_leaves_reads_what_one_sends_back_that_does_not_know_of_it(
    workers: Workers, loop: Loop, database: redis.Redis
) -> None:
    a, b = pair(workers, loop)
    found = [url(f"{host}/1") for host in hosts_of(b)]
    b.put_many(found)
    take_step, may_hear = a._crew.take, Event()

    def without_beat(step: Step) -> Answer:
        if not may_hear.is_set():
            step.beat = None
        return take_step(step)

    a._crew.take = without_beat  # type: ignore[method-assign]
    assert RedisView(database, "crawl").drain("b")
    loop.run_for(2.0)  # it hands its URLs over, and gets all of them back
    assert not b.has_left
    may_hear.set()
    loop.run_until(lambda: b.has_left)
    workers.end(b)
    assert sorted(crawl(a, loop)) == sorted(record.url for record in found)


def test_pages_that_a_lost_worker_was_fetching_may_be_fetched_by_others(database: redis.Redis) -> None:
    keys = CrawlKeys("crawl")
    for key, value in ((keys.members, 1), (keys.reserved, 7), (keys.pages, 5)):  # of a worker that runs nowhere
        database.hset(key, "b", value)
    assert RedisView(database, "crawl").drain("b")
    assert int(database.hget(keys.reserved, "b") or 0) == 5


def test_what_is_below_the_floor_waits_for_better_hosts_of_others(workers: Workers, loop: Loop) -> None:
    a, b = (loop.start(workers.join(name, min_delay=0.5)) for name in "ab")
    meet(loop, a, b)
    for member in (a, b):
        member.set_floor(0.5)
        member.set_ceiling(ACTIVE)
    [good, *_], [poor, *_] = hosts_of(a), hosts_of(b)
    a.put_many([url(f"{good}/1", 0.9), url(f"{good}/2", 0.9)])
    held = take(a, loop)
    loop.run_for(1.5)  # longer than one heartbeat
    b.put(url(f"{poor}/1", 0.1))
    fetched: list[CrawlUrl] = []

    def fetch() -> bool:
        fetched.extend(filter(None, (member.take(time.time()) for member in (a, b))))
        return len(fetched) == 2

    end = time.monotonic() + 1.0
    loop.run_until(lambda: fetch() or time.monotonic() > end)
    assert not fetched, "the host of the other is being visited, and has one more"
    a.done(held.url, time.time(), 0.0)
    loop.run_until(fetch)
    assert [each.url for each in fetched] == [url(f"{good}/2").url, url(f"{poor}/1").url]


def test_the_numbers_are_those_of_all_workers(workers: Workers, loop: Loop, database: redis.Redis) -> None:
    a, b = pair(workers, loop)
    for member, score in ((a, 0.4), (b, 0.7)):
        member.put_many(url(f"{host}/{page}", score) for host in hosts_of(member, 2) for page in (1, 2))
    loop.run_until(lambda: len(a) == len(b) == 8)
    assert (a.hosts(), a.best(), b.best()) == (4, 0.4, 0.7)
    assert sorted(a.workers()) == ["a", "b"]
    b.count_page("any")
    loop.run_until(lambda: a.pages() == 1)
    crawl([a, b], loop)
    assert (len(a), len(b), a.hosts(), a.best()) == (0, 0, 0, None)
