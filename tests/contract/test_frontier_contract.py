"""The contract that every frontier keeps. A new frontier joins by an entry in ``FACTORIES``."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.frontiersteps import Driver, Pair, random_steps, url, waiting
from support.redisserver import empty_database
from support.workers import alone

from crawlproject.frontier.base import DurableFrontier, Frontier, WatchedFrontier
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.records import (
    ACTIVE,
    FIRST,
    INACTIVE,
    OVER_BUDGET,
    PLANTED,
    QUERY,
    REDUNDANT,
    REPETITIVE,
    REREADS,
    REVISITS,
    SPARE,
    UNINFORMATIVE,
    WASTE,
    CrawlUrl,
)
from crawlproject.urls.hosts import host_of
from crawlproject.urls.post import post_url


def memory(folder: Path, *, min_delay: float, factor: float, seed: int, **options: Any) -> Frontier:
    return MemoryFrontier(politeness=Politeness(min_delay, factor), random=Random(seed), **options)


def journaled(folder: Path, **options: Any) -> Frontier:
    inner = memory(folder, **options)
    assert isinstance(inner, MemoryFrontier)
    return JournaledFrontier(inner, folder, clock=lambda: 0.0)


def disk(folder: Path, *, min_delay: float, factor: float, seed: int, **options: Any) -> Frontier:
    politeness = Politeness(min_delay, factor)
    return DiskFrontier(folder, politeness=politeness, random=Random(seed), clock=lambda: 0.0, **options)


def worker(folder: Path, **options: Any) -> Frontier:
    """The only worker of a crawl, before ``start``, which owns all hosts."""
    own = disk(folder, **options)
    assert isinstance(own, DiskFrontier)
    return alone(empty_database(), own, folder)


FACTORIES: dict[str, Callable[..., Frontier]] = {
    "memory": memory,
    "journaled": journaled,
    "disk": disk,
    "redis": worker,
}


class Make:
    """Makes frontiers with these URLs. Defaults: k = 50, no commitment, no limit, no delay."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folders = (folder / str(number) for number in range(sys.maxsize))
        self._opened: list[Frontier] = []

    def __call__(self, urls: Iterable[CrawlUrl] = (), **options: Any) -> Frontier:
        defaults = {"batch_size": 50, "commit": 1, "max_urls": 0, "min_delay": 0.0, "factor": 0.0, "seed": 1}
        frontier = FACTORIES[self._name](next(self._folders), **{**defaults, **options})
        self._opened.append(frontier)
        frontier.put_many(urls)
        return frontier

    def close_all(self) -> None:
        while self._opened:
            self._opened.pop(0).close()


@pytest.fixture(params=FACTORIES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    made = Make(request.param, tmp_path)
    yield made
    made.close_all()


def short(taken: CrawlUrl | None) -> str | None:
    return taken.url.removeprefix("http://").replace(".test", "") if taken else None


def take(frontier: Frontier, now: float = 0.0) -> str | None:
    return short(frontier.take(now))


def fetch(frontier: Frontier, now: float = 0.0, seconds: float = 0.0) -> str | None:
    """Take a URL and finish it at once."""
    taken = frontier.take(now)
    if taken:
        frontier.done(taken.url, now, seconds)
    return short(taken)


def drain(frontier: Frontier, now: float = 0.0) -> list[str | None]:
    fetched = []
    while path := fetch(frontier, now):
        fetched.append(path)
    return fetched


def test_every_frontier_has_the_methods_of_the_contract(make):
    assert isinstance(make(), Frontier)


@pytest.mark.parametrize("limit", [0, 12])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("floors", "classes"), [(0.0, 0.0), (0.05, 0.0), (0.0, 0.1), (0.03, 0.1)])
@pytest.mark.parametrize("k", [1, 3, 50])
def test_random_steps_have_the_same_answers_as_in_memory(make, tmp_path, k, floors, classes, strict, limit):
    """``unit/frontier/test_model.py`` compares the frontier in memory with a naive implementation of the contract."""
    options = {"batch_size": k, "strict": strict, "max_urls": limit, "min_delay": 1.0, "factor": 3.0}
    one, other = memory(tmp_path, seed=1, **options), make(**options)
    pair, names = Pair(one, other), [f"http://h{host}.test/{page}" for host in range(6) for page in range(5)]
    most = 250 if isinstance(other, RedisWorker) else 500  # a step is a dozen round trips
    steps = random_steps(10 * k + limit, hosts=6, pages=5, floors=floors, classes=classes)
    for number, step in enumerate(islice(steps, most)):
        pair.do(step)
        if number % 25 == 0:
            assert waiting(one) == waiting(other)
            assert [name in one for name in names] == [name in other for name in names]
            assert all(other.leased(name) == one.leased(name) for name in names)


# ---------------------------------------------------------------- order


def test_the_best_url_leaves_first(make):
    frontier = make([url("a/", 0.2), url("b/", 0.9), url("c/", -1.0), url("d/", math.inf), url("e/", -math.inf)])
    assert drain(frontier) == ["d/", "b/", "a/", "c/", "e/"]


@pytest.mark.parametrize("paths", [[f"{host}/" for host in "gcfabed"], [f"a/{page}" for page in "zyxabc"]])
def test_equal_scores_leave_first_in_first_out(make, paths):
    frontier = make([url(path, 0.5) for path in paths])
    assert drain(frontier) == paths


def test_the_record_comes_back_as_it_was_put(make):
    frontier = make()
    record = url("a/", 0.25, depth=3, parent="http://p.test/", anchor="Grüße", context_score=0.5, inherited=(0.1, 0.2))
    frontier.put(record)
    assert frontier.take(0.0) == record


def test_requests_to_one_place_are_told_apart(make: Make) -> None:
    place = "http://a.test/find"
    records = [CrawlUrl(place, 0.9), *(CrawlUrl(post_url(place, f"q={word}"), 0.5, kind=QUERY) for word in "abc")]
    frontier = make(records)
    assert len(frontier) == 4 and frontier.hosts() == 1, "they share the host and its rest"
    taken = [frontier.take(0.0)]
    assert frontier.take(0.0) is None
    while (last := taken[-1]) is not None:
        assert not frontier.put(replace(last, score=2.0)) and frontier.leased(last.key) == last
        frontier.done(last.key, 0.0, 0.0)
        assert last.key in frontier and not frontier.put(last)
        taken.append(frontier.take(0.0))
    assert taken == [*records, None]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_score_or_a_time_that_is_no_number_is_refused(make, wrong):
    frontier = make([url("a/"), url("b/")])
    frontier.take(0.0)
    refused: list[Callable[[], object]] = [
        lambda: frontier.put(url("c/", 0.0, not_before=wrong)),
        lambda: frontier.hold("http://b.test/", wrong),
        lambda: frontier.hold("http://a.test/", wrong),
        lambda: frontier.release("http://a.test/", 0.0, 0.0, not_before=wrong),
        lambda: frontier.block_host("b.test", wrong),
        lambda: frontier.done("http://a.test/", 0.0, 0.0, wrong),
    ]
    if math.isnan(wrong):
        refused += [lambda: frontier.put(url("c/", wrong)), lambda: frontier.rescore("http://b.test/", wrong)]
        refused += [lambda: frontier.done("http://a.test/", 0.0, 0.0, 9.0, wrong)]
    for call in refused:
        with pytest.raises(ValueError, match=r"finite|number|cannot queue"):
            call()
    assert (frontier.leases(), len(frontier), take(frontier)) == (1, 1, "b/")


# ---------------------------------------------------------------- a URL once


def test_a_better_link_raises_the_score_and_brings_its_record(make):
    frontier = make([url("a/", 0.1), url("b/", 0.5)])
    assert not frontier.put(url("a/", 0.9, parent="http://hub.test/"))
    assert len(frontier) == 2
    taken = frontier.take(0.0)
    assert taken == url("a/", 0.9, parent="http://hub.test/")


def test_a_worse_link_changes_nothing_and_an_equal_one_keeps_the_place(make):
    frontier = make([url("a/", 0.6), url("b/", 0.5), url("c/", 0.1), url("d/", 0.5)])
    for worse in (url("a/", 0.1, parent="http://hub.test/"), url("c/", 0.5)):
        assert not frontier.put(worse)
    assert frontier.take(0.0) == url("a/", 0.6)
    assert drain(frontier) == ["b/", "c/", "d/"]


@pytest.mark.parametrize("scores", [(0.2, 0.9), (0.9, 0.2)])
def test_of_several_paths_the_least_depth_and_the_larger_inherited_values_stay(make, scores):
    """As in fish search (Hersovici and others 1998, Figure 1): the maximum of scores, and the maximum of remaining depths."""
    first, second = scores
    one = url("a/", first, depth=2, inherited=(0.1, 3.0), parent="http://one.test/", anchor="one")
    other = url("a/", second, depth=4, inherited=(1 / 3, 1.0), parent="http://other.test/", anchor="other\nline")
    frontier = make([one, url("b/", 0.5), other])
    expected = replace(max(one, other, key=lambda record: record.score), depth=2, inherited=(1 / 3, 3.0))
    assert [record for record in frontier.waiting() if record.url == one.url] == [expected]
    frontier.put(replace(other, score=0.1, depth=1, inherited=(math.inf, 0.0)))
    expected = replace(expected, depth=1, inherited=(math.inf, 3.0))
    assert sorted([frontier.take(0.0).url, frontier.take(0.0).url]) == [one.url, "http://b.test/"]
    assert frontier.leased(one.url) == expected
    assert frontier.take(0.0) is None


def test_paths_that_hand_down_different_things_are_not_mixed(make):
    frontier = make([url("a/", 0.5, depth=3), url("b/", 0.5, depth=1, inherited=(1.0,))])
    frontier.put(url("a/", 0.2, depth=2, inherited=(9.0,)))
    frontier.put(url("b/", 0.9, depth=2))
    assert sorted((record.depth, record.inherited) for record in frontier.waiting()) == [(1, ()), (2, ())]


def test_a_better_path_moves_no_hold(make):
    frontier = make([url("a/", 0.5, depth=3, not_before=60.0), url("b/", 0.4)])
    frontier.put(url("a/", 0.2, depth=1))
    assert [fetch(frontier), fetch(frontier, 59.0), fetch(frontier, 60.0)] == ["b/", None, "a/"]


# ---------------------------------------------------------------- new scores


def test_rescore_keeps_the_place_in_line_even_there_and_back(make):
    frontier = make([url("a/", 0.5), url("b/", 0.5)])
    for score in (0.9, 0.1, 0.5, 0.7, 0.5):
        frontier.rescore("http://a.test/", score)
    assert drain(frontier) == ["a/", "b/"]


def test_best_is_the_best_waiting_score_wherever_it_waits(make):
    frontier = make(min_delay=1.0)
    assert frontier.best() is None
    frontier.put_many([url("a/1", 0.4), url("a/2", 0.8), url("b/", 0.3), url("c/", 0.6, not_before=99.0)])
    assert frontier.best() == 0.8
    assert take(frontier) == "a/2"
    assert frontier.best() == 0.6
    frontier.rescore("http://a.test/1", 0.7)
    assert frontier.best() == 0.7
    frontier.rescore("http://a.test/1", 0.1)
    frontier.put(url("b/", 0.65))
    assert frontier.best() == 0.65


# ---------------------------------------------------------------- leases


def test_a_taken_url_is_leased_until_done(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8)])
    taken = frontier.take(0.0)
    assert (frontier.leases(), len(frontier), frontier.leased(taken.url)) == (1, 1, taken)
    assert frontier.take(1e9) is None, "one fetch at a time for a host"
    frontier.done(taken.url, 1.0, 1.0)
    assert (frontier.leases(), frontier.leased(taken.url)) == (0, None)
    assert take(frontier, 1.0) == "a/2"


def test_a_released_url_waits_again_in_its_old_place(make):
    frontier = make([url("a/1", 0.5), url("a/2", 0.5), url("b/1", 0.1)], min_delay=3.0)
    taken = frontier.take(0.0)
    frontier.release(taken.url, 1.0, 1.0)
    assert (len(frontier), frontier.leases()) == (3, 0)
    assert take(frontier, 1.0) == "b/1", "the host rests"
    assert take(frontier, 3.9) is None
    assert take(frontier, 4.0) == "a/1"


@pytest.mark.parametrize(("end", "left"), [("drop", 3), ("hold", 4)])
def test_a_lease_that_ends_without_a_visit_leaves_no_trace_on_its_host(make, end, left):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("b/1", 0.1), url("c/1", 0.1)], batch_size=2, min_delay=5.0)
    taken = frontier.take(0.0)
    if end == "drop":
        frontier.drop(taken.url)
    else:
        assert frontier.hold(taken.url, 60.0)
    assert (taken.url in frontier, frontier.leases(), len(frontier)) == (True, 0, left)
    assert fetch(frontier) == "a/2", "neither its clock nor the k rule holds the host back"
    assert [fetch(frontier), fetch(frontier)] == ["b/1", "c/1"]
    assert take(frontier, 59.0) is None
    assert frontier.next_due(59.0) == (None if end == "drop" else 60.0)
    assert frontier.take(60.0) == (None if end == "drop" else replace(taken, not_before=60.0))


# ---------------------------------------------------------------- politeness


@pytest.mark.parametrize(
    ("min_delay", "crawl_delay", "factor", "seconds", "rest"),
    [(2.0, 0.0, 1.0, 0.5, 2.0), (2.0, 7.0, 1.0, 0.5, 7.0), (2.0, 7.0, 10.0, 0.9, 9.0), (0.0, 0.0, 0.0, 5.0, 0.0)],
)
def test_the_next_visit_is_after_the_longest_of_three_delays(make, min_delay, crawl_delay, factor, seconds, rest):
    frontier = make(min_delay=min_delay, factor=factor)
    frontier.crawl_delay("a.test", crawl_delay)
    frontier.put_many([url("a/1"), url("a/2")])
    frontier.done(frontier.take(0.0).url, 100.0, seconds)
    assert frontier.next_due(100.0) == 100.0 + rest
    assert frontier.take(math.nextafter(100.0 + rest, 0.0)) is None
    assert take(frontier, 100.0 + rest) == "a/2"


@pytest.mark.parametrize("hostile", [0.0, math.nan, math.inf, -math.inf, -5.0])
def test_a_crawl_delay_that_is_no_delay_takes_the_last_one_back(make, hostile):
    frontier = make(min_delay=1.0)
    frontier.crawl_delay("a.test", 30.0)
    frontier.crawl_delay("a.test", hostile)
    frontier.put_many([url("a/1"), url("a/2")])
    fetch(frontier)
    assert frontier.next_due(0.0) == 1.0


def test_a_crawl_delay_outlives_the_hosts_urls(make):
    frontier = make(min_delay=1.0)
    frontier.crawl_delay("a.test", 30.0)
    frontier.put(url("a/1"))
    fetch(frontier, 0.0)
    frontier.put(url("b/1"))
    fetch(frontier, 1000.0)
    frontier.put_many([url("a/2"), url("a/3")])
    fetch(frontier, 2000.0)
    assert frontier.next_due(2000.0) == 2030.0


def test_a_clock_that_runs_backwards_makes_nobody_impolite(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("b/1", 0.1)], min_delay=10.0)
    fetch(frontier, 1000.0)
    frontier.next_due(1010.0)  # a is due by now
    assert take(frontier, 1005.0) == "b/1"
    assert frontier.next_due(1005.0) == 1010.0


@pytest.mark.parametrize("seed", range(8))
def test_politeness_holds_under_random_schedules(make, seed):
    random = Random(seed)
    frontier = make(min_delay=1.0, factor=2.0, batch_size=random.choice([1, 3, 50]), commit=random.choice([1, 4]))
    delays = {f"h{number}.test": random.choice([0.0, 0.0, 4.0]) for number in range(6)}
    for host, delay in delays.items():
        frontier.crawl_delay(host, delay)
    frontier.put_many(url(f"h{random.randrange(6)}/{page}", random.random()) for page in range(120))
    allowed: dict[str, float] = {}  # host -> earliest next visit
    flying: list[tuple[float, float, str]] = []
    now, fetched, total = 0.0, 0, len(frontier)
    while fetched < total:
        while taken := frontier.take(now):
            host = host_of(taken.url)
            assert allowed.get(host, 0.0) <= now, "too soon"
            assert host not in [host_of(other) for _, _, other in flying], "two at once"
            seconds = random.choice([0.1, 0.4, 3.0])
            flying.append((now + seconds, seconds, taken.url))
        due = frontier.next_due(now)
        events = [end for end, _, _ in flying] + ([due] if due is not None else [])
        assert events, "a frontier with waiting URLs always has a next event"
        assert due is None or due > now
        now = min(events)
        for end, seconds, done in [flight for flight in flying if flight[0] <= now]:
            flying.remove((end, seconds, done))
            frontier.done(done, end, seconds)
            allowed[host_of(done)] = end + max(1.0, delays[host_of(done)], 2.0 * seconds)
            fetched += 1


# ---------------------------------------------------------------- hosts of one address


def at_one_address(frontier: Frontier, *hosts: str, address: str = "192.0.2.1") -> Frontier:
    for host in hosts:
        assert frontier.host_address(f"{host}.test", address)
    return frontier


def test_hosts_of_one_address_are_visited_one_at_a_time(make):
    frontier = at_one_address(make([url("a/1", 0.9), url("b/1", 0.8), url("c/1", 0.1)]), "a", "b")
    assert [take(frontier), take(frontier), take(frontier)] == ["a/1", "c/1", None]
    frontier.done(url("a/1").url, 0.0, 0.0)
    assert take(frontier) == "b/1"


def test_a_commitment_waits_for_the_address_of_its_hosts(make):
    frontier = at_one_address(make([url("a/1", 0.9), url("b/1", 0.8), url("c/1", 0.1)], commit=2), "a", "b")
    first = take(frontier)
    assert take(frontier) is None
    frontier.done(url(first).url, 0.0, 0.0)
    assert {first, take(frontier)} == {"a/1", "b/1"}


def test_hosts_of_one_address_rest_together(make):
    frontier = at_one_address(make([url("a/1", 0.9), url("b/1", 0.8)], min_delay=2.0), "a", "b")
    assert fetch(frontier, 0.0) == "a/1"
    assert take(frontier, 1.0) is None
    assert take(frontier, frontier.next_due(1.0)) == "b/1"


def test_a_host_whose_address_becomes_known_rests_with_it(make):
    frontier = at_one_address(make([url("a/1", 0.9), url("b/1", 0.8)], min_delay=2.0), "a")
    assert fetch(frontier, 0.0) == "a/1"
    assert frontier.host_address("b.test", "192.0.2.1") is False
    assert take(frontier, 1.0) is None
    assert take(frontier, 2.0) == "b/1"


def test_a_visit_whose_address_turns_out_to_be_in_use_is_put_off(make):
    frontier = make([url("a/1", 0.9), url("b/1", 0.8)])
    assert (take(frontier), take(frontier)) == ("a/1", "b/1")
    assert frontier.host_address("a.test", "192.0.2.1") is True
    assert frontier.host_address("b.test", "192.0.2.1") is False
    frontier.hold("http://b.test/1", 0.0)
    assert take(frontier) is None
    frontier.done("http://a.test/1", 0.0, 0.0)
    assert take(frontier) == "b/1"


def test_hosts_that_are_told_apart_again_are_visited_at_once(make):
    frontier = at_one_address(make([url(f"{host}/1", 0.9) for host in "abc"]), *"abc")
    taken = take(frontier)
    assert take(frontier) is None
    for host in "abc":
        assert frontier.host_address(f"{host}.test", "")
    assert {taken, take(frontier), take(frontier)} == {"a/1", "b/1", "c/1"}


def test_a_host_that_moves_leaves_its_old_address(make):
    frontier = at_one_address(make([url("a/1", 0.9), url("b/1", 0.8), url("c/1", 0.7)]), "a", "b")
    assert take(frontier) == "a/1"
    assert frontier.host_address("a.test", "192.0.2.2")
    assert take(frontier) == "b/1"
    at_one_address(frontier, "c", address="192.0.2.3")
    assert take(frontier) == "c/1"


@pytest.mark.parametrize("seed", range(8))
def test_politeness_and_work_conservation_hold_for_addresses_too(make, seed):
    """Each address has one visitor at a time and rests afterwards; a URL that may be visited is visited."""
    random = Random(seed)
    frontier = make(min_delay=1.0, factor=2.0, batch_size=1)
    places = {f"h{number}.test": random.choice(["192.0.2.1", "192.0.2.2", ""]) for number in range(8)}
    unknown = dict(places)  # addresses are resolved during the crawl
    frontier.put_many(url(f"h{random.randrange(8)}/{page}", random.random()) for page in range(120))
    left = Counter(host_of(waiting.url) for waiting in frontier.waiting())
    rested: dict[str, float] = {}
    flying: list[tuple[float, float, str]] = []
    now = 0.0

    def server_of(host: str) -> str:
        return places[host] if host not in unknown and places[host] else host

    while sum(left.values()):
        while taken := frontier.take(now):
            host = host_of(taken.url)
            busy = [server_of(host_of(other)) for _, _, other in flying]
            if host in unknown:
                free = frontier.host_address(host, unknown.pop(host))
                server = server_of(host)
                assert free == (server not in busy and rested.get(server, 0.0) <= now)
                if not free:
                    frontier.hold(taken.url, 0.0)
                    continue
            assert server_of(host) not in busy, "two at once"
            assert rested.get(server_of(host), 0.0) <= now, "too soon"
            assert rested.get(host, 0.0) <= now, "too soon"
            seconds = random.choice([0.1, 0.4, 3.0])
            flying.append((now + seconds, seconds, taken.url))
            left[host] -= 1
        in_flight = {server_of(host_of(other)) for _, _, other in flying}
        for host, count in left.items():
            rests = max(rested.get(host, 0.0), rested.get(server_of(host), 0.0)) > now
            assert not count or rests or server_of(host) in in_flight, f"{host} may be visited"
        due = frontier.next_due(now)
        events = [end for end, _, _ in flying] + ([due] if due is not None else [])
        if not events:
            break
        assert due is None or due > now
        now = min(events)
        for end, seconds, done in [flight for flight in flying if flight[0] <= now]:
            flying.remove((end, seconds, done))
            frontier.done(done, end, seconds)
            until = end + max(1.0, 2.0 * seconds)
            for name in (host_of(done), server_of(host_of(done))):
                rested[name] = max(until, rested.get(name, 0.0))
    assert not sum(left.values())


# ---------------------------------------------------------------- when to ask again


def test_next_due_is_exact(make):
    frontier = make([url("a/1"), url("a/2"), url("b/1"), url("b/2"), url("c/1", not_before=1.25)], min_delay=1.5)
    fetch(frontier, 0.0)
    fetch(frontier, 0.5)
    for due, path in ((1.25, "c/1"), (1.5, "a/2"), (2.0, "b/2")):
        assert frontier.next_due(0.75) == due
        assert frontier.take(math.nextafter(due, 0.0)) is None
        assert fetch(frontier, due) == path


def test_next_due_knows_the_k_rule(make):
    frontier = make(batch_size=3, min_delay=1.0)
    frontier.crawl_delay("c.test", 50.0)
    frontier.put_many(url(f"{host}/{page}", score) for host, score in (("c", 3), ("a", 2), ("b", 1)) for page in (1, 2))
    assert [fetch(frontier) for _ in range(3)] == ["c/1", "a/1", "b/1"]
    assert frontier.take(10.0) is None, "a and b are among the last two picks, and three hosts wait"
    assert frontier.next_due(10.0) == 50.0
    assert [take(frontier, 50.0), take(frontier, 50.0), take(frontier, 50.0)] == ["c/2", "a/2", "b/2"]


# ---------------------------------------------------------------- not before


def test_a_url_with_a_time_to_come_blocks_nobody(make):
    frontier = make([url("a/1", 0.9, not_before=10.0), url("a/2", 0.2), url("b/1", 0.5)])
    assert [fetch(frontier, 9.0), fetch(frontier, 9.0), fetch(frontier, 9.0)] == ["b/1", "a/2", None]
    assert frontier.next_due(9.0) == 10.0
    assert fetch(frontier, 10.0) == "a/1"


def test_a_waiting_url_is_held_until_its_time_and_let_go(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.5), url("b/1", 0.1)])
    assert frontier.hold("http://a.test/1", 10.0) and frontier.hold("http://b.test/1", 20.0)
    assert (len(frontier), frontier.best(), frontier.leases()) == (3, 0.9, 0)
    assert [fetch(frontier, 9.0), fetch(frontier, 9.0), frontier.next_due(9.0)] == ["a/2", None, 10.0]
    assert frontier.hold("http://b.test/1", 0.0)
    assert fetch(frontier, 9.0) == "b/1"
    assert frontier.take(10.0) == url("a/1", 0.9, not_before=10.0)


# ---------------------------------------------------------------- beside a history


def test_what_is_done_can_be_asked_for_and_forgotten(make):
    frontier = make([url(f"a/{n}", 0.5) for n in range(4)])
    if not isinstance(frontier, DurableFrontier):
        pytest.skip("it goes by the history alone, or keeps what is done in a server")
    for _ in range(3):
        frontier.done(frontier.take(0.0).url, 0.0, 0.0)
    frontier.done("http://b.test/", 0.0, 0.0)
    done = {each.key for each in frontier.finished()}
    assert len(done) == 4 and "http://b.test/" in done
    some = max(done)
    assert [each.key for each in frontier.finished((done - {some}).__contains__)] == [some]
    frontier.forget(some)
    assert some not in frontier and {each.key for each in frontier.finished()} == done - {some}


# ---------------------------------------------------------------- revisits


def test_a_finished_url_waits_for_its_next_visit(make):
    frontier = make([url("a/1", 0.5, depth=2), url("a/2", 0.4), url("b/1", 0.1)], min_delay=5.0, batch_size=2)
    taken = frontier.take(0.0)
    frontier.done(taken.url, 1.0, 0.0, 100.0, 7.0)
    assert (len(frontier), frontier.leases(), frontier.best(), taken.url in frontier) == (3, 0, 7.0, True)
    assert not frontier.put(url("a/1", 0.3, depth=2))
    assert [fetch(frontier, 5.0), fetch(frontier, 6.0)] == ["b/1", "a/2"], "the pick counts, and the clock is set"
    assert (frontier.next_due(20.0), take(frontier, 99.0)) == (100.0, None)
    assert frontier.take(100.0) == replace(taken, score=7.0, not_before=100.0)
    frontier.done(taken.url, 100.0, 0.0)
    assert (len(frontier), taken.url in frontier, frontier.next_due(1e6)) == (0, True, None), "retired"


def test_the_score_stays_unless_another_is_given(make):
    frontier = make([url("a/1", 0.5)])
    frontier.done(frontier.take(0.0).url, 0.0, 0.0, 10.0)
    assert frontier.best() == 0.5


def test_a_url_that_waits_for_a_revisit_is_rescored_held_and_dropped_like_any_other(make):
    frontier = make([url(f"{host}/", 0.5) for host in "abc"])
    for _ in range(3):
        frontier.done(frontier.take(0.0).url, 0.0, 0.0, 50.0, 1.0)
    assert frontier.rescore("http://a.test/", 2.0) and frontier.hold("http://b.test/", 20.0)
    frontier.drop("http://c.test/")
    assert ("http://c.test/" in frontier, len(frontier), frontier.best()) == (True, 2, 2.0)
    assert [fetch(frontier, 19.0), fetch(frontier, 20.0), fetch(frontier, 60.0), fetch(frontier, 99.0)] == [
        None,
        "b/",
        "a/",
        None,
    ]


def test_done_with_a_next_visit_of_a_url_that_has_no_lease(make):
    frontier = make([url("waits/", 0.5), url("done/", 0.9)])
    fetch(frontier)
    for _ in range(2):  # the same again changes nothing
        frontier.done("http://waits.test/", 0.0, 0.0, 10.0)
        frontier.done("http://done.test/", 0.0, 0.0, 10.0)
        frontier.done("http://unknown.test/", 0.0, 0.0, 10.0)
    assert [len(frontier), "http://unknown.test/" in frontier, take(frontier, 9.0)] == [1, True, None]
    assert drain(frontier, 10.0) == ["waits/"]


def test_a_full_frontier_evicts_new_urls_before_those_that_wait_for_a_revisit(make):
    frontier = make([url("a/", 0.1), url("b/", 0.2)], max_urls=3)
    for _ in range(2):
        frontier.done(frontier.take(0.0).url, 0.0, 0.0, 50.0, 10.0)
    frontier.put(url("c/", 0.9))
    frontier.rescore("http://a.test/", 11.0)
    assert [frontier.put(url(f"new{number}/", 1 + number)) for number in range(3)] == [True] * 3
    assert (len(frontier), frontier.evicted(), "http://c.test/" in frontier) == (3, 3, False)
    assert "http://a.test/" in frontier and "http://b.test/" in frontier
    assert frontier.put(url("d/", 0.5)) is False
    frontier.rescore("http://a.test/", 0.0)
    frontier.put(url("e/", 5.0))
    assert "http://a.test/" not in frontier, "with the least score it is the worst, as any other"


def test_a_finished_url_leaves_the_commitment_of_best_n_first(make):
    frontier = make([url("a/1", 0.9), url("b/1", 0.8), url("c/1", 0.1)], commit=2)
    first = frontier.take(0.0)
    frontier.done(first.url, 0.0, 0.0, 0.0)
    assert {fetch(frontier), short(first)} == {"a/1", "b/1"}, "a released one would be taken first"


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_is_due_waits_for_nothing(make, seed):
    """Work conservation with revisits: if nothing is taken, every URL is held, or its host rests or is being visited."""
    random = Random(seed)
    frontier = make(min_delay=1.0, strict=False, batch_size=3)
    frontier.put_many(url(f"h{random.randrange(5)}/{page}", random.random()) for page in range(40))
    rests: dict[str, float] = {}
    flying: list[tuple[float, str]] = []
    now, visits = 0.0, 0
    while visits < 120:
        while taken := frontier.take(now):
            assert taken.not_before <= now and rests.get(host_of(taken.url), 0.0) <= now
            flying.append((now + random.choice([0.1, 2.0]), taken.url))
        busy = {host_of(name) for _, name in flying}
        late = [one for one in frontier.waiting() if one.not_before <= now and host_of(one.url) not in busy]
        assert all(rests.get(host_of(one.url), 0.0) > now for one in late)
        due = frontier.next_due(now)
        events = [end for end, _ in flying] + ([] if due is None else [due])
        assert len(frontier) + len(flying) == 40 and min(events) > now
        now = min(events)
        for end, name in [flight for flight in flying if flight[0] <= now]:
            flying.remove((end, name))
            again = now + random.choice([0.0, 0.5, 3.0, 30.0])
            frontier.done(name, end, 0.0, again, random.choice([None, 2.0, 3.0]))
            rests[host_of(name)], visits = end + 1.0, visits + 1


# ---------------------------------------------------------------- blocks


def blocks(frontier: Frontier) -> list[tuple[str, float, float | None]]:
    return sorted(tuple(block) for block in frontier.blocked())


def test_a_blocked_host_is_not_visited_whatever_its_scores_and_its_clock(make):
    frontier = make(min_delay=5.0)
    frontier.block_host("a.test", 60.0)
    frontier.put_many([url("a/1", 0.9), url("a/2", 0.8, not_before=70.0), url("b/1", 0.1)])
    assert fetch(frontier) == "b/1"
    assert (take(frontier, 59.0), frontier.next_due(59.0), len(frontier), frontier.best()) == (None, 60.0, 2, 0.9)
    assert blocks(frontier) == [("a.test", 60.0, 0.9)]
    assert fetch(frontier, 60.0) == "a/1"
    assert blocks(frontier) == []
    assert frontier.next_due(60.0) == 70.0


def test_the_last_block_holds_and_0_or_a_time_past_lifts_it(make):
    frontier = make([url("a/1", 0.9), url("b/1", 0.5), url("b/2", 0.4)])
    for until in (60.0, 20.0, 40.0):
        frontier.block_host("a.test", until)
    frontier.block_host("b.test", 50.0)
    frontier.block_host("nobody.test", 99.0)
    assert (take(frontier), frontier.next_due(0.0)) == (None, 40.0)
    assert blocks(frontier) == [("a.test", 40.0, 0.9), ("b.test", 50.0, 0.5), ("nobody.test", 99.0, None)]
    frontier.block_host("a.test", 0.0)
    assert fetch(frontier, 10.0) == "a/1"
    frontier.block_host("b.test", 10.0)
    assert drain(frontier, 10.0) == ["b/1", "b/2"]
    for wrong in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            frontier.block_host("a.test", wrong)


def test_a_block_does_not_touch_the_politeness_clock(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8)], min_delay=5.0)
    taken = frontier.take(0.0)
    frontier.block_host("a.test", 2.0)
    frontier.done(taken.url, 0.0, 0.0)
    assert frontier.next_due(0.0) == 5.0
    frontier.block_host("a.test", 60.0)
    frontier.block_host("a.test", 0.0)
    assert (frontier.next_due(0.0), fetch(frontier, 5.0)) == (5.0, "a/2")


def test_the_k_rule_does_not_wait_for_hosts_that_are_blocked_or_whose_urls_are_held(make):
    frontier = make([url(f"{host}/{page}", 0.9 - page / 10) for host in "abc" for page in range(4)], batch_size=3)
    assert "".join(fetch(frontier)[0] for _ in range(3)) == "abc"
    frontier.block_host("a.test", 60.0)
    assert [fetch(frontier), fetch(frontier), frontier.hosts()] == ["b/1", "c/1", 3]
    frontier.hold("http://c.test/2", 30.0)
    frontier.hold("http://c.test/3", 50.0)
    assert [fetch(frontier, 1.0), fetch(frontier, 2.0), fetch(frontier, 3.0)] == ["b/2", "b/3", None]
    assert frontier.next_due(3.0) == 30.0
    assert [fetch(frontier, 30.0), fetch(frontier, 49.0), fetch(frontier, 50.0)] == ["c/2", None, "c/3"]
    assert [fetch(frontier, 60.0), fetch(frontier, 60.0)] == ["a/1", "a/2"]


def test_next_due_foresees_that_a_host_which_wakes_makes_the_k_rule_strict_again(make):
    frontier = make([url("b/1", 0.9), url("b/2"), url("a/1", 0.5)], batch_size=2, min_delay=60.0)
    assert fetch(frontier, 40.0) == "b/1"
    assert fetch(frontier, 41.0) == "a/1"  # both rest: b until 100, a until 101
    frontier.put(url("a/2"))
    frontier.hold("http://b.test/2", 50.0)
    frontier.crawl_delay("b.test", 300.0)
    frontier.done("http://b.test/3", 42.0, 0.0)
    assert frontier.next_due(43.0) == 342.0, "a is barred: it waits for b, which may be taken from 50 on, but rests"


@pytest.mark.parametrize("blocked", [True, False])
def test_a_commitment_gives_way_to_blocks(make, blocked):
    frontier = make([url("a/1", 0.9), url("b/1", 0.8), url("c/1", 0.1)], commit=2)
    first = fetch(frontier)
    other = {"a/1": "b", "b/1": "a"}[first]
    if blocked:
        frontier.block_host(f"{other}.test", 60.0)
    else:
        frontier.hold(f"http://{other}.test/1", 60.0)
    assert [fetch(frontier, 1.0), fetch(frontier, 1.0)] == ["c/1", None]
    assert frontier.next_due(1.0) == 60.0
    assert fetch(frontier, 60.0) == f"{other}/1"


# ---------------------------------------------------------------- the k rule


@pytest.mark.parametrize("commit", [1, 256])
def test_any_50_takes_in_a_row_are_of_50_hosts_while_60_wait(make, commit):
    frontier = make(batch_size=50, commit=commit)
    random = Random(7)
    frontier.put_many(url(f"h{host}/{page}", random.random()) for host in range(60) for page in range(20))
    picks = []
    while frontier.hosts() >= 50:
        picks.append(fetch(frontier).partition("/")[0])
    assert len(picks) > 500
    assert all(len(set(picks[start : start + 50])) == 50 for start in range(len(picks) - 49))


def test_three_hosts_alternate(make):
    frontier = make(batch_size=50)
    frontier.put_many(
        url(f"{host}/{page}", score) for host, score in (("a", 3), ("b", 2), ("c", 1)) for page in range(4)
    )
    assert "".join(path[0] for path in drain(frontier)) == "abc" * 4


def test_one_host_alone_is_not_held_up(make):
    frontier = make((url(f"a/{page}") for page in range(3)), batch_size=50)
    assert drain(frontier) == ["a/0", "a/1", "a/2"]


def test_the_rule_is_strict_while_k_hosts_wait(make):
    frontier = make(
        [url("a/1", 9), url("a/2", 9), url("b/1", 8), url("b/2", 8), url("c/1", 1), url("c/2", 1)], batch_size=3
    )
    assert [fetch(frontier), fetch(frontier), take(frontier)] == ["a/1", "b/1", "c/1"]
    assert fetch(frontier) == "a/2", "c is leased, but c/2 waits: three hosts; b and c are the last two picks"
    assert frontier.take(0.0) is None or frontier.hosts() < 3


def test_the_crawl_never_stops_for_the_rule_when_fewer_hosts_wait(make):
    frontier = make([url("a/1", 9), url("a/2", 9), url("a/3", 9), url("b/1", 8), url("b/2", 8)], batch_size=50)
    assert fetch(frontier) == "a/1"
    assert take(frontier) == "b/1"  # stays in flight
    assert fetch(frontier) == "a/2"
    assert fetch(frontier) == "a/3", "b is out of the window, but in flight"


def test_the_host_picked_longest_ago_goes_first_when_all_are_in_the_window(make):
    frontier = make(batch_size=50, min_delay=10.0)
    frontier.put_many(
        url(f"{host}/{page}", score) for host, score in (("a", 3), ("b", 2), ("c", 1)) for page in range(3)
    )
    frontier.crawl_delay("a.test", 100.0)
    assert [fetch(frontier, now) for now in (0.0, 1.0, 2.0)] == ["a/0", "b/0", "c/0"]
    assert frontier.next_due(2.0) == 11.0, "a rests: b comes although it is in the window"
    assert [fetch(frontier, 12.0), fetch(frontier, 12.0)] == ["b/1", "c/1"]


@pytest.mark.parametrize(
    ("end", "options", "next_one"),
    [
        ("release", {"picked": True}, "b/1"),
        ("release", {"picked": False}, "a/1"),
        ("drop", {"picked": True}, "b/1"),
        ("drop", {}, "a/2"),
        ("hold", {"until": 9.0}, "a/2"),
    ],
)
def test_a_pick_bars_the_host_unless_it_is_given_back(make, end, options, next_one):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("b/1", 0.2), url("c/1", 0.1)], batch_size=3)
    times = {"now": 0.0, "seconds": 0.0} if end == "release" else {}
    getattr(frontier, end)(frontier.take(0.0).url, **times, **options)
    assert fetch(frontier) == next_one


def test_picks_given_back_leave_the_older_ones_in_force(make):
    frontier = make([url("a/1", 9), url("a/2", 8), url("b/1", 5), url("c/1", 4)], batch_size=2)
    assert fetch(frontier) == "a/1"
    prerequisites = [frontier.take(0.0), frontier.take(0.0)]
    for taken in reversed(prerequisites):
        frontier.release(taken.url, 0.0, 0.0, picked=False)
    assert [fetch(frontier), fetch(frontier)] == ["b/1", "a/2"]


def test_a_rule_that_is_not_strict_never_stops_the_crawl(make):
    frontier = make(batch_size=3, min_delay=1.0, strict=False)
    frontier.crawl_delay("c.test", 50.0)
    frontier.put_many(url(f"{host}/{page}", score) for host, score in (("c", 3), ("a", 1), ("b", 2)) for page in (1, 2))
    assert [fetch(frontier) for _ in range(3)] == ["c/1", "b/1", "a/1"]
    assert frontier.next_due(0.0) == 1.0, "strict, it would be 50"
    assert [fetch(frontier, 10.0), fetch(frontier, 10.0)] == ["b/2", "a/2"], "c rests: b was picked longest ago"
    assert fetch(frontier, 50.0) == "c/2"


def test_a_rule_that_is_not_strict_prefers_hosts_outside_the_window(make):
    frontier = make(batch_size=2, strict=False)
    frontier.put_many([url("a/1", 9), url("a/2", 9), url("b/1", 1), url("c/1", 1)])
    assert drain(frontier) == ["a/1", "b/1", "a/2", "c/1"]


# ---------------------------------------------------------------- the floor


def test_active_hosts_come_first_then_spare_ones_and_others_while_there_is_nobody_else(make):
    frontier = make([url("low/1", 0.1), url("spare/1", 0.4), url("a/1", 0.9), url("b/1", 0.5), url("lower/1", 0.05)])
    frontier.set_floor(0.5, 0.3)
    assert [fetch(frontier) for _ in range(4)] == ["a/1", "b/1", "spare/1", "low/1"]
    frontier.put(url("a/2", 0.7))
    assert drain(frontier) == ["a/2", "lower/1"]


def test_a_host_is_spare_or_active_by_its_best_url(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.1), url("b/1", 0.4), url("b/2", 0.3)], min_delay=5.0)
    frontier.set_floor(0.5, 0.2)
    frontier.set_ceiling(SPARE)
    assert [fetch(frontier), fetch(frontier), fetch(frontier)] == ["a/1", "b/1", None]
    frontier.put(url("a/3", 0.8))
    assert [fetch(frontier, 5.0), fetch(frontier, 5.0), fetch(frontier, 5.0)] == ["a/3", "b/2", None]
    assert fetch(frontier, 10.0) == "a/2", "nobody else is left"


def test_inactive_hosts_wait_while_an_active_or_spare_one_rests_or_is_in_process(make):
    frontier = make(
        [url("a/1", 0.9), url("a/2", 0.9), url("s/1", 0.4), url("s/2", 0.4), url("low/1", 0.1)], min_delay=5.0
    )
    frontier.set_floor(0.5, 0.3)
    frontier.set_ceiling(SPARE)
    active, spare = frontier.take(0.0), frontier.take(0.0)
    assert (short(active), short(spare), take(frontier)) == ("a/1", "s/1", None), "both are in process, and have more"
    assert frontier.next_due(0.0) is None
    frontier.done(active.url, 1.0, 0.0)
    frontier.done(spare.url, 2.0, 0.0)
    assert (take(frontier, 5.9), frontier.next_due(5.9)) == (None, 6.0)
    assert [take(frontier, 6.0), take(frontier, 6.0), take(frontier, 7.0)] == ["a/2", None, "s/2"]
    assert take(frontier, 7.0) == "low/1", "those in process have nothing that waits"


@pytest.mark.parametrize("ceiling", [ACTIVE, SPARE])
def test_without_a_spare_floor_only_active_hosts_are_taken_while_one_is_awake(make, ceiling):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9), url("b/1", 0.4), url("c/1", 0.1)], min_delay=5.0)
    frontier.set_floor(0.5)
    frontier.set_ceiling(ceiling)
    assert [fetch(frontier), fetch(frontier, 4.0), fetch(frontier, 5.0)] == ["a/1", None, "a/2"]
    assert drain(frontier, 5.0) == ["b/1", "c/1"]


@pytest.mark.parametrize("how", ["block", "hold"])
def test_when_all_above_the_floors_are_blocked_or_held_the_others_are_taken(make, how):
    frontier = make(
        [url("a/1", 0.9), url("s/1", 0.4), url("best/1", 0.2), url("best/2", 0.2), url("low/1", 0.1)], min_delay=5.0
    )
    frontier.set_floor(0.5, 0.3)
    frontier.set_ceiling(SPARE)
    for host in "as":
        if how == "block":
            frontier.block_host(f"{host}.test", 60.0)
        else:
            frontier.hold(f"http://{host}.test/1", 60.0)
    assert [fetch(frontier), fetch(frontier), fetch(frontier)] == ["best/1", "low/1", None]
    assert frontier.next_due(0.0) == 5.0
    assert [fetch(frontier, 5.0), fetch(frontier, 59.0)] == ["best/2", None]
    assert [fetch(frontier, 60.0), fetch(frontier, 60.0)] == ["a/1", "s/1"]


def test_within_a_class_nobody_waits_for_a_better_host_that_rests(make):
    frontier = make([url("a/1", 0.9), url("best/1", 0.4), url("best/2", 0.2), url("low/1", 0.1)], min_delay=5.0)
    assert [fetch(frontier), fetch(frontier)] == ["a/1", "best/1"]
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    assert [take(frontier, 1.0), take(frontier, 4.0), take(frontier, 5.0)] == ["low/1", None, "best/2"]


def test_the_window_of_the_k_rule_counts_active_hosts_only(make):
    frontier = make(batch_size=3)
    frontier.put_many(url(f"{host}/{page}", 0.9) for host in "ab" for page in range(3))
    frontier.put_many(url(f"low{host}/1", 0.1) for host in range(5))
    frontier.set_floor(0.5)
    first = frontier.take(0.0)
    assert (short(first), fetch(frontier), fetch(frontier)) == ("a/0", "b/0", "b/1"), "two hosts: fewer than k"
    frontier.done(first.url, 0.0, 0.0)
    assert drain(frontier)[:3] == ["a/1", "b/2", "a/2"]


def test_a_spare_host_is_taken_whatever_the_k_rule_says(make):
    frontier = make(batch_size=2)
    for host, delay in (("a", 60.0), ("b", 60.0), ("s", 5.0)):
        frontier.crawl_delay(f"{host}.test", delay)
        frontier.put_many(url(f"{host}/{page}", 0.4 if host == "s" else 0.9) for page in range(3))
    frontier.set_floor(0.5, 0.3)
    assert [fetch(frontier) for _ in range(4)] == ["a/0", "b/0", "s/0", None]
    assert (frontier.next_due(0.0), fetch(frontier, 5.0), fetch(frontier, 10.0)) == (5.0, "s/1", "s/2")
    assert (take(frontier, 59.0), frontier.next_due(59.0)) == (None, 60.0)


def test_whether_k_hosts_wait_is_asked_of_awake_active_ones(make):
    frontier = make(batch_size=2)
    frontier.crawl_delay("a.test", 60.0)
    frontier.put_many(url(f"{host}/{page}", score) for host, score in (("a", 0.9), ("b", 0.8)) for page in range(4))
    frontier.put_many(url(f"low{host}/1", 0.1) for host in range(3))
    for host in range(3):
        frontier.block_host(f"low{host}.test", 90.0)
    frontier.set_floor(0.5)
    assert [fetch(frontier) for _ in range(3)] == ["a/0", "b/0", None], "two active hosts wait, and b was last"
    frontier.block_host("a.test", 90.0)
    assert [fetch(frontier), fetch(frontier)] == ["b/1", "b/2"], "one does, as a is blocked"


def test_a_host_below_the_floor_that_is_in_process_stops_no_other(make):
    frontier = make(
        [url("low/1", 0.3), url("low/2", 0.3), url("lower/1", 0.1), url("lower/2", 0.1), url("least/1", 0.05)]
    )
    assert take(frontier) == "low/1"
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    assert [take(frontier), take(frontier), take(frontier)] == ["lower/1", "least/1", None]


def test_a_host_whose_urls_are_all_held_is_active_until_one_may_be_taken(make):
    frontier = make(
        [url("held/1", 0.1, not_before=10.0), url("a/1", 0.9), url("a/2", 0.9), url("low/1", 0.2)], min_delay=30.0
    )
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    assert [fetch(frontier), fetch(frontier, 10.0)] == ["a/1", None], "it scores less than the floor"
    assert (frontier.next_due(10.0), fetch(frontier, 30.0)) == (30.0, "a/2")
    assert [fetch(frontier, 30.0), fetch(frontier, 30.0)] == ["low/1", "held/1"]


def test_no_floor_is_as_if_there_had_been_none(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9), url("b/1", 0.1)], min_delay=5.0)
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    assert [fetch(frontier), fetch(frontier)] == ["a/1", None]
    frontier.set_floor(-math.inf)
    assert [fetch(frontier), fetch(frontier)] == ["b/1", None]


def test_new_active_hosts_end_the_turn_of_the_others(make):
    frontier = make([url("b/1", 0.2), url("b/2", 0.2), url("c/1", 0.1)], min_delay=5.0)
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    assert fetch(frontier) == "b/1", "nobody else"
    frontier.put_many([url("a/1", 0.9), url("a/2", 0.9)])
    assert [fetch(frontier, 5.0), fetch(frontier, 5.0)] == ["a/1", None]


@pytest.mark.parametrize(
    ("across", "taken"),
    [
        (lambda frontier: frontier.put(url("low/2", 0.8)), "low/2"),
        (lambda frontier: frontier.put(url("low/1", 0.8)), "low/1"),
        (lambda frontier: frontier.rescore("http://low.test/1", 0.8), "low/1"),
        (lambda frontier: frontier.set_floor(0.05), "low/1"),
        (lambda frontier: frontier.set_floor(0.5, 0.05), "low/1"),
        (lambda frontier: frontier.rescore("http://a.test/2", 0.1), "low/1"),
        (lambda frontier: frontier.drop("http://a.test/2"), "low/1"),
        (lambda frontier: frontier.hold("http://a.test/2", 60.0), "low/1"),
        (lambda frontier: frontier.block_host("a.test", 60.0), "low/1"),
        (lambda frontier: frontier.put(url("b/1", 0.2)), None),
    ],
)
def test_hosts_cross_the_floor(make, across, taken):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9), url("low/1", 0.1)], min_delay=5.0)
    frontier.set_floor(0.5, 0.3)
    frontier.set_ceiling(SPARE)
    assert [fetch(frontier), take(frontier)] == ["a/1", None]
    across(frontier)
    assert take(frontier) == taken


def test_a_host_crosses_the_floor_when_a_url_of_it_may_be_taken_again(make):
    frontier = make(
        [url("b/1", 0.1), url("b/2", 0.9, not_before=3.0), url("a/1", 0.9), url("a/2", 0.9)], min_delay=60.0
    )
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    assert [fetch(frontier), fetch(frontier, 2.0)] == ["a/1", None]
    assert (frontier.next_due(2.0), take(frontier, 3.0)) == (3.0, "b/2")
    frontier.release("http://b.test/2", 3.0, 0.0, not_before=100.0)
    assert frontier.take(63.0) == url("a/2", 0.9)
    assert take(frontier, 63.0) == "b/1", "and below it, with a/2 in process and b/2 held, it is the best that is left"


def test_a_released_url_is_as_high_as_before(make):
    frontier = make([url("a/1", 0.9), url("b/1", 0.8), url("b/2", 0.8), url("low/1", 0.1)], min_delay=5.0)
    frontier.set_floor(0.5)
    frontier.set_ceiling(ACTIVE)
    for taken in (frontier.take(0.0), frontier.take(0.0)):
        frontier.release(taken.url, 0.0, 0.0)
    assert [take(frontier, 1.0), take(frontier, 5.0), take(frontier, 5.0)] == [None, "a/1", "b/1"]


def test_a_floor_must_be_a_number_and_a_commitment_knows_none(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9), url("b/1", 0.1)], min_delay=5.0, commit=3)
    for wrong in ((math.nan,), (0.5, math.nan)):
        with pytest.raises(ValueError, match="number"):
            frontier.set_floor(*wrong)
    frontier.set_floor(0.5)
    assert sorted(path[0] for path in drain(frontier)) == ["a", "b"]


@pytest.mark.parametrize("floor", [math.inf, 0.5])
def test_scores_without_end_are_above_every_floor(make, floor):
    frontier = make([url("a/1", math.inf), url("a/2", math.inf), url("b/1", 0.4), url("c/1", -math.inf)], min_delay=5.0)
    frontier.set_floor(floor)
    frontier.set_ceiling(ACTIVE)
    assert (frontier.best(), fetch(frontier), fetch(frontier), frontier.best()) == (math.inf, "a/1", None, math.inf)
    assert [fetch(frontier, 5.0) for _ in range(3)] == ["a/2", "b/1", "c/1"]


# ---------------------------------------------------------------- precedence


def test_a_lower_class_comes_first_whatever_the_scores(make):
    classes = [
        FIRST,
        REREADS,
        WASTE,
        PLANTED,
        UNINFORMATIVE,
        ACTIVE,
        REDUNDANT,
        REVISITS,
        SPARE,
        OVER_BUDGET,
        REPETITIVE,
    ]
    classes.append(INACTIVE)
    frontier = make(url(f"h{precedence}/", precedence / 10, precedence=precedence) for precedence in classes)
    assert frontier.best() == 0.0
    assert drain(frontier) == [f"h{precedence}/" for precedence in range(WASTE + 1)]


def test_within_a_class_the_score_decides_and_equal_ones_leave_first_in_first_out(make):
    scores = {"a": 0.25, "b": 0.5, "c": 0.5, "d": 1.0}
    frontier = make(url(f"{host}/", score, precedence=OVER_BUDGET) for host, score in scores.items())
    frontier.put(url("e/", 0.1))
    assert drain(frontier) == ["e/", "d/", "b/", "c/", "a/"]


def test_the_urls_of_a_host_leave_by_class_then_score(make):
    urls = [url("a/1", 0.9), url("a/2", 0.1, precedence=PLANTED), url("a/3", 0.5, precedence=WASTE)]
    urls += [url("a/4", 0.0, precedence=FIRST), url("b/1", 0.5), url("c/1", 0.0, precedence=OVER_BUDGET)]
    frontier = make(urls, batch_size=1)
    assert drain(frontier) == ["a/4", "a/2", "a/1", "b/1", "c/1", "a/3"]


def test_the_record_keeps_its_class(make):
    record = url("a/", 0.25, depth=3, precedence=UNINFORMATIVE)
    frontier = make([record])
    assert list(frontier.waiting()) == [record]
    assert frontier.take(0.0) == frontier.leased(record.url) == record
    frontier.release(record.url, 0.0, 0.0)
    assert list(frontier.waiting()) == [record]


@pytest.mark.parametrize("wrong", [-1, WASTE + 1])
def test_a_class_that_there_is_not_is_refused(make, wrong):
    frontier = make([url("a/")])
    refused: list[Callable[[], object]] = [
        lambda: frontier.put(url("b/", precedence=wrong)),
        lambda: frontier.set_precedence("http://a.test/", wrong),
        lambda: frontier.set_host_precedence("a.test", wrong),
        lambda: frontier.set_ceiling(wrong),
    ]
    for call in refused:
        with pytest.raises(ValueError, match="class"):
            call()
    assert drain(frontier) == ["a/"]


def test_a_link_of_a_lower_class_takes_over_whatever_its_score(make):
    frontier = make([url("a/", 0.5, depth=2, inherited=(1.0,)), url("b/", 0.4), url("c/", 0.3, precedence=PLANTED)])
    assert not frontier.put(url("a/", 0.1, depth=4, precedence=FIRST, inherited=(0.5,), parent="http://hub.test/"))
    assert not frontier.put(url("b/", 0.9, depth=7, precedence=WASTE))
    assert not frontier.put(url("c/", 0.4, precedence=PLANTED))
    assert len(frontier) == 3
    assert [frontier.take(0.0) for _ in range(3)] == [
        url("a/", 0.1, depth=2, precedence=FIRST, inherited=(1.0,), parent="http://hub.test/"),
        url("c/", 0.4, precedence=PLANTED),
        url("b/", 0.4),
    ]


def test_a_new_score_keeps_the_class(make):
    frontier = make([url("a/", 0.9, precedence=WASTE), url("b/", 0.1), url("c/", 0.5, precedence=FIRST)])
    assert frontier.rescore("http://a.test/", 5.0) and frontier.rescore("http://c.test/", 0.0)
    assert drain(frontier) == ["c/", "b/", "a/"]
    frontier = make([url("d/", 0.9, precedence=OVER_BUDGET), url("e/", 0.1)])
    frontier.done(frontier.take(0.0).url, 0.0, 0.0, 1.0, 7.0)
    frontier.done(frontier.take(0.0).url, 0.0, 0.0, 1.0, 9.0)
    assert drain(frontier, 1.0)[:2] == ["e/", "d/"]


def test_a_waiting_url_changes_its_class_and_keeps_its_place(make):
    frontier = make([url("a/", 0.5), url("b/", 0.5), url("c/", 0.5)])
    assert frontier.set_precedence("http://b.test/", OVER_BUDGET)
    assert frontier.set_precedence("http://c.test/", REVISITS)
    assert frontier.set_precedence("http://a.test/", OVER_BUDGET)
    assert frontier.set_precedence("http://unknown.test/", FIRST) is False
    assert frontier.best() == 0.5
    assert drain(frontier) == ["c/", "a/", "b/"]
    assert frontier.set_precedence("http://a.test/", FIRST) is False, "it is done"
    frontier = make([url("a/", 0.5), url("b/", 0.5)])
    for precedence in (WASTE, FIRST, ACTIVE):
        assert frontier.set_precedence("http://a.test/", precedence)
    assert drain(frontier) == ["a/", "b/"]


def test_a_held_url_that_changes_its_class_stays_held(make):
    frontier = make([url("a/", 0.1, not_before=10.0), url("b/", 0.9), url("c/", 0.8)])
    assert frontier.set_precedence("http://a.test/", FIRST)
    assert [fetch(frontier), fetch(frontier, 9.0), fetch(frontier, 9.0), fetch(frontier, 10.0)] == [
        "b/",
        "c/",
        None,
        "a/",
    ]


def test_a_leased_url_that_changes_its_class_waits_again(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("b/1", 0.1)], batch_size=2, min_delay=5.0)
    assert frontier.set_precedence(frontier.take(0.0).url, OVER_BUDGET)
    assert (len(frontier), frontier.leases()) == (3, 0)
    assert fetch(frontier) == "a/2", "neither its clock nor the k rule holds the host back"
    assert [fetch(frontier, 5.0), take(frontier, 5.0)] == ["b/1", "a/1"]
    assert frontier.leased("http://a.test/1") == url("a/1", 0.9, precedence=OVER_BUDGET)


def test_the_urls_of_a_demoted_host_come_later_but_for_those_that_come_first(make):
    frontier = make(
        [
            url("a/1", 0.9),
            url("a/2", 0.8, precedence=PLANTED),
            url("a/3", 0.1, precedence=FIRST),
            url("a/4", 0.1, precedence=REVISITS),
            url("a/5", 0.7, precedence=WASTE),
            url("b/1", 0.5),
            url("c/1", 0.5, precedence=UNINFORMATIVE),
        ],
        batch_size=1,
    )
    frontier.set_host_precedence("a.test", OVER_BUDGET)
    assert drain(frontier) == ["a/4", "a/3", "b/1", "a/2", "a/1", "c/1", "a/5"]


def test_hosts_of_one_class_leave_by_their_best_scores(make):
    frontier = make(
        [url("a/1", 0.3), url("b/1", 0.2, precedence=PLANTED), url("b/2", 0.9), url("c/1", 0.4, precedence=OVER_BUDGET)]
    )
    for host in "ab":
        frontier.set_host_precedence(f"{host}.test", OVER_BUDGET)
    assert drain(frontier) == ["c/1", "a/1", "b/1", "b/2"]


def test_the_class_of_a_host_is_known_before_its_first_url(make):
    frontier = make()
    frontier.set_host_precedence("a.test", OVER_BUDGET)
    frontier.put_many([url("a/1", 0.9), url("b/1", 0.1)])
    assert drain(frontier) == ["b/1", "a/1"]
    frontier.put_many([url("a/2", 0.9), url("b/2", 0.1)])
    assert drain(frontier) == ["b/2", "a/2"], "and remembered when it has none"


@pytest.mark.parametrize("promoted", [ACTIVE, FIRST])
def test_a_host_is_promoted_again(make, promoted):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("b/1", 0.5), url("b/2", 0.4), url("c/1", 0.3)])
    frontier.set_host_precedence("a.test", WASTE)
    assert fetch(frontier) == "b/1"
    frontier.set_host_precedence("a.test", promoted)
    assert drain(frontier) == ["a/1", "c/1", "a/2", "b/2"], "the class of a host brings nothing forward"


def test_a_host_changes_its_class_while_it_is_visited_rests_or_is_blocked(make):
    urls = [url(f"{host}/{page}", 0.9) for host in "abc" for page in (1, 2)]
    frontier = make(urls, min_delay=5.0, batch_size=1)
    frontier.put(url("d/1", 0.1))
    visited = frontier.take(0.0)
    assert (short(visited), fetch(frontier)) == ("a/1", "b/1")
    frontier.block_host("c.test", 5.0)
    for host in "abc":
        frontier.set_host_precedence(f"{host}.test", OVER_BUDGET)
    frontier.done(visited.url, 0.0, 0.0)
    frontier.put(url("e/1", 0.05))
    assert drain(frontier, 5.0) == ["d/1", "e/1", "a/2", "b/2", "c/1"]
    frontier.set_host_precedence("c.test", ACTIVE)
    frontier.put_many([url("f/1", 0.1), url("a/3", 0.9)])
    assert drain(frontier, 10.0) == ["c/2", "f/1", "a/3"]


def test_with_the_highest_ceiling_a_host_that_is_due_never_waits_for_a_better_one(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9), url("b/1", 0.1)], min_delay=5.0)
    frontier.put_many([url("waste/1", 0.1, precedence=WASTE), url("waste/2", 0.1, precedence=WASTE)])
    frontier.set_host_precedence("b.test", OVER_BUDGET)
    assert [fetch(frontier) for _ in range(4)] == ["a/1", "b/1", "waste/1", None]
    assert [frontier.next_due(0.0), fetch(frontier, 5.0), fetch(frontier, 5.0)] == [5.0, "a/2", "waste/2"]


def test_a_ceiling_waits_for_hosts_that_are_awake_and_rises_when_there_are_none(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9), url("b/1", 0.8), url("b/2", 0.7)], min_delay=5.0)
    frontier.put_many([url("c/1", 0.6, precedence=UNINFORMATIVE), url("waste/1", 0.1, precedence=WASTE)])
    frontier.set_host_precedence("b.test", OVER_BUDGET)
    frontier.set_ceiling(ACTIVE)
    assert [fetch(frontier), fetch(frontier, 4.0)] == ["a/1", None], "a rests: that is being awake"
    leased = frontier.take(5.0)
    assert short(leased) == "a/2", "the last one of a"
    assert [fetch(frontier, 5.0), fetch(frontier, 6.0)] == ["b/1", None], "up to the class of b, which rests"
    frontier.put(url("a/3", 0.5))
    assert take(frontier, 10.0) is None, "a is visited: that is being awake, too"
    frontier.hold("http://a.test/3", 60.0)
    assert fetch(frontier, 10.0) == "b/2", "a waits for a time: b is the best"
    assert [fetch(frontier, 10.0), fetch(frontier, 10.0)] == ["c/1", "waste/1"]
    frontier.done(leased.url, 10.0, 0.0)
    assert [frontier.next_due(10.0), fetch(frontier, 60.0)] == [60.0, "a/3"]


@pytest.mark.parametrize(
    ("ceiling", "taken"),
    [
        (FIRST, ["first/", "planted/", "a/1"]),
        (ACTIVE, ["first/", "planted/", "a/1"]),
        (SPARE, ["first/", "planted/", "a/1", "spare/"]),
        (INACTIVE, ["first/", "planted/", "a/1", "spare/", "low/"]),
        (OVER_BUDGET, ["first/", "planted/", "a/1", "spare/", "low/", "over/"]),
        (WASTE, ["first/", "planted/", "a/1", "spare/", "low/", "over/", "waste/"]),
    ],
)
def test_a_ceiling_and_the_floors(make, ceiling, taken):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9), url("spare/", 0.4), url("low/", 0.1)], min_delay=5.0)
    frontier.put_many([url("waste/", 9.0, precedence=WASTE), url("first/", -9.0, precedence=FIRST)])
    frontier.put_many([url("planted/", -8.0, precedence=PLANTED), url("over/", 8.0)])
    frontier.set_host_precedence("over.test", OVER_BUDGET)
    frontier.set_floor(0.5, 0.3)
    frontier.set_ceiling(ceiling)
    assert drain(frontier) == taken
    frontier.set_ceiling(WASTE)
    assert taken + drain(frontier) == ["first/", "planted/", "a/1", "spare/", "low/", "over/", "waste/"]


def test_a_ceiling_below_the_active_hosts_waits_for_those_up_to_it(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.9)], min_delay=5.0, batch_size=2, strict=False)
    frontier.put_many(url(f"first/{page}", 0.1, precedence=FIRST) for page in range(2))
    frontier.set_ceiling(REVISITS)
    assert [fetch(frontier), fetch(frontier), fetch(frontier, 5.0), fetch(frontier, 5.0)] == [
        "first/0",
        None,
        "first/1",
        "a/1",
    ]
    frontier.put(url("first/2", 0.1, precedence=FIRST))
    assert [fetch(frontier, 9.0), fetch(frontier, 10.0), fetch(frontier, 10.0)] == [None, "first/2", "a/2"]


@pytest.mark.parametrize("how", ["block", "hold"])
def test_a_ceiling_waits_for_nobody_who_waits_for_a_time(make, how):
    frontier = make([url("a/1", 0.9), url("low/1", 0.5, precedence=OVER_BUDGET), url("low/2", 0.4)], min_delay=5.0)
    frontier.set_host_precedence("low.test", OVER_BUDGET)
    frontier.set_ceiling(ACTIVE)
    if how == "block":
        frontier.block_host("a.test", 60.0)
    else:
        frontier.hold("http://a.test/1", 60.0)
    assert [fetch(frontier), frontier.next_due(0.0), fetch(frontier, 5.0)] == ["low/2", 5.0, "low/1"]
    assert [frontier.next_due(5.0), fetch(frontier, 60.0)] == [60.0, "a/1"]


def test_the_k_rule_concerns_hosts_up_to_active(make):
    frontier = make([url(f"{host}/{page}", 0.9) for host in "ab" for page in range(3)], batch_size=3)
    frontier.put_many(url(f"late{host}/{page}", 0.9, precedence=OVER_BUDGET) for host in range(3) for page in (1, 2))
    frontier.put(url("c/1", 0.9))
    frontier.set_host_precedence("c.test", WASTE)
    assert [fetch(frontier) for _ in range(6)] == ["a/0", "b/0", "a/1", "b/1", "a/2", "b/2"], "two hosts: fewer than k"
    assert [path[:5] for path in drain(frontier)] == ["late0", "late0", "late1", "late1", "late2", "late2", "c/1"]


@pytest.mark.parametrize(("k", "taken"), [(3, ["b/2", "late/1"]), (2, ["late/1", "b/2"])])
def test_a_barred_host_comes_before_those_of_higher_classes_where_the_rule_allows_it(make, k, taken):
    frontier = make([url(f"{host}/{page}", 0.9) for host in "ab" for page in (1, 2)], batch_size=k, min_delay=5.0)
    frontier.crawl_delay("a.test", 50.0)
    assert [fetch(frontier), fetch(frontier)] == ["a/1", "b/1"]
    frontier.put(url("late/1", 0.9, precedence=OVER_BUDGET))
    assert [take(frontier, 5.0), take(frontier, 5.0)] == taken, "with k = 2, b waits for a pick of another host"


def test_a_host_that_becomes_late_by_its_next_url_leaves_the_k_rule(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("a/3", 0.7), url("b/1", 0.6)], batch_size=2)
    frontier.put(url("b/2", 0.5, precedence=WASTE))
    assert drain(frontier) == ["a/1", "b/1", "a/2", "a/3", "b/2"]


def test_a_held_url_of_a_lower_class_brings_its_host_forward_in_time(make):
    urls = [url("a/1", 0.9), url("b/1", 0.8), url("b/2", 0.1, precedence=FIRST, not_before=10.0)]
    frontier = make(urls, batch_size=1)
    frontier.set_host_precedence("b.test", OVER_BUDGET)
    frontier.put(url("a/2", 0.9, not_before=10.0))
    frontier.set_ceiling(ACTIVE)
    assert [fetch(frontier), fetch(frontier), fetch(frontier, 9.0)] == ["a/1", "b/1", None]
    assert (frontier.next_due(9.0), drain(frontier, 10.0)) == (10.0, ["b/2", "a/2"])


def test_a_full_frontier_evicts_the_highest_class_first(make):
    frontier = make(max_urls=3)
    frontier.put_many([url("a/", 0.1), url("b/", 0.9, precedence=WASTE), url("c/", 0.8, precedence=OVER_BUDGET)])
    assert not frontier.put(url("d/", 0.9, precedence=WASTE)), "as bad as the worst, and later"
    assert not frontier.put(url("d/", 0.8, precedence=WASTE))
    assert frontier.put(url("e/", 0.2, precedence=OVER_BUDGET))
    assert "http://b.test/" not in frontier
    assert frontier.put(url("f/", 0.0, precedence=FIRST))
    assert (len(frontier), frontier.evicted(), "http://e.test/" in frontier) == (3, 2, False)
    assert frontier.set_precedence("http://f.test/", WASTE)
    assert frontier.put(url("g/", 0.0)), "f is the worst now"
    assert drain(frontier) == ["a/", "g/", "c/"]


def test_a_commitment_is_made_by_class_and_score(make):
    frontier = make(
        [url("a/", 0.1), url("b/", 0.9, precedence=WASTE), url("c/", 0.3, precedence=FIRST), url("d/", 0.5)], commit=2
    )
    frontier.put(url("e/", 0.9, precedence=PLANTED))
    frontier.set_host_precedence("e.test", WASTE)
    frontier.set_ceiling(REREADS)
    fetched = drain(frontier)
    assert [sorted(fetched[:2]), sorted(fetched[2:4]), fetched[4:]] == [["c/", "e/"], ["a/", "d/"], ["b/"]]


def test_a_committed_url_that_changes_its_class_stays_committed(make):
    frontier = make([url("a/", 0.9), url("b/", 0.8), url("c/", 0.1)], commit=2)
    first = short(frontier.take(0.0))
    other = {"a/": "b", "b/": "a"}[first]
    assert frontier.set_precedence(f"http://{other}.test/", WASTE)
    assert [fetch(frontier), fetch(frontier)] == [f"{other}/", "c/"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    records=st.lists(
        st.builds(
            lambda host, page, score, precedence, hold: url(
                f"h{host}/{page}", score, precedence=precedence, not_before=hold
            ),
            st.integers(0, 4),
            st.integers(0, 9),
            st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
            st.integers(0, WASTE),
            st.sampled_from([0.0, 0.0, 0.0, 0.5, 2.0]),
        ),
        min_size=1,
        max_size=25,
    ),
    hosts=st.dictionaries(st.integers(0, 4), st.integers(0, WASTE)),
    floors=st.sampled_from([(-math.inf, None), (0.5, None), (0.75, 0.5), (0.5, -math.inf)]),
    k=st.integers(1, 4),
    random=st.randoms(use_true_random=False),
)
def test_a_host_that_is_due_is_never_left_alone_whatever_its_class(make, records, hosts, floors, k, random):
    """Work conservation: with the highest ceiling only clocks, holds and leases make a URL wait."""
    frontier = make(records, min_delay=1.0, strict=False, batch_size=k)
    for number, precedence in hosts.items():
        frontier.set_host_precedence(f"h{number}.test", precedence)
    frontier.set_floor(*floors)
    rests: dict[str, float] = {}
    flying: list[str] = []
    now, left = 0.0, len(frontier)
    while left:
        while taken := frontier.take(now):
            flying.append(taken.key)
            left -= 1
        busy = {host_of(name) for name in flying}
        for waiting_one in frontier.waiting():
            host = host_of(waiting_one.url)
            assert host in busy or rests.get(host, 0.0) > now or waiting_one.not_before > now, "it might be visited"
        due = frontier.next_due(now)
        assert flying or (due is not None and due > now)
        now = due if due is not None and not (flying and random.random() < 0.5) else now + 0.25
        while flying and random.random() < 0.8:
            done = flying.pop(random.randrange(len(flying)))
            frontier.done(done, now, 0.0)
            rests[host_of(done)] = now + 1.0
    assert frontier.take(now) is None
    make.close_all()


@pytest.mark.parametrize("steps", [0, 40, 2_000])
def test_what_waits_is_counted_by_host_and_class(make, steps):
    """Also in the middle of a step, before any of it is on disk."""
    driver = Driver(make())
    frontier, now = driver.frontier, 0.0
    made = random_steps(steps, hosts=6, pages=30, classes=0.3)
    with frontier.batch():
        for step in islice(made, steps // 2):
            driver.do(step)
        check_groups(frontier, now)
    for step in islice(made, steps // 2):
        driver.do(step)
        now = step.arguments[0] if step.name == "next_due" else now
    check_groups(frontier, now)


def check_groups(frontier: Frontier, now: float) -> None:
    """The groups count the waiting URLs, and each is represented by one of its URLs."""

    def group(record: CrawlUrl) -> tuple[str, int, bool]:
        return host_of(record.url), record.precedence, record.not_before > now

    waiting_ones, counts = list(frontier.waiting()), Counter[tuple[str, int, bool]]()
    for one, number in frontier.waiting_groups(now):
        assert one in waiting_ones
        counts[group(one)] += number
    assert counts == Counter(map(group, waiting_ones))


@pytest.mark.parametrize("ceiling", [ACTIVE, SPARE, WASTE])
def test_the_class_of_a_host_may_be_lower_than_that_of_a_score_below_the_floor(make, ceiling):
    frontier = make([url("a/0", 0.0)])
    frontier.set_host_precedence("a.test", SPARE)
    frontier.set_floor(0.5)
    frontier.set_ceiling(ceiling)
    assert drain(frontier) == ["a/0"]


# ---------------------------------------------------------------- bounded


def test_a_full_frontier_keeps_the_best(make):
    frontier = make(max_urls=3)
    assert frontier.put_many([url("a/", 0.1), url("b/", 0.5), url("c/", 0.3)]) == 3
    assert frontier.put(url("d/", 0.4))
    assert (len(frontier), frontier.evicted()) == (3, 1)
    assert "http://a.test/" not in frontier
    assert not frontier.put(url("e/", 0.3)), "a newcomer as bad as the worst is refused: it came later"
    assert frontier.evicted() == 1
    assert drain(frontier) == ["b/", "d/", "c/"]


def test_to_the_letter_of_figure_1_a_newcomer_replaces_the_minimum(make):
    """001 Figure 1: ``dequeue_link_with_min_score``, then ``enqueue``, whatever the score of the new link."""
    frontier = make([url("a/", 0.1), url("b/", 0.5), url("c/", 0.3)], max_urls=3, newcomers_stay=True)
    assert frontier.put(url("d/", 0.05)), "worse than all that wait; a leaves"
    assert frontier.put(url("e/", 0.05)), "as bad as the worst; d leaves"
    assert not frontier.put(url("f/", 0.9, precedence=WASTE)), (
        "classes are not of the paper: none gives way to a later one"
    )
    assert (len(frontier), frontier.evicted()) == (3, 2)
    assert drain(frontier) == ["b/", "c/", "e/"]


def test_the_latest_of_the_worst_is_evicted(make):
    frontier = make([url("a/", 0.1), url("b/", 0.1), url("c/", 0.1), url("d/", 0.2)], max_urls=3)
    assert drain(frontier) == ["d/", "a/", "b/"]


def test_0_means_no_limit(make):
    frontier = make(max_urls=0)
    assert frontier.put_many(url(f"a/{page}") for page in range(500)) == 500
    assert frontier.evicted() == 0


# ---------------------------------------------------------------- counts


def test_a_batch_is_what_happens_inside(make):
    frontier = make([url("a/1")])
    taken = frontier.take(0.0)
    with frontier.batch():
        assert frontier.put_many([url("b/1"), url("b/2")]) == 2
        frontier.done(taken.url, 0.0, 0.0)
    assert (len(frontier), frontier.leases()) == (2, 0)


@pytest.mark.parametrize("name", [name for name in FACTORIES if name != "memory"])
def test_blocks_and_holds_survive_a_crash(tmp_path, name):
    options = {"batch_size": 50, "commit": 1, "max_urls": 0, "min_delay": 0.0, "factor": 0.0, "seed": 1}

    def reopened() -> Frontier:
        return FACTORIES[name](tmp_path, **options)

    frontier = reopened()
    frontier.put_many([url("a/1", 0.9), url("a/2", 0.8), url("b/1", 0.7), url("c/1", 0.6), url("d/1", 0.1)])
    frontier.block_host("a.test", 60.0)
    frontier.block_host("d.test", 80.0)
    frontier.block_host("d.test", 0.0)
    frontier.hold("http://b.test/1", 40.0)
    frontier.hold(frontier.take(0.0).url, 50.0)
    for _ in range(2):  # the second time from a summary, where there is one
        frontier = reopened()
    assert [fetch(frontier, now) for now in (0.0, 39.0, 40.0, 49.0, 50.0)] == ["d/1", None, "b/1", None, "c/1"]
    assert blocks(frontier) == [("a.test", 60.0, 0.9)]
    assert drain(frontier, 60.0) == ["a/1", "a/2"]
    frontier.close()


@pytest.mark.parametrize("name", [name for name in FACTORIES if name != "memory"])
def test_next_visits_survive_a_crash(tmp_path, name):
    options = {"batch_size": 50, "commit": 1, "max_urls": 0, "min_delay": 0.0, "factor": 0.0, "seed": 1}

    def reopened() -> Frontier:
        return FACTORIES[name](tmp_path, **options)

    frontier = reopened()
    frontier.put_many([url("a/1", 0.9), url("b/1", 0.8), url("c/1", 0.7)])
    frontier.done(frontier.take(0.0).url, 0.0, 0.0, 40.0, math.inf)
    frontier.done(frontier.take(0.0).url, 0.0, 0.0, 30.0, 0.3)
    fetch(frontier)
    for _ in range(2):  # the second time from a summary, where there is one
        frontier = reopened()
        assert (len(frontier), frontier.best()) == (2, math.inf)
    assert "http://c.test/1" in frontier and not frontier.put(url("c/1", 0.9))
    assert [fetch(frontier, now) for now in (29.0, 30.0, 39.0, 40.0)] == [None, "b/1", None, "a/1"]
    frontier.close()


@pytest.mark.parametrize("name", [name for name in FACTORIES if name != "memory"])
def test_the_classes_of_urls_survive_a_crash(tmp_path, name):
    options = {"batch_size": 1, "commit": 1, "max_urls": 0, "min_delay": 0.0, "factor": 0.0, "seed": 1}

    def reopened() -> Frontier:
        return FACTORIES[name](tmp_path, **options)

    frontier = reopened()
    records = [url(f"h{number}/", number / 10, precedence=number % 10) for number in range(13)]
    frontier.put_many(records)
    frontier.put(url("inf/", math.inf))
    frontier.put(url("huge/", 9e18))
    frontier.set_precedence("http://h12.test/", REREADS)
    assert frontier.set_precedence(frontier.take(0.0).url, WASTE)
    frontier.done(frontier.take(0.0).url, 0.0, 0.0, 40.0, 0.3)
    expected = sorted(frontier.waiting(), key=lambda record: record.url)
    for _ in range(2):  # the second time from a summary, where there is one
        frontier = reopened()
        assert sorted(frontier.waiting(), key=lambda record: record.url) == expected
    assert drain(frontier, 40.0) == [
        *("h10/", "h0/", "h11/", "h1/", "h2/", "h3/", "inf/", "huge/", "h4/"),
        *("h5/", "h6/", "h7/", "h8/", "h9/", "h12/"),
    ]
    frontier.close()


def test_keys_of_a_spiders_own_requests_are_urls_too(make):
    frontier = make(min_delay=1.0)
    keys = ["ftp://files.test/a", "data:,x", "http://a.test:8080/x#1", "https://[::1]:81/", "http://a.test"]
    frontier.put_many(CrawlUrl(key, -place) for place, key in enumerate(keys))
    taken = [frontier.take(0.0) for _ in range(4)]
    assert [record.url for record in taken] == keys[:4]
    assert frontier.take(0.0) is None, "the last is of the host of the third, whatever the port"


# ---------------------------------------------------------------- Best-N-First (paper 001 Figure 1)


def test_n_urls_are_committed_before_the_frontier_looks_again(make):
    frontier = make(
        (url(f"{host}/", score) for host, score in zip("abcde", (0.5, 0.4, 0.3, 0.2, 0.1), strict=True)), commit=3
    )
    first = [fetch(frontier)]
    frontier.put(url("f/", 0.9))
    first += [fetch(frontier), fetch(frontier)]
    assert sorted(first) == ["a/", "b/", "c/"]
    assert sorted([fetch(frontier), fetch(frontier), fetch(frontier)]) == ["d/", "e/", "f/"]


def test_the_committed_leave_in_random_order(make):
    orders = set()
    for seed in range(12):
        frontier = make(commit=4, seed=seed)
        frontier.put_many(url(f"{host}/", score) for host, score in zip("abcde", (5, 4, 3, 2, 1), strict=True))
        orders.add("".join(drain(frontier)[:4]))
    assert len(orders) > 3


def test_the_committed_wait_for_their_hosts_and_nobody_overtakes(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("b/1", 0.1)], commit=2, min_delay=5.0, batch_size=1)
    fetch(frontier, 0.0)
    assert frontier.take(0.0) is None, "b is not committed"
    assert frontier.next_due(0.0) == 5.0
    assert fetch(frontier, 5.0)[0] == "a"
    assert fetch(frontier, 5.0) == "b/1"


def test_urls_with_a_time_to_come_are_not_committed(make):
    frontier = make([url("a/1", 0.9, not_before=10.0), url("b/1", 0.2), url("c/1", 0.1), url("d/1", 0.05)], commit=2)
    assert sorted([fetch(frontier, 0.0), fetch(frontier, 0.0)]) == ["b/1", "c/1"]
    assert sorted([fetch(frontier, 10.0), fetch(frontier, 10.0)]) == ["a/1", "d/1"]


def test_a_released_url_stays_committed_and_one_that_must_wait_does_not(make):
    frontier = make([url("a/1", 0.9), url("b/1", 0.8), url("c/1", 0.1)], commit=2)
    released = frontier.take(0.0)
    frontier.release(released.url, 0.0, 0.0, picked=False)
    assert frontier.take(0.0) == released
    frontier.release(released.url, 0.0, 0.0, not_before=10.0)
    assert {fetch(frontier), short(released)} == {"a/1", "b/1"}
    assert fetch(frontier) == "c/1"
    assert frontier.take(10.0) == replace(released, not_before=10.0)


def test_what_is_committed_has_left_the_buffer(make):
    """001 Figure 1: ``dequeue_top_links`` removes N links from the frontier, in which up to ``MAX_BUFFER`` links wait."""
    frontier = make((url(f"seed{number}/", 1.0) for number in range(8)), commit=8, max_urls=8)
    first = frontier.take(0.0)
    children = [url(f"child{number}/", 0.1 * number) for number in range(1, 11)]
    assert [frontier.put(child) for child in children] == [True] * 10
    assert (len(frontier), frontier.evicted(), frontier.leases()) == (7 + 8, 2, 1)
    frontier.done(first.url, 0.0, 0.0)
    fetched = drain(frontier)
    assert sorted([short(first), *fetched[:7]]) == [f"seed{number}/" for number in range(8)]
    assert sorted(fetched[7:]) == sorted(short(child) for child in children[2:])


def test_a_commitment_keeps_counts_scores_and_evictions_right(make):
    frontier = make([url("a/", 0.9), url("b/", 0.8), url("c/", 0.7), url("d/", 0.1)], commit=2, max_urls=4)
    left = take(frontier)
    assert (len(frontier), frontier.hosts(), frontier.leases()) == (3, 3, 1)
    committed = {"a/": "http://b.test/", "b/": "http://a.test/"}[left]
    assert frontier.rescore(committed, 0.01), "it is the worst now, but not in the buffer"
    frontier.put_many([url("e/", 0.5), url("f/", 0.4), url("g/", 0.3)])
    assert (committed in frontier, "http://d.test/" in frontier) == (True, False)
    assert (frontier.evicted(), len(frontier), frontier.hosts()) == (1, 5, 5)
    assert frontier.hold(committed, 5.0), "it returns to the buffer, which is full"
    assert (committed in frontier, frontier.evicted(), len(frontier)) == (False, 2, 4)
    assert sorted([fetch(frontier), fetch(frontier)]) == ["c/", "e/"]
    assert sorted(drain(frontier)) == ["f/", "g/"]


def test_the_k_rule_is_stronger_than_the_commitment(make):
    frontier = make([url("a/1", 0.9), url("a/2", 0.8), url("a/3", 0.7), url("b/1", 0.1)], commit=3, batch_size=2)
    taken = [fetch(frontier) for _ in range(4)]
    assert sorted(taken) == ["a/1", "a/2", "a/3", "b/1"]
    assert taken[1] == "b/1", "a is barred, and all that is committed is behind it"


@pytest.mark.parametrize("commit", [1, 3])
def test_the_hosts_with_the_most_waiting_urls_can_be_listed(make: Make, commit: int) -> None:
    frontier = make(min_delay=5.0, commit=commit)
    if not isinstance(frontier, WatchedFrontier):
        pytest.skip("it lists no hosts")
    for host, count in (("crowd", 4), ("pair", 2), ("single", 1)):
        for number in range(count):
            frontier.put(CrawlUrl(f"http://{host}.example/{number}", 0.1 * number))
    hosts = set()
    while taken := frontier.take(100.0):  # one of each host
        frontier.done(taken.url, 101.0, 0.0)
        hosts.add(taken.url)
    assert len(hosts) == 3
    if commit > 1:  # the best three were committed and may be left out of the count
        assert {host.host for host in frontier.busiest(5)} <= {"crowd.example", "pair.example"}
        return
    crowd, pair = frontier.busiest(5)
    assert (crowd.host, crowd.waiting, crowd.due, crowd.leased) == ("crowd.example", 3, 106.0, False)
    assert (pair.host, pair.waiting) == ("pair.example", 1)
    assert crowd.best == pytest.approx(0.2)
    assert frontier.busiest(1) == [crowd]


def test_a_visit_for_something_else_is_a_visit(make):
    frontier = make(min_delay=2.0, factor=3.0)
    for host in ("a", "b"):
        frontier.put(url(f"{host}/1"))
        frontier.put(url(f"{host}/2"))
    now = 10.0
    assert frontier.visit("a.test", now) == now
    assert frontier.visit("a.test", now) == math.inf, "one at a time"
    assert short(frontier.take(now)) == "b/1" and frontier.take(now + 0.2) is None
    assert frontier.visit("b.test", now) == math.inf, "a page of it is being fetched"
    frontier.visited("a.test", now + 1.0, 1.0)
    assert frontier.visit("a.test", now + 1.5) == pytest.approx(now + 4.0, abs=0.1), "it rests as long as after a page"
    assert frontier.take(now + 3.9) is None
    assert short(frontier.take(now + 4.0)) == "a/1"


def test_a_visit_waits_for_a_block_and_may_be_to_a_host_that_nobody_knows(make):
    frontier = make(min_delay=2.0)
    frontier.block_host("a.test", 50.0)
    assert frontier.visit("a.test", 10.0) == 50.0
    assert frontier.visit("new.test", 10.0) == 10.0
    frontier.visited("new.test", 11.0, 1.0)
    assert frontier.visit("new.test", 12.0) == pytest.approx(13.0, abs=0.1)
    assert frontier.visit("new.test", 13.0) == 13.0
    frontier.visited("new.test", 13.0, 0.0)
    assert len(frontier) == 0 and frontier.hosts() == 0


def test_a_visit_to_another_name_of_the_server_that_is_visited_is_part_of_that(make):
    frontier = make(min_delay=2.0)
    frontier.put(url("a/1"))
    for host in ("a.test", "static.test"):
        frontier.host_address(host, "192.0.2.1")
    assert short(frontier.take(10.0)) == "a/1"
    assert frontier.visit("static.test", 10.0) == math.inf
    assert [frontier.visit("static.test", 10.0, "a.test") for _ in range(2)] == [10.0, 10.0]
    frontier.visited("static.test", 11.0, 1.0)
    assert frontier.visit("static.test", 11.0, "a.test") == 11.0
    assert frontier.visit("static.test", 11.0) == math.inf, "the page is still being fetched"
    frontier.done("http://a.test/1", 12.0, 2.0)
    assert frontier.visit("static.test", 12.0) == pytest.approx(14.0, abs=0.1)
