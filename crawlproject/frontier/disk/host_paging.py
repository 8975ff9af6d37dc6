"""The schedule of a frontier whose URLs do not fit into memory."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue
from crawlproject.frontier.disk.url_table import HELD, LEASED, PAGED, SHARED, UrlRow, UrlTable
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.host_states import INACTIVE, READY, SPARE
from crawlproject.frontier.k_rule import KRule

_PAGED_OUT = 256  # hosts that are considered together


class DiskEntry(NamedTuple):
    """A waiting URL as the schedule sees it: ``arrival`` is its number, ``host`` that of its host."""

    rank: float
    arrival: int
    host: Hashable
    not_before: float


class PagedHostQueue:
    """The queue of one host, as ``HostQueue`` wants it: ``DiskEntry`` in, ``DiskEntry`` out."""

    __slots__ = ("_entry", "_first", "_host", "_new_queue", "_queue", "_rows")

    def __init__(self, host: Hashable, new_queue: Callable[[], SpilledQueue], rows: UrlTable) -> None:
        self._host = host
        self._new_queue = new_queue
        self._queue: SpilledQueue | None = None  # many hosts never need one
        self._rows = rows
        self._first: Entry | None = None
        self._entry: DiskEntry | None = None

    def push(self, entry: DiskEntry) -> None:
        if entry.not_before:
            self._rows.set_state(entry.arrival, PAGED)  # its time has come
        if self._queue is None:
            self._queue = self._new_queue()
        self._queue.push((entry.rank, entry.arrival))

    def first(self) -> DiskEntry | None:
        first = self._queue.first() if self._queue is not None else None
        if first is None:
            return None
        if first != self._first:
            self._first, self._entry = first, DiskEntry(*first, self._host, 0.0)
        return self._entry

    def died(self) -> None:
        if self._queue is not None:
            self._queue.died()

    def all_in_memory(self) -> list[Entry] | None:
        """All entries when there are so few that none is on disk."""
        return [] if self._queue is None else self._queue.all_in_memory()

    def load(self, ranks: np.ndarray, numbers: np.ndarray) -> None:
        if self._queue is None:
            self._queue = self._new_queue()
        self._queue.load(ranks, numbers)


class PagedSchedule(HostSchedule):
    """A ``HostSchedule`` of the hosts in use, fed from a shared queue of all other URLs.

    Before a choice is made, URLs of hosts that cannot be visited move from the head of the shared queue into the queues of
    their hosts, until the better of the head and the best ready host can be taken: so every choice is the same as if all
    URLs were in host queues. A URL that comes goes to the queue of its host at once when the host is in memory, when the URL
    is held, or when the host has ``crowd`` URLs already: else a host that rests could hold up a choice with all its
    URLs. Thus most hosts, those with few URLs that have not had their turn, take no memory at all. When more than ``most``
    hosts are in memory, some that are ready, but have nothing better than others, are paged out.
    Under a floor the URLs of active hosts never wait in the shared queue, so the k rule counts them.
    """

    def __init__(
        self,
        new_queue: Callable[[Any], HostQueue],
        rule: KRule,
        *,
        shared: SpilledQueue,
        rows: UrlTable,
        on_host: array[int],
        held_until: Mapping[int, float],
        crowd: int,
        most: int,
    ) -> None:
        super().__init__(new_queue, rule, waiting_on=lambda host: on_host[host] if host < len(on_host) else 0)
        self.shared = shared
        self._rows = rows
        self._on_host: Any = on_host
        self._held_until = held_until
        self._crowd = crowd
        self._most = self._next_look = most
        self._paged_in = -math.inf  # URLs of this rank or a better one are in the queues of their hosts

    def takes(self, rank: float, host: Any) -> bool:
        """Whether a new URL goes to the queue of its host rather than to the shared one."""
        return host in self._queues or rank <= self._paged_in or self._on_host[host] > self._crowd

    def add(self, entry: DiskEntry) -> None:
        if entry.not_before:
            self._rows.set_state(entry.arrival, HELD)
        elif self.takes(entry.rank, entry.host):
            self._rows.set_state(entry.arrival, PAGED)
        else:
            self.shared.push((entry.rank, entry.arrival))
            return
        super().add(entry)

    def remove(self, entry: DiskEntry) -> None:
        """It no longer waits, or not here. Its row is still that of a waiting URL."""
        if self._rows[entry.arrival].state != SHARED:
            self._rows.set_state(entry.arrival, SHARED)  # so its entry in the queue of the host is dead
            super().remove(entry)
        else:
            self.shared.died()
            self.recount(entry.host)

    def replace(self, old: DiskEntry, new: DiskEntry) -> None:
        self.remove(old)
        self.add(new)

    def take(self, entry: DiskEntry) -> None:
        number = entry.arrival
        score, offset, host, state = self._rows[number]
        self._rows.changed[number] = UrlRow(score, offset, host, LEASED)
        if state == SHARED:
            self.lease(host)
            self.shared.drop((entry.rank, number))
        else:
            super().take(entry)
        if len(self._queues) > self._next_look:
            self._page_out()

    def set_floor(self, floor: float, spare: float) -> None:
        super().set_floor(floor, spare)
        self._paged_in = -floor if self.levels.are_set else -math.inf
        while (first := self.shared.first()) and first[0] <= self._paged_in:
            self._page_in(self._entry(first))

    def best_rank(self) -> float | None:
        """The least rank of all waiting URLs."""
        first, entry = self.shared.first(), self.best()
        ranks = [first[0]] if first else []
        if entry is not None:
            ranks.append(entry.rank)
        return min(ranks, default=None)

    def load(self, host: Hashable, ranks: np.ndarray, numbers: np.ndarray) -> None:
        """Add many URLs at once to the queue of their host; their rows say so already."""
        queue = self.queue(host)
        queue.ready.load(ranks, numbers)  # type: ignore[attr-defined]
        queue.size += len(ranks)
        self.place(queue)

    # ------------------------------------------------------------ inside

    def _first_of(self, state: int, last: float) -> Any:
        """Of the hosts in memory, or the head of the shared queue, if that is better and has rank ``last`` at most."""
        shared = self.shared
        while True:
            host = self.first(state)
            first = shared.first()
            if first is None or first[0] > last or (host is not None and host.key < first):
                return host.best() if host else None
            entry = self._entry(first)
            barred = (state == READY and self.rule.bars(entry.host)) or self.is_address_barred(entry.host)
            if entry.host not in self._queues and not barred:
                return entry
            self._page_in(entry)

    def _lower(self) -> bool:
        while (first := self.shared.first()) and (entry := self._entry(first)).host in self._queues:
            self._page_in(entry)  # a host in process does not count
        item = self._heaps[INACTIVE].first()
        if first is None or (item is not None and item[0] <= first[0]):
            return super()._lower()
        self._lower_to(first[0])
        return True

    def _entry(self, first: Entry) -> DiskEntry:
        rank, number = first
        return DiskEntry(rank, number, self._rows[number].host, self._held_until.get(number, 0.0))

    def _page_in(self, entry: DiskEntry) -> None:
        """From the head of the shared queue into the queue of its host."""
        self.shared.drop((entry.rank, entry.arrival))
        self._rows.set_state(entry.arrival, PAGED)
        HostSchedule.add(self, entry)

    def _expendable(self) -> list[HostQueue]:
        """Hosts that need no queue now: they may be visited, but others have something better."""
        states = (INACTIVE, SPARE) if self.levels.are_set else (READY,)
        hosts = [host for state in states for host in self.last(state, _PAGED_OUT)]
        return [host for host in hosts if host.due <= self.now and not host.blocked_until]  # inactive ones may rest

    def _page_out(self) -> None:
        """Move the URLs of hosts that need no queue of their own now to the shared queue."""
        before = len(self._queues)
        for host in self._expendable():
            entries = host.ready.all_in_memory() if host.held is None else None  # type: ignore[attr-defined]
            if entries is not None:
                self.forget(host)
                for entry in entries:
                    self._rows.set_state(entry[1], SHARED)
                    self.shared.push(entry)
        few = before - len(self._queues) < _PAGED_OUT // 8  # the others rest, or have too much to move
        self._next_look = max(self._most, before + _PAGED_OUT // 2 if few else 0)
