"""Best-N-First: commit to the best N before looking again (paper 001 Figure 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from random import Random
from typing import Any

from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.lazy_heap import LazyHeap

_RETURNED = -1.0  # the rank of a committed URL that came back: before all others of its batch


class BestNFirstSchedule:
    """Two schedules under one k rule: the committed batch, in random order, and the pool of all other URLs.

    When the batch has left, the ``n`` best URLs of the pool that may go are committed. Better URLs that come meanwhile
    wait for the next batch. A committed URL that is released stays committed, unless it must wait.

    The k rule is stronger than the commitment: while it bars every host of the batch, the pool is taken from as if
    nothing were committed.

    ``alive`` tells whether an entry is the valid one of a waiting URL. ``new_pool`` and ``new_line`` are given the same
    question about URLs that are not committed (and may go), and make the schedule of those and their order, hosts aside.
    ``hosts_waiting`` counts the hosts with waiting URLs; unless given, they are counted here.
    """

    def __init__(
        self,
        alive: Callable[[Any], bool],
        new_pool: Callable[[Callable[[Any], bool], Callable[[], int]], Any],
        new_line: Callable[[Callable[[Any], bool]], Any] = LazyHeap,
        *,
        batch_size: int,
        n: int,
        random: Random,
        hosts_waiting: Callable[[], int] | None = None,
    ) -> None:
        self._alive = alive
        self._n = n
        self._random = random
        self._hosts: Counter[Hashable] | None = None if hosts_waiting else Counter()  # waiting URLs of each host
        self.hosts = hosts_waiting or self._count_hosts
        self._committed_hosts: Counter[Hashable] = Counter()
        self._committed: dict[int, Any] = {}  # by arrival, which names a waiting URL
        self._batch = HostSchedule(lambda name: HostQueue(name, self._is_committed), batch_size, self.hosts)
        self._pool = new_pool(self._is_other, self.hosts)
        self._line = new_line(self._may_go)
        self._later: LazyHeap[tuple[float, Any]] = LazyHeap(lambda item: self._is_other(item[1]))
        self._ripe = 0.0  # what may go at this time has left ``_later``

    def spare_dormant(self) -> None:
        """A batch is taken under the rule as it is."""

    # ------------------------------------------------------------ URLs come and go

    def add(self, entry: Any) -> None:
        self._count(entry.host, 1)
        self._wait(entry)

    def add_back(self, entry: Any) -> None:
        self._count(entry.host, 1)
        if entry.not_before > self._ripe:
            self._wait(entry)
        else:
            self._commit(entry, _RETURNED)

    def remove(self, entry: Any) -> None:
        self._leave(entry)
        self._count(entry.host, -1)

    def replace(self, old: Any, new: Any) -> None:
        committed = self._committed.get(new.arrival)
        if committed is None:
            self._leave(old)
            self._wait(new)
        else:
            self._committed[new.arrival] = new = new._replace(rank=committed.rank)
            self._batch.replace(committed, new)

    # ------------------------------------------------------------ visits

    def lease(self, name: Hashable) -> None:
        self._batch.lease(name)
        self._pool.lease(name)

    def free(self, name: Hashable) -> None:
        self._batch.free(name)
        self._pool.free(name)

    def rest(self, name: Hashable, until: float) -> None:
        self._batch.rest(name, until)
        self._pool.rest(name, until)

    def visit(self, name: Hashable, entry: Any) -> None:
        """``lease``, ``remove`` and ``pick`` in one."""
        self.lease(name)
        self.remove(entry)
        self.pick(name)

    def end_visit(self, name: Hashable, until: float) -> None:
        """``free`` and ``rest`` in one."""
        self.rest(name, until)
        self.free(name)

    def pick(self, name: Hashable) -> None:
        self._batch.pick(name)
        self._pool.pick(name)

    def give_back_pick(self, name: Hashable) -> None:
        self._batch.give_back_pick(name)
        self._pool.give_back_pick(name)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Any:
        if not self._committed:
            self._look_again(now)
        entry = self._batch.choose_open(now)
        if entry is None and self._all_barred():
            entry = self._pool.choose(now)
        return entry or self._batch.choose(now)

    def next_due(self, now: float) -> float | None:
        if self.choose(now) is not None:
            return now
        schedules = (self._batch, self._pool) if self._all_barred() else (self._batch,)
        return min((due for schedule in schedules if (due := schedule.first_rested()) is not None), default=None)

    def _all_barred(self) -> bool:
        """Whether the k rule bars every host of the batch; at most n hosts are asked."""
        return all(map(self._batch.bars, self._committed_hosts))

    def _look_again(self, now: float) -> None:
        """Commit to the best URLs that may go."""
        while (item := self._later.first()) and item[0] <= now:
            self._later.pop()
            self._line.push(item[1])
        self._ripe = max(self._ripe, now)
        best: list[Any] = []
        while len(best) < self._n and (entry := self._line.pop()):
            best.append(entry)
        self._random.shuffle(best)
        for position, entry in enumerate(best):
            self._commit(entry, float(position))  # first, for then it is dead in the pool
            self._pool.remove(entry)

    # ------------------------------------------------------------ what is known

    def committed(self) -> Iterator[int]:
        """The committed URLs that wait, by arrival."""
        return iter(self._committed)

    def picks(self) -> Iterator[Any]:
        return self._pool.picks()

    def clocks(self) -> Iterator[tuple[Any, float]]:
        return self._pool.clocks()

    def busiest(self, n: int, size: Callable[[HostQueue], int]) -> list[HostQueue]:
        """The ``n`` hosts of the pool with the most waiting URLs; the few that are committed are not counted."""
        return self._pool.busiest(n, size)

    def resting(self) -> int:
        """As ``HostSchedule.resting``, hosts that only have committed URLs left out."""
        return self._pool.resting()

    def fit(self) -> None:
        """The number of hosts with waiting URLs is another one."""
        self._batch.fit()
        self._pool.fit()

    # ------------------------------------------------------------ inside

    def _is_committed(self, entry: Any) -> bool:
        return self._committed.get(entry.arrival) is entry

    def _is_other(self, entry: Any) -> bool:
        return entry.arrival not in self._committed and self._alive(entry)

    def _may_go(self, entry: Any) -> bool:
        return entry.not_before <= self._ripe and self._is_other(entry)

    def _commit(self, entry: Any, rank: float) -> None:
        self._committed[entry.arrival] = committed = entry._replace(rank=rank)
        self._committed_hosts[entry.host] += 1
        self._batch.add(committed)

    def _wait(self, entry: Any) -> None:
        self._pool.add(entry)
        if entry.not_before > self._ripe:
            self._later.push((entry.not_before, entry))
        else:
            self._line.push(entry)

    def _leave(self, entry: Any) -> None:
        committed = self._committed.pop(entry.arrival, None)
        if committed is not None:
            _take_one(self._committed_hosts, entry.host)
            self._batch.remove(committed)
            return
        self._pool.remove(entry)
        (self._later if entry.not_before > self._ripe else self._line).died()

    def _count_hosts(self) -> int:
        return len(self._hosts or ())

    def _count(self, host: Hashable, change: int) -> None:
        if self._hosts is None:
            return
        before = len(self._hosts)
        if change > 0:
            self._hosts[host] += 1
        else:
            _take_one(self._hosts, host)
        if len(self._hosts) != before:
            self.fit()


def _take_one(counter: Counter[Hashable], host: Hashable) -> None:
    counter[host] -= 1
    if not counter[host]:
        del counter[host]
