"""The frontiers in memory and on disk against a naive model of the contract: every answer, on random operations."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.frontier.base import Frontier
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import ACTIVE, FIRST, INACTIVE, OVER_BUDGET, REVISITS, SPARE, WASTE, CrawlUrl
from crawlproject.urls.hosts import host_of

MIN_DELAY, FACTOR = 1.0, 2.0
BY_FLOOR = (SPARE, INACTIVE)  # the classes that only a floor assigns


class Waiting:
    def __init__(self, record: CrawlUrl, arrival: int) -> None:
        self.record = record
        self.arrival = arrival
        self.position: int | None = None  # place in the committed batch

    @property
    def key(self) -> tuple[float, ...]:
        """Class, score and arrival; or the place in the batch."""
        if self.position is not None:
            return (self.position, self.arrival)
        return (self.record.precedence, -self.record.score, self.arrival)


class Model:
    """The contract, with O(n) per operation."""

    def __init__(
        self, k: int, commit: int, max_urls: int, random: Random, *, strict: bool = True, newcomers_stay: bool = False
    ) -> None:
        self.newcomers_stay = newcomers_stay
        self.k, self.commit, self.max_urls, self.random, self.strict = k, commit, max_urls, random, strict
        self.floor = self.spare = -math.inf
        self.ceiling = WASTE
        self.host_classes: dict[str, int] = {}
        self.waiting: dict[str, Waiting] = {}
        self.leases: dict[str, Waiting] = {}
        self.done_urls: set[str] = set()
        self.picks: list[str] = []
        self.clocks: dict[str, float] = {}
        self.delays: dict[str, float] = {}
        self.blocks: dict[str, float] = {}
        self.arrivals = 0
        self.evicted = 0
        self.looked = 0.0

    def put(self, record: CrawlUrl) -> bool:
        known = self.waiting.get(record.url)
        if known:
            old, new = known.record, record
            best = new if (new.precedence, -new.score) < (old.precedence, -old.score) else old
            depth = min(old.depth, new.depth)
            inherited = best.inherited
            if len(old.inherited) == len(new.inherited):
                inherited = tuple(max(pair) for pair in zip(old.inherited, new.inherited, strict=True))
            self.revise(known, replace(best, depth=depth, inherited=inherited))
            return False
        if record.url in self.leases or record.url in self.done_urls:
            return False
        if self.max_urls and len(self.buffer()) >= self.max_urls:
            worst = self.worst().record
            if record.precedence > worst.precedence:
                return False
            if record.precedence == worst.precedence and record.score <= worst.score and not self.newcomers_stay:
                return False
            self.evict()
        self.waiting[record.url] = Waiting(record, self.arrivals)
        self.arrivals += 1
        return True

    def revise(self, known: Waiting, record: CrawlUrl) -> None:
        known.record = record
        if record.not_before > self.looked:
            known.position = None  # a held URL is not committed
            self.evict_surplus()

    def buffer(self) -> list[Waiting]:
        """The waiting URLs outside the committed batch (paper 001 Figure 1)."""
        return [waiting for waiting in self.waiting.values() if waiting.position is None]

    def evict_surplus(self) -> None:
        if self.max_urls and len(self.buffer()) > self.max_urls:
            self.evict()

    def worst(self) -> Waiting:
        return max(self.buffer(), key=lambda waiting: waiting.key)

    def evict(self) -> None:
        del self.waiting[self.worst().record.url]
        self.evicted += 1

    def candidates(self) -> list[Waiting]:
        """The URLs that may be taken: all waiting URLs, or the committed batch."""
        everything = list(self.waiting.values())
        return everything if self.commit == 1 else [one for one in everything if one.position is not None]

    def look_again(self, now: float) -> None:
        if self.commit == 1 or self.candidates():
            return
        self.looked = max(self.looked, now)
        ripe = [waiting for waiting in self.waiting.values() if waiting.record.not_before <= self.looked]
        best = sorted(ripe, key=lambda waiting: waiting.key)[: self.commit]
        self.random.shuffle(best)
        for position, waiting in enumerate(best):
            waiting.position = position

    def choose(self, now: float) -> Waiting | None:
        everything = list(self.waiting.values())
        if self.commit == 1:
            return self.choose_by_class(everything, now)
        hosts = {host_of(waiting.record.url) for waiting in everything}
        few = not self.strict or len([host for host in hosts if self.may_wake(host, now)]) < self.k
        barred = self.barred_of(hosts)
        batch = self.candidates()
        chosen = self.free(batch, barred, now)
        if chosen is None and all(self.is_stopped(host_of(one.record.url), barred, now) for one in batch):
            pool = [waiting for waiting in everything if waiting.position is None]
            chosen = self.free(pool, barred, now) or self.oldest(pool, few, now)
        return chosen or self.oldest(batch, few, now)

    def choose_by_class(self, everything: list[Waiting], now: float) -> Waiting | None:
        classes = {host: self.class_of(host, now) for host in {host_of(one.record.url) for one in everything}}
        awake = {host for host in classes if self.may_wake(host, now)}
        limit = max([self.ceiling, min((classes[host] for host in awake), default=0)])
        counted = {host for host in classes if classes[host] <= ACTIVE}
        barred, few = self.barred_of(counted), not self.strict or len(awake & counted) < self.k

        def of_hosts(hosts: set[str]) -> list[Waiting]:
            """The first URL of each of these hosts whose class is not above the limit."""
            firsts = {host: self.first_of(host, now) for host in hosts if classes[host] <= limit}
            return [first for first in firsts.values() if first is not None]

        chosen = self.free(of_hosts(counted), barred, now) or self.oldest(of_hosts(counted), few, now)
        for late in range(SPARE, WASTE + 1):
            of_class = of_hosts({host for host in classes if classes[host] == late})
            free = [one for one in of_class if self.may_go(one.record, now)]
            chosen = chosen or min(free, key=lambda one: one.key[1:], default=None)
        return chosen

    def first_of(self, host: str, now: float) -> Waiting | None:
        """The first URL of the host that is due."""
        ripe = [
            one for one in self.waiting.values() if host_of(one.record.url) == host and one.record.not_before <= now
        ]
        return min(ripe, key=lambda one: one.key, default=None)

    def class_of(self, host: str, now: float) -> int:
        own, first = max(self.host_classes.get(host, ACTIVE), ACTIVE), self.first_of(host, now)
        if first is None:
            return own
        precedence, score = first.record.precedence, first.record.score
        if precedence > FIRST and own > ACTIVE:
            precedence = max(precedence, own)
        if precedence != ACTIVE or score >= self.floor:
            return precedence
        return SPARE if score >= self.spare else INACTIVE

    def barred_of(self, hosts: set[str]) -> set[str]:
        window = min(self.k, len(hosts)) - 1
        return set(self.picks[-window:]) if window > 0 else set()

    def set_floor(self, floor: float, spare: float) -> None:
        self.floor, self.spare = floor, min(floor, spare)

    def set_ceiling(self, precedence: int) -> None:
        self.ceiling = precedence

    def set_host_precedence(self, host: str, precedence: int) -> None:
        self.host_classes[host] = precedence

    def set_precedence(self, url: str, precedence: int) -> bool:
        if url in self.leases:
            self.leases[url].record = replace(self.leases[url].record, precedence=precedence)
            return self.hold(url, 0.0)
        if url in self.waiting:
            known = self.waiting[url]
            known.record = replace(known.record, precedence=precedence)
        return url in self.waiting

    def free(self, candidates: list[Waiting], barred: set[str], now: float) -> Waiting | None:
        free = [one for one in candidates if self.may_go(one.record, now) and host_of(one.record.url) not in barred]
        return min(free, key=lambda waiting: waiting.key, default=None)

    def may_wake(self, host: str, now: float) -> bool:
        """Whether a URL of the host may be taken, apart from politeness."""
        records = [waiting.record for waiting in self.waiting.values() if host_of(waiting.record.url) == host]
        return self.blocks.get(host, 0.0) <= now and any(record.not_before <= now for record in records)

    def is_stopped(self, host: str, barred: set[str], now: float) -> bool:
        return host in barred or self.blocks.get(host, 0.0) > now

    def oldest(self, candidates: list[Waiting], few: bool, now: float) -> Waiting | None:
        takeable = [one for one in candidates if self.may_go(one.record, now)]
        if not takeable or not few:
            return None
        last_pick = {host: number for number, host in enumerate(self.picks)}
        oldest = min((host_of(one.record.url) for one in takeable), key=last_pick.__getitem__)
        return min((one for one in takeable if host_of(one.record.url) == oldest), key=lambda one: one.key)

    def may_go(self, record: CrawlUrl, now: float) -> bool:
        host = host_of(record.url)
        flying = {host_of(url) for url in self.leases}
        begins = max(record.not_before, self.clocks.get(host, -math.inf), self.blocks.get(host, 0.0))
        return begins <= now and host not in flying

    def take(self, now: float) -> CrawlUrl | None:
        self.look_again(now)
        chosen = self.choose(now)
        if chosen is None:
            return None
        url = chosen.record.url
        self.leases[url] = self.waiting.pop(url)
        self.picks.append(host_of(url))
        return chosen.record

    def next_due(self, now: float) -> float | None:
        self.look_again(now)
        times = {now}
        for waiting in self.waiting.values():
            clock = self.clocks.get(host_of(waiting.record.url), -math.inf)
            times |= {max(now, time) for time in (clock, waiting.record.not_before, *self.blocks.values())}
        if self.choose(now) is not None:
            return now
        return next((time for time in sorted(times) if self.choose(time)), None)

    def best(self) -> float | None:
        records = [waiting.record for waiting in self.waiting.values()]
        first = min(records, key=lambda record: (record.precedence, -record.score), default=None)
        return first.score if first else None

    def rest(self, url: str, finish: float, seconds: float) -> None:
        host = host_of(url)
        due = finish + max(MIN_DELAY, self.delays.get(host, 0.0), FACTOR * seconds)
        self.clocks[host] = max(due, self.clocks.get(host, -math.inf))

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        if url in self.done_urls:
            return
        self.rest(url, now, seconds)
        known = self.leases.get(url) or self.waiting.get(url)
        if refetch_at is None or known is None:
            self.know(url)
            return
        record = replace(known.record, not_before=refetch_at)
        record = record if score is None else replace(record, score=score)
        if self.leases.pop(url, None):
            known.position = None
            self.waiting[url] = known
        self.revise(known, record)
        self.evict_surplus()

    def know(self, url: str) -> None:
        self.leases.pop(url, None)
        self.waiting.pop(url, None)
        self.done_urls.add(url)

    def drop(self, url: str) -> None:
        if url in self.leases:
            self.give_back(host_of(url))
        self.know(url)

    def give_back(self, host: str) -> None:
        last = max(number for number, picked in enumerate(self.picks) if picked == host)
        del self.picks[last]

    def release(self, url: str, now: float, seconds: float, *, not_before: float, picked: bool) -> None:
        if url not in self.leases:
            return
        self.rest(url, now, seconds)
        if not picked:
            self.give_back(host_of(url))
        self.wait_again(url, not_before)

    def wait_again(self, url: str, not_before: float) -> None:
        lease = self.leases.pop(url)
        lease.record = replace(lease.record, not_before=not_before)
        lease.position = -1 if self.commit > 1 and not_before <= self.looked else None
        self.waiting[url] = lease
        self.evict_surplus()

    def hold(self, url: str, until: float) -> bool:
        if url in self.leases:
            self.give_back(host_of(url))
            self.wait_again(url, until)
            return True
        if url in self.waiting:
            known = self.waiting[url]
            self.revise(known, replace(known.record, not_before=until))
        return url in self.waiting

    def block_host(self, host: str, until: float) -> None:
        self.blocks[host] = until

    def rescore(self, url: str, score: float) -> bool:
        if url not in self.waiting:
            return False
        self.waiting[url].record = replace(self.waiting[url].record, score=score)
        return True

    def crawl_delay(self, host: str, seconds: float) -> None:
        self.delays[host] = seconds


SCORES = st.sampled_from([-math.inf, -1.0, 0.0, 0.25, 0.5, 0.75, 1.0, math.inf])
URLS = st.builds(lambda host, page: f"http://h{host}.test/{page}", st.integers(0, 6), st.integers(0, 5))
CLASSES = st.sampled_from(
    [ACTIVE, ACTIVE, *(precedence for precedence in range(WASTE + 1) if precedence not in BY_FLOOR)]
)
WAITS = st.sampled_from([0.0, 0.0, 0.0, 0.5, 3.0])  # from now on; 0: any time
SECONDS = st.sampled_from([0.0, 0.25, 1.0, 2.0])
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), URLS, SCORES, WAITS, CLASSES),
    st.tuples(st.just("put"), URLS, SCORES, WAITS, st.just(ACTIVE)),
    st.tuples(st.just("take")),
    st.tuples(st.just("take")),
    st.tuples(st.just("pass"), SECONDS),
    st.tuples(st.just("wake")),
    st.tuples(st.just("finish"), st.integers(0, 3), SECONDS),
    st.tuples(st.just("finish"), st.integers(0, 3), SECONDS),
    st.tuples(st.just("refetch"), st.integers(0, 3), SECONDS, WAITS, st.none() | SCORES),
    st.tuples(st.just("refetch_any"), URLS, WAITS, st.none() | SCORES),
    st.tuples(st.just("release"), st.integers(0, 3), SECONDS, WAITS, st.booleans()),
    st.tuples(st.just("drop"), st.integers(0, 3)),
    st.tuples(st.just("drop_any"), URLS),
    st.tuples(st.just("done"), URLS, SECONDS),
    st.tuples(st.just("rescore"), URLS, SCORES),
    st.tuples(st.just("crawl_delay"), URLS, SECONDS),
    st.tuples(st.just("hold"), URLS, WAITS),
    st.tuples(st.just("hold_lease"), st.integers(0, 3), WAITS),
    st.tuples(st.just("block_host"), URLS, WAITS),
    st.tuples(st.just("set_floor"), SCORES, SCORES),
    st.tuples(st.just("set_precedence"), URLS, CLASSES),
    st.tuples(st.just("reclass_lease"), st.integers(0, 3), CLASSES),
    st.tuples(st.just("set_host_precedence"), URLS, CLASSES),
    st.tuples(st.just("set_ceiling"), st.sampled_from([REVISITS, ACTIVE, SPARE, INACTIVE, WASTE])),
)


def make_memory(**options: Any) -> Frontier:
    return MemoryFrontier(**options)


def make_disk(**options: Any) -> Frontier:
    """A frontier on disk that removes its folder when it is closed; a few URLs exceed its limits."""
    folder = tempfile.TemporaryDirectory()
    limits = MemoryLimits(shared=3, host=2, crowd=2, hosts=3)
    frontier = DiskFrontier(Path(folder.name), clock=lambda: 0.0, limits=limits, **options)
    close = frontier.close

    def close_and_remove() -> None:
        close()
        folder.cleanup()

    frontier.close = close_and_remove  # type: ignore[method-assign]
    return frontier


class Pair:
    """A frontier and its model, driven together."""

    def __init__(
        self,
        make: Callable[..., Frontier],
        k: int,
        commit: int,
        max_urls: int,
        *,
        strict: bool = True,
        newcomers_stay: bool = False,
    ) -> None:
        self.frontier = make(
            batch_size=k,
            strict=strict,
            commit=commit,
            max_urls=max_urls,
            newcomers_stay=newcomers_stay,
            politeness=Politeness(MIN_DELAY, FACTOR),
            random=Random(5),
        )
        self.has_classes = False
        self.model = Model(k, commit, max_urls, Random(5), strict=strict, newcomers_stay=newcomers_stay)
        self.now = 1.0

    def both(self, method: str, *arguments: Any, **options: Any) -> Any:
        ours = getattr(self.frontier, method)(*arguments, **options)
        theirs = getattr(self.model, method)(*arguments, **options)
        assert ours == theirs, (method, arguments, self.now, ours, theirs)
        return ours

    def lease(self, index: int) -> str:
        """One of the open leases, or a URL that has none."""
        leases = list(self.model.leases)
        return leases[index % len(leases)] if leases else "http://h0.test/never"

    def do(self, operation: str, *values: Any) -> None:
        now = self.now
        match operation, values:
            case "put", (url, score, wait, precedence):
                self.has_classes |= precedence != ACTIVE
                self.both("put", CrawlUrl(url, score, not_before=now + wait if wait else 0.0, precedence=precedence))
            case "set_precedence", (url, precedence):
                self.has_classes = True
                self.both("set_precedence", url, precedence)
            case "reclass_lease", (index, precedence):
                self.has_classes = True
                self.both("set_precedence", self.lease(index), precedence)
            case "set_host_precedence", (url, precedence):
                self.has_classes = True
                self.both("set_host_precedence", host_of(url), precedence)
            case "set_ceiling", (precedence,):
                self.both("set_ceiling", precedence)
            case "take", ():
                self.both("take", now)
            case "pass", (seconds,):
                self.now += seconds
            case "wake", () if self.model.floor > -math.inf or self.has_classes:  # a host that has to wait may wake
                due, expected = self.frontier.next_due(now), self.model.next_due(now)
                assert expected is None or (due is not None and due <= expected)
                self.now = max(now, due or now)
                self.both("take", self.now)
            case "wake", ():
                self.now = max(now, self.both("next_due", now) or now)
                self.both("take", self.now)
            case "finish", (index, seconds):
                if self.model.leases:
                    self.both("done", self.lease(index), now + 0.125, seconds)
            case "refetch", (index, seconds, wait, score):
                self.both("done", self.lease(index), now, seconds, now + wait if wait else 0.0, score)
            case "refetch_any", (url, wait, score):
                self.both("done", url, now, 0.25, now + wait if wait else 0.0, score)
            case "release", (index, seconds, wait, picked):
                not_before = now + wait if wait else 0.0
                self.both("release", self.lease(index), now, seconds, not_before=not_before, picked=picked)
            case "drop", (index,):
                self.both("drop", self.lease(index))
            case "drop_any", (url,):
                self.both("drop", url)
            case "done", (url, seconds):
                self.both("done", url, now, seconds)
            case "rescore", (url, score):
                self.both("rescore", url, score)
            case "hold", (url, wait):
                self.both("hold", url, now + wait if wait else 0.0)
            case "hold_lease", (index, wait):
                self.both("hold", self.lease(index), now + wait if wait else 0.0)
            case "block_host", (url, wait):
                self.both("block_host", host_of(url), now + wait if wait else 0.0)
            case "set_floor", (floor, spare):
                self.both("set_floor", floor, spare)
            case "crawl_delay", (url, seconds):
                self.both("crawl_delay", host_of(url), seconds * 3)

    def compare(self) -> None:
        frontier, model = self.frontier, self.model
        waiting = {url: waiting.record for url, waiting in model.waiting.items()}
        assert {record.url: record for record in frontier.waiting()} == waiting
        assert len(frontier) == len(waiting)
        assert frontier.hosts() == len({host_of(url) for url in waiting})
        assert frontier.best() == model.best()
        assert frontier.leases() == len(model.leases)
        assert all(frontier.leased(url) == lease.record for url, lease in model.leases.items())
        assert frontier.evicted() == model.evicted
        assert all(url in frontier for url in [*waiting, *model.leases, *model.done_urls])


def check(
    make: Callable[..., Frontier], k: int, commit: int, max_urls: int, strict: bool, stay: bool, operations: list[Any]
) -> None:
    pair = Pair(make, k, commit, max_urls, strict=strict, newcomers_stay=stay)
    for operation in operations:
        pair.do(*operation)
        pair.compare()
    pair.frontier.close()


CASES = given(
    k=st.integers(1, 8),
    commit=st.sampled_from([1, 1, 2, 5]),
    max_urls=st.sampled_from([0, 0, 3, 10]),
    strict=st.booleans(),
    stay=st.booleans(),
    operations=st.lists(OPERATIONS, max_size=120),
)


@settings(max_examples=400, deadline=None)
@CASES
def test_every_answer_is_the_models(k, commit, max_urls, strict, stay, operations):
    check(make_memory, k, commit, max_urls, strict, stay, operations)


@settings(max_examples=150, deadline=None)
@CASES
def test_every_answer_of_the_frontier_on_disk_is_the_models(k, commit, max_urls, strict, stay, operations):
    check(make_disk, k, commit, max_urls, strict, stay, operations)


@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.sampled_from([1, 4, 20, 50]),
    commit=st.sampled_from([1, 16]),
    floors=st.sampled_from([0.0, 0.05]),
    classes=st.sampled_from([0.0, 0.1]),
    make=st.sampled_from([make_memory, make_disk]),
)
def test_long_crawls_take_the_models_way(seed, k, commit, floors, classes, make):
    random = Random(seed)
    pair = Pair(make, k, commit, max_urls=150)
    for _ in range(400):
        host, page = min(random.randrange(40), random.randrange(40)), random.randrange(30)
        precedence = random.choice([REVISITS, OVER_BUDGET, WASTE]) if random.random() < classes else ACTIVE
        pair.do("put", f"http://h{host}.test/{page}", random.randrange(8) / 8, 0.0, precedence)
        if random.random() < classes:
            pair.do(
                "set_host_precedence", f"http://h{random.randrange(40)}.test/", random.choice([ACTIVE, OVER_BUDGET])
            )
            pair.do("set_ceiling", random.choice([ACTIVE, SPARE, WASTE]))
        if random.random() < 0.4:
            pair.do("wake")
        if random.random() < 0.3:
            pair.do("finish", random.randrange(9), random.random())
        if random.random() < floors:
            pair.both("set_floor", floor := random.random(), floor * random.random())
        if random.random() < 0.1:
            pair.do("release", random.randrange(9), 0.1, random.choice([0.0, 2.0]), random.random() < 0.5)
    pair.compare()
    pair.frontier.close()
