"""The frontier in memory against the contract written down naively: every answer compared, on random operations."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl
from crawlproject.urls.hosts import host_of

MIN_DELAY, FACTOR = 1.0, 2.0


class Waiting:
    def __init__(self, record: CrawlUrl, arrival: int) -> None:
        self.record = record
        self.arrival = arrival
        self.position: int | None = None  # in the committed batch

    @property
    def key(self) -> tuple[float, int]:
        return (-self.record.score if self.position is None else self.position, self.arrival)


class Model:
    """The contract, O(n) an operation."""

    def __init__(self, k: int, commit: int, max_urls: int, random: Random, *, strict: bool = True) -> None:
        self.k, self.commit, self.max_urls, self.random, self.strict = k, commit, max_urls, random, strict
        self.floor = self.spare = -math.inf
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
            best = new if new.score > old.score else old
            depth = min(old.depth, new.depth)
            inherited = best.inherited
            if len(old.inherited) == len(new.inherited):
                inherited = tuple(max(pair) for pair in zip(old.inherited, new.inherited, strict=True))
            self.revise(known, replace(best, depth=depth, inherited=inherited))
            return False
        if record.url in self.leases or record.url in self.done_urls:
            return False
        if self.max_urls and len(self.buffer()) >= self.max_urls:
            if record.score <= self.worst().record.score:
                return False
            self.evict()
        self.waiting[record.url] = Waiting(record, self.arrivals)
        self.arrivals += 1
        return True

    def revise(self, known: Waiting, record: CrawlUrl) -> None:
        known.record = record
        if record.not_before > self.looked:
            known.position = None  # what is held is not committed
            self.evict_surplus()

    def buffer(self) -> list[Waiting]:
        """What waits beside the committed batch (paper 001 Figure 1)."""
        return [waiting for waiting in self.waiting.values() if waiting.position is None]

    def evict_surplus(self) -> None:
        if self.max_urls and len(self.buffer()) > self.max_urls:
            self.evict()

    def worst(self) -> Waiting:
        return min(self.buffer(), key=lambda waiting: (waiting.record.score, -waiting.arrival))

    def evict(self) -> None:
        del self.waiting[self.worst().record.url]
        self.evicted += 1

    def candidates(self) -> list[Waiting]:
        """What the frontier looks at: all that waits, or the committed batch."""
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
        hosts = {host_of(waiting.record.url) for waiting in everything}
        if self.floor > -math.inf and self.commit == 1:
            return self.choose_above_floor(everything, hosts, now)
        few = not self.strict or len([host for host in hosts if self.may_wake(host, now)]) < self.k
        barred = self.barred_of(hosts)
        if self.commit == 1:
            return self.free(everything, barred, now) or self.oldest(everything, few, now)
        batch = self.candidates()
        chosen = self.free(batch, barred, now)
        if chosen is None and all(self.is_stopped(host_of(one.record.url), barred, now) for one in batch):
            pool = [waiting for waiting in everything if waiting.position is None]
            chosen = self.free(pool, barred, now) or self.oldest(pool, few, now)
        return chosen or self.oldest(batch, few, now)

    def choose_above_floor(self, everything: list[Waiting], hosts: set[str], now: float) -> Waiting | None:
        best: dict[str, float | None] = dict.fromkeys(hosts)
        for record in sorted((one.record for one in everything), key=lambda record: record.score):
            if record.not_before <= now:
                best[host_of(record.url)] = record.score
        awake = {host for host in hosts if best[host] is not None and self.blocks.get(host, 0.0) <= now}
        active = {host for host in hosts if best[host] is None or best[host] >= self.floor}
        of_active = [waiting for waiting in everything if host_of(waiting.record.url) in active]
        few = not self.strict or len(awake & active) < self.k
        chosen = self.free(of_active, self.barred_of(active), now) or self.oldest(of_active, few, now)
        while chosen is None:
            spare = {host for host in hosts - active if best[host] >= self.spare}
            chosen = self.free([one for one in everything if host_of(one.record.url) in spare], set(), now)
            inactive = hosts - active - spare - {host_of(url) for url in self.leases}
            if chosen or not inactive or awake & (active | spare):
                break
            self.spare = max(best[host] for host in inactive)
        return chosen

    def barred_of(self, hosts: set[str]) -> set[str]:
        window = min(self.k, len(hosts)) - 1
        return set(self.picks[-window:]) if window > 0 else set()

    def set_floor(self, floor: float, spare: float) -> None:
        self.floor, self.spare = floor, min(floor, spare)

    def free(self, candidates: list[Waiting], barred: set[str], now: float) -> Waiting | None:
        free = [one for one in candidates if self.may_go(one.record, now) and host_of(one.record.url) not in barred]
        return min(free, key=lambda waiting: waiting.key, default=None)

    def may_wake(self, host: str, now: float) -> bool:
        """Whether a URL of the host may be taken, politeness aside."""
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
        spare, first = self.spare, next((time for time in sorted(times) if self.choose(time)), None)
        self.spare = spare  # what the future would lower
        return first

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
WAITS = st.sampled_from([0.0, 0.0, 0.0, 0.5, 3.0])  # from now on; 0: any time
SECONDS = st.sampled_from([0.0, 0.25, 1.0, 2.0])
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), URLS, SCORES, WAITS),
    st.tuples(st.just("put"), URLS, SCORES, WAITS),
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
)


class Pair:
    """A frontier and its model, driven together."""

    def __init__(self, k: int, commit: int, max_urls: int, *, strict: bool = True) -> None:
        self.frontier = MemoryFrontier(
            batch_size=k,
            strict=strict,
            commit=commit,
            max_urls=max_urls,
            politeness=Politeness(MIN_DELAY, FACTOR),
            random=Random(5),
        )
        self.model = Model(k, commit, max_urls, Random(5), strict=strict)
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
            case "put", (url, score, wait):
                self.both("put", CrawlUrl(url, score, not_before=now + wait if wait else 0.0))
            case "take", ():
                self.both("take", now)
            case "pass", (seconds,):
                self.now += seconds
            case "wake", () if self.model.floor > -math.inf:  # a host may wake below the floors
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
        assert frontier.best() == max((record.score for record in waiting.values()), default=None)
        assert frontier.leases() == len(model.leases)
        assert all(frontier.leased(url) == lease.record for url, lease in model.leases.items())
        assert frontier.evicted() == model.evicted
        assert all(url in frontier for url in [*waiting, *model.leases, *model.done_urls])


@settings(max_examples=400, deadline=None)
@given(
    k=st.integers(1, 8),
    commit=st.sampled_from([1, 1, 2, 5]),
    max_urls=st.sampled_from([0, 0, 3, 10]),
    strict=st.booleans(),
    operations=st.lists(OPERATIONS, max_size=120),
)
def test_every_answer_is_the_models(k, commit, max_urls, strict, operations):
    pair = Pair(k, commit, max_urls, strict=strict)
    for operation in operations:
        pair.do(*operation)
        pair.compare()


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.sampled_from([1, 4, 20, 50]),
    commit=st.sampled_from([1, 16]),
    floors=st.sampled_from([0.0, 0.05]),
)
def test_long_crawls_take_the_models_way(seed, k, commit, floors):
    random = Random(seed)
    pair = Pair(k, commit, max_urls=150)
    for _ in range(400):
        host, page = min(random.randrange(40), random.randrange(40)), random.randrange(30)
        record = CrawlUrl(f"http://h{host}.test/{page}", random.randrange(8) / 8)
        pair.both("put", record)
        if random.random() < 0.4:
            pair.do("wake")
        if random.random() < 0.3:
            pair.do("finish", random.randrange(9), random.random())
        if random.random() < floors:
            pair.both("set_floor", floor := random.random(), floor * random.random())
        if random.random() < 0.1:
            pair.do("release", random.randrange(9), 0.1, random.choice([0.0, 2.0]), random.random() < 0.5)
    pair.compare()
