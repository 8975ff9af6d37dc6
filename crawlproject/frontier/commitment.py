"""Best-N-First: commit to the best N before looking again (paper 001 Figure 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

from crawlproject.frontier.entry import Entry
from crawlproject.frontier.lazyheap import LazyHeap
from crawlproject.frontier.schedule import HostSchedule

_RETURNED = -1.0  # the rank of a committed URL that came back: before all others of its batch


class BestNFirst(HostSchedule):
    """A schedule that knows only the URLs of the present batch; the others wait in a pool.

    When the batch has left, the ``n`` best URLs of the pool that may go are committed, in random order. Better URLs
    that come meanwhile wait for the next batch. A committed URL that is released stays committed, unless it must wait.
    """

    def __init__(self, live: Mapping[str, Entry], batch_size: int, n: int, random: Random) -> None:
        self._batch: dict[str, Entry] = {}
        super().__init__(self._batch, batch_size)
        self._n = n
        self._random = random
        self._hosts_of_all: Counter[str] = Counter()
        self._pool: LazyHeap[Entry] = LazyHeap(lambda entry: live.get(entry.record.url) is entry)
        self._later: LazyHeap[tuple[float, Entry]] = LazyHeap(lambda item: live.get(item[1].record.url) is item[1])
        self._ripe = 0.0  # what may go at this time has left ``_later``

    def add(self, entry: Entry) -> None:
        self._hosts_of_all[entry.host] += 1
        self._wait(entry)

    def add_back(self, entry: Entry) -> None:
        self._hosts_of_all[entry.host] += 1
        if entry.record.not_before > self._ripe:
            self._wait(entry)
        else:
            self._commit(entry, _RETURNED)

    def remove(self, entry: Entry) -> None:
        host = entry.host
        self._hosts_of_all[host] -= 1
        if not self._hosts_of_all[host]:
            del self._hosts_of_all[host]
        self._leave(entry)

    def replace(self, old: Entry, new: Entry) -> None:
        committed = self._batch.get(new.record.url)
        if committed is None:
            self._leave(old)
            self._wait(new)
        else:
            self._batch[new.record.url] = new = new._replace(rank=committed.rank)
            super().replace(committed, new)

    def choose(self, now: float) -> Entry | None:
        if not self._batch:
            self._look_again(now)
        return super().choose(now)

    def next_due(self, now: float) -> float | None:
        """As the schedule's; with nothing to commit at ``now``, the time when something may be committed."""
        due = super().next_due(now)
        if due is None and not self._batch and (item := self._later.first()):
            return item[0]
        return due

    def hosts(self) -> int:
        return len(self._hosts_of_all)

    def _look_again(self, now: float) -> None:
        """Commit to the best URLs that may go."""
        while (item := self._later.first()) and item[0] <= now:
            self._later.pop()
            self._pool.push(item[1])
        self._ripe = max(self._ripe, now)
        best: list[Entry] = []
        while len(best) < self._n and (entry := self._pool.pop()):
            best.append(entry)
        self._random.shuffle(best)
        for position, entry in enumerate(best):
            self._commit(entry, float(position))

    def _commit(self, entry: Entry, rank: float) -> None:
        self._batch[entry.record.url] = committed = entry._replace(rank=rank)
        super().add(committed)

    def _wait(self, entry: Entry) -> None:
        if entry.record.not_before > self._ripe:
            self._later.push((entry.record.not_before, entry))
        else:
            self._pool.push(entry)

    def _leave(self, entry: Entry) -> None:
        committed = self._batch.pop(entry.record.url, None)
        if committed is not None:
            super().remove(committed)
        elif entry.record.not_before > self._ripe:
            self._later.died()
        else:
            self._pool.died()
