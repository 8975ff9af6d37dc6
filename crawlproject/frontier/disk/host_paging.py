"""The schedule of a frontier whose URLs do not fit into memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from crawlproject.frontier.disk.calendar import Calendar
from crawlproject.frontier.disk.hold_times import HoldTimes
from crawlproject.frontier.disk.host_counts import HostCounts
from crawlproject.frontier.disk.paged_host_queue import DiskEntry
from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue
from crawlproject.frontier.disk.url_table import HELD, LATER, LEASED, PAGED, SHARED, UrlTable
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.host_states import READY
from crawlproject.frontier.k_rule import KRule

_PAGED_OUT = 256  # hosts that are considered together
_FEW = 256  # URLs whose time has come that are moved one by one


class PagedSchedule(HostSchedule):
    """A ``HostSchedule`` of the hosts in use, fed from a shared queue of all other URLs.

    Before a choice is made, URLs of hosts that cannot be visited move from the head of the shared queue into the queues of
    their hosts, until the better of the head and the best ready host can be taken: so every choice is the same as if all
    URLs were in host queues. A URL that comes goes to the queue of its host at once when the host is in memory,
    or when the host has ``crowd`` URLs already: else a host that rests could hold up a choice with all its
    URLs. Thus most hosts, those with few URLs that have not had their turn, take no memory at all. When more than ``most``
    hosts are in memory, some that are ready, but have nothing better than others, are paged out.
    Under a floor the URLs of active hosts never wait in the shared queue, so the k rule counts them.

    URLs that are held wait in the calendar. Only when it is asked what will be due, the first of them move into the queues of
    their hosts, as far as the answer needs them: not more than ``ahead`` of them. Beyond, the answer may be too early.
    """

    def __init__(
        self,
        new_queue: Callable[[Any], HostQueue],
        rule: KRule,
        *,
        shared: SpilledQueue,
        rows: UrlTable,
        calendar: Calendar,
        counts: HostCounts,
        held_until: HoldTimes,
        crowd: int,
        most: int,
        ahead: int,
    ) -> None:
        super().__init__(new_queue, rule, waiting_on=counts.awake)
        self.shared = shared
        self.calendar = calendar
        self._rows = rows
        self._counts = counts
        self._held_until = held_until
        self._ahead = ahead
        self._pulled = 0
        self._crowd = crowd
        self._most = self._next_look = most
        rule.foresee = self._foresee
        self._paged_in = -math.inf  # URLs of this rank or a better one are in the queues of their hosts

    def takes(self, rank: float, host: Any) -> bool:
        """Whether a new URL goes to the queue of its host rather than to the shared one."""
        return host in self._queues or rank <= self._paged_in or self._counts.awake(host) > self._crowd

    def add(self, entry: DiskEntry) -> None:
        if entry.not_before and entry.not_before > self.now:
            self.calendar.push(entry.arrival, entry.rank, entry.not_before)
            self._count_held(entry.host, 1)
        elif self.takes(entry.rank, entry.host):
            self._rows.set_state(entry.arrival, PAGED)
            super().add(entry._replace(not_before=0.0) if entry.not_before else entry)
        else:
            self._rows.set_state(entry.arrival, SHARED)
            self.shared.push((entry.rank, entry.arrival))

    def add_new(self, number: int, score: float, offset: int, name: Any) -> None:
        """A URL enters that was not held, with its row: as ``add``, without the way there."""
        rank, host = -score, self._queues.get(name)
        if host is None and not self.takes(rank, name):
            self._rows.changed[number] = score, offset, name, SHARED
            self.shared.push((rank, number))
            return
        if host is None:
            host = self.queue(name)
        self._rows.changed[number] = score, offset, name, PAGED  # first, for a queue that spills looks at it
        host.size += 1
        host.ready.push_new((rank, number))
        if host.state in BY_RANK and host.size > 1 and host.held is None and host.key < (rank, number):
            return  # as in ``add``: neither the level nor the place of the host changes
        if host.size == 1 or host.held is not None or not self._has_better(host, DiskEntry(rank, number, name, 0.0)):
            self.place(host)

    def remove(self, entry: DiskEntry) -> None:
        """It no longer waits, or not here. Its row is still that of a waiting URL."""
        state = self._rows[entry.arrival].state
        if state == SHARED:
            self.shared.died()
            self.recount(entry.host)
            return
        self._rows.set_state(entry.arrival, SHARED)  # so its entry in the calendar or the queue of the host is dead
        if state == LATER:
            self.calendar.died()
            self._count_held(entry.host, -1)
        elif state == HELD:
            self.calendar.ahead -= 1
            super().remove(entry)
        else:
            super().remove(entry._replace(not_before=0.0) if entry.not_before else entry)

    def replace(self, old: DiskEntry, new: DiskEntry) -> None:
        state = self._rows[new.arrival].state
        if state == PAGED and not new.not_before:  # it stays in the queue of its host
            host = self._queues[new.host]
            host.ready.push_new((new.rank, new.arrival))
            host.ready.died()
            if host.held is not None or not self._stays(host, old, new):
                self.place(host)
        elif state == LATER and old.not_before == new.not_before:
            self.calendar.rescored(new.arrival, new.rank)
        else:
            self.remove(old)
            self.add(new)

    def turn(self, host: Any) -> None:
        """A URL of the host has come or gone: it may have fallen asleep or woken up."""
        change = self._counts.turn(host)
        if change:
            self.rule.count_host(0 if self.levels.are_set else -change, asleep=change)

    def take(self, entry: DiskEntry) -> None:
        number = entry.arrival
        score, offset, host, state = self._rows[number]
        self._rows.changed[number] = score, offset, host, LEASED
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
        self._page_in_active()

    def pass_time(self, now: float) -> None:
        self.now = now
        for _ in range(_FEW):
            number = self.calendar.pop(now)
            if number is None:
                break
            self._ripen(number)
        else:
            self._ripen_all(self.calendar.pop_all(now))
        super().pass_time(now)

    def first_wake(self) -> float | None:
        """As in general. It may be too early when more URLs are held than it looks at."""
        while True:
            pulled, due = self._pulled, super().first_wake()
            if pulled != self._pulled:
                continue  # to foresee the k rule, hosts were woken up
            first = self.calendar.first_time()
            if first is None or (due is not None and due <= first):
                return due
            if not self._pull():
                return first

    def best_rank(self) -> float | None:
        """The least rank of all waiting URLs that are not in the calendar."""
        first, entry = self.shared.first(), self.best()
        ranks = [first[0]] if first else []
        if entry is not None:
            ranks.append(entry.rank)
        return min(ranks, default=None)

    def load(self, host: Hashable, ranks: np.ndarray, numbers: np.ndarray) -> None:
        """Add many URLs at once to the queue of their host; their rows say so already."""
        queue = self.queue(host)
        queue.ready.load(ranks, numbers)
        queue.size += len(ranks)
        self.place(queue)

    # ------------------------------------------------------------ the calendar

    def _ripen(self, number: int) -> None:
        """The time of a URL that has left the calendar has come."""
        row = self._rows[number]
        self._count_held(row.host, -1)
        self.add(DiskEntry(-row.score, number, row.host, 0.0))

    def _ripen_all(self, numbers: np.ndarray) -> None:
        """The same of many: they go into the queues as a whole, and their rows change past the journal."""
        changed = np.isin(numbers, list(self._rows.changed))
        for number in numbers[changed].tolist():
            self._ripen(number)
        numbers = numbers[~changed]
        rows = self._rows.many(numbers)
        hosts, places, sizes = np.unique(rows["host"], return_inverse=True, return_counts=True)
        for host, size in zip(hosts.tolist(), sizes.tolist(), strict=True):
            self._count_held(host, -size)
        crowded = np.array([self._counts.awake(host) > self._crowd for host in hosts.tolist()], bool)
        alone = crowded[places] if len(numbers) else np.zeros(0, bool)
        self._rows.set_states(numbers[alone], PAGED)
        self._rows.set_states(numbers[~alone], SHARED)
        self.calendar.left(len(numbers))
        self.shared.load(-rows["score"][~alone], numbers[~alone])
        for place in np.flatnonzero(crowded).tolist():
            inside = places == place
            self.load(int(hosts[place]), -rows["score"][inside], numbers[inside])
        self._page_in_active()

    def _pull(self) -> bool:
        """Move the first URL of the calendar into the queue of its host, which holds it; False: there are too many."""
        if self.calendar.ahead >= self._ahead:
            return False
        number = self.calendar.pop(math.inf)
        if number is not None:
            self._pulled += 1
            score, _, host, _ = self._rows[number]
            self.calendar.pull_ahead(number)
            self._count_held(host, -1)
            HostSchedule.add(self, DiskEntry(-score, number, host, self._held_until[number]))
        return True

    def _foresee(self, at: float) -> None:
        while (first := self.calendar.first_time()) is not None and first <= at and self._pull():
            pass

    def _count_held(self, host: Any, change: int) -> None:
        """So many URLs of the host more or less are in the calendar."""
        self._counts.held[host] += change
        self.turn(host)
        self.recount(host)

    # ------------------------------------------------------------ inside

    def _page_in_active(self) -> None:
        while (first := self.shared.first()) and first[0] <= self._paged_in:
            self._page_in(self._entry(first))

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
        return DiskEntry(rank, number, self._rows[number].host, 0.0)

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
            entries = host.ready.all_in_memory() if not host.held else None
            if entries is not None:
                self.forget(host)
                for entry in entries:
                    self._rows.set_state(entry[1], SHARED)
                    self.shared.push(entry)
        few = before - len(self._queues) < _PAGED_OUT // 8  # the others rest, or have too much to move
        self._next_look = max(self._most, before + _PAGED_OUT // 2 if few else 0)
