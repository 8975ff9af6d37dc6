"""Best-N-First: commit to the best N before looking again (paper 001 Figure 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

from crawlproject.frontier.entry import Entry
from crawlproject.frontier.lazyheap import LazyHeap
from crawlproject.frontier.schedule import HostSchedule

_RETURNED = -1.0  # the rank of a committed URL that came back: before all others of its batch


class BestNFirst:
    """Two schedules under one k rule: the committed batch, in random order, and the pool of all other URLs.

    When the batch has left, the ``n`` best URLs of the pool that may go are committed. Better URLs that come meanwhile
    wait for the next batch. A committed URL that is released stays committed, unless it must wait.

    The k rule is stronger than the commitment: while it bars every host of the batch, the pool is taken from as if
    nothing were committed.
    """

    def __init__(self, live: Mapping[str, Entry], batch_size: int, n: int, random: Random) -> None:
        self._n = n
        self._random = random
        self._hosts: Counter[str] = Counter()  # waiting URLs of each host
        self._committed_hosts: Counter[str] = Counter()
        self._committed: dict[str, Entry] = {}
        self._others: dict[str, Entry] = {}
        self._batch = HostSchedule(self._committed, batch_size, self.hosts)
        self._pool = HostSchedule(self._others, batch_size, self.hosts)
        self._line: LazyHeap[Entry] = LazyHeap(lambda entry: self._others.get(entry.record.url) is entry)
        self._later: LazyHeap[tuple[float, Entry]] = LazyHeap(
            lambda item: self._others.get(item[1].record.url) is item[1]
        )
        self._ripe = 0.0  # what may go at this time has left ``_later``

    # ------------------------------------------------------------ URLs come and go

    def add(self, entry: Entry) -> None:
        self._count(entry.host, 1)
        self._wait(entry)

    def add_back(self, entry: Entry) -> None:
        self._count(entry.host, 1)
        if entry.record.not_before > self._ripe:
            self._wait(entry)
        else:
            self._commit(entry, _RETURNED)

    def remove(self, entry: Entry) -> None:
        self._leave(entry)
        self._count(entry.host, -1)

    def replace(self, old: Entry, new: Entry) -> None:
        committed = self._committed.get(new.record.url)
        if committed is None:
            self._leave(old)
            self._wait(new)
        else:
            self._committed[new.record.url] = new = new._replace(rank=committed.rank)
            self._batch.replace(committed, new)

    # ------------------------------------------------------------ visits

    def lease(self, name: str) -> None:
        self._batch.lease(name)
        self._pool.lease(name)

    def free(self, name: str) -> None:
        self._batch.free(name)
        self._pool.free(name)

    def rest(self, name: str, until: float) -> None:
        self._batch.rest(name, until)
        self._pool.rest(name, until)

    def pick(self, name: str) -> None:
        self._batch.pick(name)
        self._pool.pick(name)

    def give_back_pick(self, name: str) -> None:
        self._batch.give_back_pick(name)
        self._pool.give_back_pick(name)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Entry | None:
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
        best: list[Entry] = []
        while len(best) < self._n and (entry := self._line.pop()):
            best.append(entry)
        self._random.shuffle(best)
        for position, entry in enumerate(best):
            del self._others[entry.record.url]
            self._pool.remove(entry)
            self._commit(entry, float(position))

    # ------------------------------------------------------------ what is known

    def hosts(self) -> int:
        """Hosts with waiting URLs, committed or not."""
        return len(self._hosts)

    def picks(self) -> Iterator[str]:
        return self._pool.picks()

    def clocks(self) -> Iterator[tuple[str, float]]:
        return self._pool.clocks()

    # ------------------------------------------------------------ inside

    def _commit(self, entry: Entry, rank: float) -> None:
        self._committed[entry.record.url] = committed = entry._replace(rank=rank)
        self._committed_hosts[entry.host] += 1
        self._batch.add(committed)

    def _wait(self, entry: Entry) -> None:
        self._others[entry.record.url] = entry
        self._pool.add(entry)
        if entry.record.not_before > self._ripe:
            self._later.push((entry.record.not_before, entry))
        else:
            self._line.push(entry)

    def _leave(self, entry: Entry) -> None:
        url, host = entry.record.url, entry.host
        committed = self._committed.pop(url, None)
        if committed is not None:
            _take_one(self._committed_hosts, host)
            self._batch.remove(committed)
            return
        del self._others[url]
        self._pool.remove(entry)
        (self._later if entry.record.not_before > self._ripe else self._line).died()

    def _count(self, host: str, change: int) -> None:
        before = len(self._hosts)
        if change > 0:
            self._hosts[host] += 1
        else:
            _take_one(self._hosts, host)
        if len(self._hosts) != before:
            self._batch.fit()
            self._pool.fit()


def _take_one(counter: Counter[str], host: str) -> None:
    counter[host] -= 1
    if not counter[host]:
        del counter[host]
