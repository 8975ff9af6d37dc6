"""Best-N-First: commit to the best N before looking again (paper 001 Figure 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from random import Random
from typing import Any

from crawlproject.frontier.host_queue import HostQueue, LazyHeap
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.k_rule import KRule
from crawlproject.records import ACTIVE

_RETURNED = -1.0  # the rank of a committed URL that was released: it comes before all others of its batch


class CommittedBatch:
    """The committed URLs that wait. The rank of an entry is its random position."""

    def __init__(self, rule: KRule) -> None:
        self.entries: dict[int, Any] = {}  # by arrival, which identifies a waiting URL
        self.schedule = HostSchedule(
            lambda name: HostQueue(name, self._is_current), rule, waiting_on=lambda name: 0, tracks_dormancy=False
        )
        self._rule = rule
        self._on_host: Counter[Hashable] = Counter()

    def commit(self, entry: Any, rank: float) -> None:
        self.entries[entry.arrival] = committed = entry._replace(precedence=ACTIVE, rank=rank)
        self._on_host[entry.host] += 1
        self.schedule.add(committed)

    def remove(self, arrival: int) -> None:
        committed = self.entries.pop(arrival)
        _take_one(self._on_host, committed.host)
        self.schedule.remove(committed)

    def replace(self, new: Any) -> None:
        """Give a committed URL another record or score. It keeps its position."""
        old = self.entries[new.arrival]
        self.entries[new.arrival] = new = new._replace(precedence=ACTIVE, rank=old.rank)
        self.schedule.replace(old, new)

    def is_stopped(self) -> bool:
        """Whether the k rule or a block stops every host of the batch. Looks at n hosts at most."""
        queues, now = self.schedule.known, self.schedule.now
        return all(self._rule.bars(host) or queues[host].blocked_until > now for host in self._on_host)

    def _is_current(self, entry: Any) -> bool:
        return self.entries.get(entry.arrival) is entry


class BestNFirstSchedule:
    """Two schedules under one k rule: the committed batch, in random order, and the pool of all other URLs.

    When the batch is empty, the first ``n`` URLs of the pool that may be taken, by class and score, are committed. Better
    URLs that arrive later wait for the next batch. A committed URL that is released stays committed, unless it is held.

    Committed URLs have left the buffer that ``max_urls`` bounds, as in the figure: they neither fill it nor are evicted.

    The k rule and blocks override the commitment: while they stop every host of the batch, URLs are taken from the pool as
    if nothing were committed.

    ``alive`` tests whether an entry is the valid one of a waiting URL. The three factories get a similar test, limited to URLs
    that are not committed. ``new_pool`` makes the schedule of these URLs. ``new_queue`` makes their order regardless of hosts;
    its test also requires that they may be taken. ``new_held`` makes the order of held URLs by time; its test is given ``(time,
    entry)``. ``new_pool`` also gets a function that counts the waiting URLs of a host: ``waiting_on`` or, without it, the
    counter of this schedule, which then counts the hosts for the k rule.
    """

    def __init__(
        self,
        alive: Callable[[Any], bool],
        new_pool: Callable[[Callable[[Any], bool], Callable[[Any], int]], HostSchedule],
        new_queue: Callable[[Callable[[Any], bool]], Any] = LazyHeap,
        new_held: Callable[[Callable[[Any], bool]], Any] = LazyHeap,
        *,
        rule: KRule,
        n: int,
        random: Random,
        waiting_on: Callable[[Any], int] | None = None,
    ) -> None:
        self._alive = alive
        self._rule = rule
        self._n = n
        self._random = random
        on_host: Counter[Hashable] = Counter()
        self._on_host = None if waiting_on else on_host
        self._batch = CommittedBatch(rule)
        self.committed: dict[int, Any] = self._batch.entries  # by arrival; their ranks are positions
        self.pool = new_pool(self._is_other, waiting_on or (lambda host: on_host[host]))
        self._queue = new_queue(self._may_go)
        self._held = new_held(lambda item: self._is_other(item[1]))
        self._looked = 0.0  # URLs whose time came up to this one have left ``_held``

    # ------------------------------------------------------------ adding and removing URLs

    def add(self, entry: Any) -> None:
        self._count(entry.host)
        self._wait(entry)

    def add_back(self, entry: Any) -> None:
        self._count(entry.host)
        if entry.not_before > self._looked:
            self._wait(entry)
        else:
            self._batch.commit(entry, _RETURNED)
            self.pool.recount(entry.host)

    def remove(self, entry: Any) -> None:
        was_last = self._on_host is not None and _take_one(self._on_host, entry.host)
        self._leave(entry)
        self.pool.recount(entry.host)
        if was_last:
            self.pool.count_hosts(-1)

    def replace(self, old: Any, new: Any) -> None:
        if new.arrival in self.committed and new.not_before <= self._looked:
            self._batch.replace(new)
        else:
            self._leave(old)
            self._wait(new)

    def set_floor(self, floor: float, spare: float) -> None:
        """Does nothing: a committed URL is taken whatever it scores now."""

    def set_ceiling(self, precedence: int) -> None:
        """Does nothing: a commitment ignores the ceiling."""

    def set_awake_elsewhere(self, precedence: int | None) -> None:
        """Does nothing: a commitment does not wait for other frontiers."""

    def lowest_awake(self) -> int | None:
        """None: other frontiers do not wait for a commitment."""
        return None

    def set_host_precedence(self, name: Hashable, precedence: int) -> None:
        """Does nothing: a commitment ignores the classes of hosts."""

    # ------------------------------------------------------------ visits

    def take(self, entry: Any) -> None:
        self.lease(entry.host)
        self.remove(entry)

    def lease(self, name: Hashable) -> None:
        self._batch.schedule.lease(name)
        self.pool.lease(name)

    def free(self, name: Hashable) -> None:
        self._batch.schedule.free(name)
        self.pool.free(name)

    def rest(self, name: Hashable, until: float) -> None:
        self._batch.schedule.rest(name, until)
        self.pool.rest(name, until)

    def block(self, name: Hashable, until: float) -> None:
        self._batch.schedule.block(name, until)
        self.pool.block(name, until)

    def set_address(self, name: Hashable, address: str) -> bool:
        self.pool.set_address(name, address)
        return self._batch.schedule.set_address(name, address)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Any:
        self.pool.pass_time(now)
        if not self.committed:
            self._look_again(now)
        batch = self._batch
        entry = batch.schedule.choose_ready(now)
        if entry is None and batch.is_stopped():
            entry = self.pool.choose(now)
        return entry or batch.schedule.choose_held()

    def next_due(self, now: float) -> float | None:
        if self.choose(now) is not None:
            return now
        schedules = (self._batch.schedule, self.pool) if self._batch.is_stopped() else (self._batch.schedule,)
        return min((due for schedule in schedules if (due := schedule.first_wake()) is not None), default=None)

    def blocks(self) -> Iterator[tuple[HostQueue, list[Any]]]:
        """As ``HostSchedule.blocks``, with all committed entries of each host."""
        self.pool.choose_ready(self._batch.schedule.now)  # advances the pool's time, too
        for host, entries in self.pool.blocks():
            yield host, [*entries, *(entry for entry in self.committed.values() if entry.host == host.name)]

    # ------------------------------------------------------------ inside

    def _look_again(self, now: float) -> None:
        """Commit to the best URLs that may be taken now."""
        while (item := self._held.first()) and item[0] <= now:
            self._held.pop()
            self._queue.push(item[1])
        self._looked = max(self._looked, now)
        best: list[Any] = []
        while len(best) < self._n and (entry := self._queue.pop()):
            best.append(entry)
        self._random.shuffle(best)
        for position, entry in enumerate(best):
            self._batch.commit(entry, float(position))  # before the removal: it makes the entry dead in the pool
            self.pool.remove(entry)

    def _is_other(self, entry: Any) -> bool:
        return entry.arrival not in self.committed and self._alive(entry)

    def _may_go(self, entry: Any) -> bool:
        return entry.not_before <= self._looked and self._is_other(entry)

    def _wait(self, entry: Any) -> None:
        self.pool.add(entry)
        if entry.not_before > self._looked:
            self._held.push((entry.not_before, entry))
        else:
            self._queue.push(entry)

    def _leave(self, entry: Any) -> None:
        if entry.arrival in self.committed:
            self._batch.remove(entry.arrival)
            return
        self.pool.remove(entry)
        (self._held if entry.not_before > self._looked else self._queue).died(entry)

    def _count(self, host: Hashable) -> None:
        if self._on_host is not None:
            self._on_host[host] += 1
            if self._on_host[host] == 1:
                self.pool.count_hosts(1)


def _take_one(counter: Counter[Hashable], host: Hashable) -> bool:
    """Count one less. Return whether it was the last one."""
    counter[host] -= 1
    if not counter[host]:
        del counter[host]
        return True
    return False
