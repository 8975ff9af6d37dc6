"""The schedule of a frontier whose URLs do not fit into memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from crawlproject.frontier.disk.calendar import Calendar
from crawlproject.frontier.disk.class_queues import ClassQueues
from crawlproject.frontier.disk.hold_times import HoldTimes
from crawlproject.frontier.disk.host_counts import ASLEEP, COUNTED, HostCounts
from crawlproject.frontier.disk.paged_host_queue import DiskEntry
from crawlproject.frontier.disk.shared_queue_schedule import SharedQueueSchedule
from crawlproject.frontier.disk.url_table import CLASS_BITS, HELD, LATER, LEASED, PAGED, SHARED, UrlTable, classes_of
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.k_rule import HostClasses, KRule
from crawlproject.records import ACTIVE

_FEW = 256  # URLs that have become due are moved one by one up to this number
_NONE_PAGED_IN = (-1, 0.0)


class PagedSchedule(SharedQueueSchedule):
    """Decides in which queue a URL waits: that of its host, a shared one, or the calendar.

    A new URL goes to the queue of its host at once if the host is in memory or demoted, or has more than ``crowd`` URLs
    already: otherwise, all URLs of a resting host could hold up a choice. So most hosts, which have few URLs and have not had
    their turn, take no memory at all.

    The k rule counts hosts by their URLs (``HostCounts``). Under a floor, the URLs of hosts up to ``ACTIVE`` never wait in a
    shared queue, and the k rule counts those hosts by their classes.

    Held URLs wait in the calendar. Only when the next due time is asked for, the first of them move into the queues of their
    hosts, as far as the answer needs them, and at most ``ahead`` of them. Beyond that, the answer may be too early.
    """

    def __init__(
        self,
        new_queue: Callable[[Any], HostQueue],
        rule: KRule,
        *,
        shared: ClassQueues,
        rows: UrlTable,
        calendar: Calendar,
        counts: HostCounts,
        held_until: HoldTimes,
        crowd: int,
        most: int,
        ahead: int,
        classes: HostClasses | None = None,
    ) -> None:
        super().__init__(new_queue, rule, shared=shared, rows=rows, counts=counts, most=most, classes=classes)
        self.calendar = calendar
        self._counts = counts
        self._held_until = held_until
        self._ahead = ahead
        self._pulled = 0
        self._crowd = crowd
        rule.foresee = self._foresee
        self._paged_in: tuple[int, float] = (
            _NONE_PAGED_IN  # URLs up to this class and rank are in the queues of their hosts
        )

    def takes(self, precedence: int, rank: float, host: Any) -> bool:
        """Whether a new URL goes to the queue of its host rather than to a shared one."""
        return (
            host in self._queues
            or (precedence, rank) <= self._paged_in
            or host in self.classes.demoted
            or self._counts.awake(host) > self._crowd
        )

    def count_hosts(self, change: int) -> None:
        """One host more (1) or fewer (-1) has waiting URLs. ``turn`` informs the k rule."""
        self.total += change

    def add(self, entry: DiskEntry) -> None:
        if entry.not_before and entry.not_before > self.now:
            self.calendar.push(entry.arrival, entry.precedence, entry.rank, entry.not_before)
            self._count_held(entry.host, 1)
            return
        if entry.precedence != ACTIVE:
            self._counts.count_class(entry.host, entry.precedence, 1)
        if self.takes(entry.precedence, entry.rank, entry.host):
            self._rows.set_state(entry.arrival, PAGED)
            super().add(entry._replace(not_before=0.0) if entry.not_before else entry)
        else:
            self._rows.set_state(entry.arrival, SHARED)
            self.shared.push(entry.precedence, (entry.rank, entry.arrival))

    def add_new(self, number: int, score: float, offset: int, name: Any, precedence: int) -> None:
        """Add a new URL that is not held, with its row: a short cut for ``add``."""
        rank, host = -score, self._queues.get(name)
        if precedence != ACTIVE:
            self._counts.count_class(name, precedence, 1)
        if host is None and not self.takes(precedence, rank, name):
            self._rows.changed[number] = score, offset, name, SHARED | CLASS_BITS[precedence]
            self.shared.push(precedence, (rank, number))
            return
        if host is None:
            host = self.queue(name)
        # The row comes first, because a queue that spills looks at it.
        self._rows.changed[number] = score, offset, name, PAGED | CLASS_BITS[precedence]
        host.size += 1
        if precedence != ACTIVE:
            host.has_classes = True
        host.ready.push_new(precedence, rank, number)
        if host.size == 1 or host.held is not None or not host.first_key < (precedence, rank, number):
            self.place(host)

    def remove(self, entry: DiskEntry) -> None:
        """The URL no longer waits, or no longer in this queue. Its row must still be that of a waiting URL."""
        state = self._rows[entry.arrival].state
        if state in (SHARED, PAGED) and entry.precedence != ACTIVE:
            self._counts.count_class(entry.host, entry.precedence, -1)
        if state == SHARED:
            self.shared.died(entry.precedence)
            self.recount(entry.host)
            return
        self._rows.set_state(entry.arrival, SHARED)  # so its entry in the calendar or the queue of the host is dead
        if state == LATER:
            self.calendar.died(entry.precedence)
            self._count_held(entry.host, -1)
        elif state == HELD:
            self.calendar.left_early(entry.host, -1)
            super().remove(entry)
        else:
            super().remove(entry._replace(not_before=0.0) if entry.not_before else entry)

    def replace(self, old: DiskEntry, new: DiskEntry) -> None:
        state = self._rows[new.arrival].state
        if state == LATER and old.not_before == new.not_before:
            self.calendar.rescored(new.arrival, new.precedence, new.rank)
        elif state == PAGED and not new.not_before and old.precedence == new.precedence:
            host = self._queues[new.host]  # the URL stays in the queue of its host
            host.ready.push_new(new.precedence, new.rank, new.arrival)
            host.ready.died(old)
            if host.held is not None or not host.first_key < min(old, new)[:3]:
                self.place(host)
        else:
            self.remove(old)
            self.add(new)
            self.turn(new.host)

    def turn(self, host: Any) -> None:
        """A URL of the host came, left or changed, or the host's class did: update how the k rule counts the host."""
        old, new = self._counts.turn(host, host in self.classes.demoted)
        if old != new:
            counted = 0 if self._counts_by_class else (new == COUNTED) - (old == COUNTED)
            self.rule.count_host(counted, asleep=(new == ASLEEP) - (old == ASLEEP))
            self.recount(host)

    def take(self, entry: DiskEntry) -> None:
        number = entry.arrival
        score, offset, host, standing = self._rows[number]
        bits = CLASS_BITS[entry.precedence]
        self._rows.changed[number] = score, offset, host, LEASED | bits
        if bits:
            self._counts.count_class(host, entry.precedence, -1)
        if standing == SHARED | bits:
            self.lease(host)
            self.shared.drop(entry[:3])
        else:
            super().take(entry)
        if len(self._queues) > self._next_look:
            self._page_out()

    def set_floor(self, floor: float, spare: float) -> None:
        self._paged_in = (ACTIVE, -floor) if floor > -math.inf else _NONE_PAGED_IN
        super().set_floor(floor, spare)
        self._page_in_active()

    def set_host_precedence(self, name: Hashable, precedence: int) -> None:
        super().set_host_precedence(name, precedence)
        self.turn(name)

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
        """As in ``HostSchedule``. Too early if more URLs are held than it looks at."""
        while True:
            pulled, due = self._pulled, super().first_wake()
            if pulled != self._pulled:
                continue  # foreseeing the k rule woke hosts up
            first = self.calendar.first_time()
            if first is None or (due is not None and due <= first):
                return due
            if not self._pull():
                return first

    # ------------------------------------------------------------ the calendar

    def _ripen(self, number: int) -> None:
        """Queue a URL that has left the calendar because its time has come."""
        row = self._rows[number]
        self._counts.held[row.host] -= 1
        self.add(DiskEntry(row.precedence, -row.score, number, row.host, 0.0))
        self.turn(row.host)
        self.recount(row.host)

    def _ripen_all(self, numbers: np.ndarray) -> None:
        """The same for many URLs: they enter the queues together, and their rows change without the journal."""
        changed = np.isin(numbers, list(self._rows.changed))
        for number in numbers[changed].tolist():
            self._ripen(number)
        numbers = numbers[~changed]
        rows = self._rows.many(numbers)
        ranks, classes = -rows["score"], classes_of(rows)
        for place in np.flatnonzero(classes != ACTIVE).tolist():
            self._counts.count_class(int(rows["host"][place]), int(classes[place]), 1)
        hosts, places, sizes = np.unique(rows["host"], return_inverse=True, return_counts=True)
        for host, size in zip(hosts.tolist(), sizes.tolist(), strict=True):
            self._count_held(host, -size)
        crowded = np.array([self._counts.awake(host) > self._crowd for host in hosts.tolist()], bool)
        alone = crowded[places] if len(numbers) else np.zeros(0, bool)
        self._rows.set_states(numbers[alone], PAGED)
        self._rows.set_states(numbers[~alone], SHARED)
        self.calendar.left(classes)
        self.shared.load(classes[~alone], ranks[~alone], numbers[~alone])
        for place in np.flatnonzero(crowded).tolist():
            inside = places == place
            self.load(int(hosts[place]), classes[inside], ranks[inside], numbers[inside])
        self._page_in_active()

    def _pull(self) -> bool:
        """Move the calendar's first URL into the queue of its host, still held. False if too many were moved already."""
        if self.calendar.ahead >= self._ahead:
            return False
        number = self.calendar.pop(math.inf)
        if number is not None:
            self._pulled += 1
            row = self._rows[number]
            self.calendar.pull_ahead(number, row.host)
            self._count_held(row.host, -1)
            entry = DiskEntry(row.precedence, -row.score, number, row.host, self._held_until[number])
            HostSchedule.add(self, entry)
        return True

    def _foresee(self, at: float) -> None:
        while (first := self.calendar.first_time()) is not None and first <= at and self._pull():
            pass

    def _count_held(self, host: Any, change: int) -> None:
        """Change the number of the host's URLs in the calendar."""
        self._counts.held[host] += change
        self.turn(host)
        self.recount(host)

    # ------------------------------------------------------------ inside

    def _floor_comes_or_goes(self) -> None:
        """Switch between the two ways in which the k rule counts hosts."""
        self._counts_by_class = False  # so that leaving a class counts nothing
        for host in self._queues.values():
            self._leave_class(host)
        self._counts_by_class = self.classes.has_floor
        counted = 0 if self._counts_by_class else self._counts.number(COUNTED)
        self.rule.set_hosts(counted, self._counts.number(ASLEEP))

    def _is_counted(self, host: HostQueue, precedence: int | None) -> bool:
        if self._counts_by_class:
            return precedence is not None and precedence <= ACTIVE
        return self._counts.is_counted(host.name)

    def _watch(self, host: HostQueue, precedence: int | None) -> None:
        if host.held is not None:
            self.turn(host.name)  # held URLs may have become due
        super()._watch(host, precedence)

    def _page_in_active(self) -> None:
        while (first := self.shared.first(ACTIVE)) and first[:2] <= self._paged_in:
            self._page_in(self._entry(first))
