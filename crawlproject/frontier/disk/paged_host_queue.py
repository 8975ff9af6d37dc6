"""The queue of one host of a frontier on disk, and those of Best-N-First's candidates: ``DiskEntry`` over queues of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from crawlproject.frontier.disk.calendar import Calendar
from crawlproject.frontier.disk.class_queues import ClassEntry, ClassQueues
from crawlproject.frontier.disk.hold_times import HoldTimes
from crawlproject.frontier.disk.spill_file import Entry, SpillFile
from crawlproject.frontier.disk.spilled_queue import SpilledQueue
from crawlproject.frontier.disk.url_table import WAITING, UrlTable
from crawlproject.records import ACTIVE, PLANTED

_CHUNK = 64  # entries read at once


class DiskEntry(NamedTuple):
    """A waiting URL as the schedule sees it: ``arrival`` is its number, ``host`` the number of its host."""

    precedence: int
    rank: float
    arrival: int
    host: Hashable
    not_before: float


class PagedHostQueue:
    """The queue of one host with the interface that ``HostQueue`` needs: ``DiskEntry`` in, ``DiskEntry`` out.

    ``new_queue`` makes the queue of a class. Many hosts never need one, and few need one for a class other than ``ACTIVE``.
    """

    __slots__ = ("_active", "_calendar", "_entry", "_first", "_host", "_new_queue", "_others")

    def __init__(self, host: Hashable, new_queue: Callable[[int], SpilledQueue], calendar: Calendar) -> None:
        self._host = host
        self._new_queue = new_queue
        self._active: SpilledQueue | None = None
        self._others: ClassQueues | None = None
        self._calendar = calendar
        self._first: Entry | None = None
        self._entry: DiskEntry | None = None

    def push(self, entry: DiskEntry) -> None:
        if entry.not_before:
            self._calendar.ripened(entry.arrival, entry.precedence, entry.host)
        self.push_new(entry.precedence, entry.rank, entry.arrival)

    def push_new(self, precedence: int, rank: float, number: int) -> None:
        """Add a URL that was never held."""
        queue = self._active if precedence == ACTIVE else None
        (queue or self._of(precedence)).push((rank, number))

    def first(self) -> DiskEntry | None:
        if self._others is None:  # the fast path of most hosts
            first = self._active.first() if self._active is not None else None
            if first is None:
                return None
            if first != self._first:
                self._first, self._entry = first, DiskEntry(ACTIVE, first[0], first[1], self._host, 0.0)
            return self._entry
        key = self._first_key()
        return None if key is None else DiskEntry(*key, self._host, 0.0)

    def died(self, entry: DiskEntry) -> None:
        self._of(entry.precedence).died()

    def all_in_memory(self) -> list[ClassEntry] | None:
        """All entries if none is on disk, else None."""
        active = [] if self._active is None else self._active.all_in_memory()
        others = [] if self._others is None else self._others.all_in_memory()
        return None if active is None or others is None else [*((ACTIVE, *entry) for entry in active), *others]

    def load(self, precedences: np.ndarray, ranks: np.ndarray, numbers: np.ndarray) -> None:
        for precedence in np.flatnonzero(np.bincount(precedences)).tolist():
            inside = precedences == precedence
            self._of(precedence).load(ranks[inside], numbers[inside])

    # ------------------------------------------------------------ inside

    def _of(self, precedence: int) -> SpilledQueue:
        """The queue of a class; a new one if it has none."""
        if precedence != ACTIVE:
            if self._others is None:
                self._others = ClassQueues(self._new_queue)
            return self._others.of(precedence)
        if self._active is None:
            self._active = self._new_queue(ACTIVE)
        return self._active

    def _first_key(self) -> ClassEntry | None:
        """The first entry of all classes, if there are classes other than ``ACTIVE``."""
        assert self._others is not None
        lower = self._others.first(PLANTED)
        if lower is not None:
            return lower
        first = self._active.first() if self._active is not None else None
        return (ACTIVE, *first) if first is not None else self._others.first()


class CandidateQueue:
    """All waiting URLs that may be taken and for which ``among`` is True: ``DiskEntry`` in, ``DiskEntry`` out."""

    def __init__(
        self,
        file: SpillFile,
        rows: UrlTable,
        entry_of: Callable[[int, Entry], DiskEntry],
        among: Callable[[DiskEntry], bool],
        limit: int,
    ) -> None:
        def new_queue(precedence: int) -> SpilledQueue:
            return SpilledQueue(
                file,
                lambda entry: among(entry_of(precedence, entry)),
                lambda ranks, numbers: rows.match_many(numbers, -ranks, WAITING, precedence),
                limit=limit,
                chunk=_CHUNK,
            )

        self._entry_of = entry_of
        self._queues = ClassQueues(new_queue)
        self.load = self._queues.load

    def push(self, entry: DiskEntry) -> None:
        self._queues.push(entry.precedence, (entry.rank, entry.arrival))

    def died(self, entry: DiskEntry) -> None:
        self._queues.died(entry.precedence)

    def pop(self) -> DiskEntry | None:
        first = self._queues.pop()
        return self._entry_of(first[0], first[1:]) if first else None


class HeldQueue:
    """All held URLs, by time: ``(time, DiskEntry)`` in and out."""

    def __init__(
        self,
        file: SpillFile,
        rows: UrlTable,
        held_until: HoldTimes,
        entry_of: Callable[[int], DiskEntry],
        among: Callable[[Any], bool],
        limit: int,
    ) -> None:
        self._entry_of = entry_of
        self._queue = SpilledQueue(
            file,
            lambda entry: held_until[entry[1]] == entry[0] and among((entry[0], entry_of(entry[1]))),
            lambda times, numbers: rows.match_many(numbers, None, WAITING) & (held_until.many(numbers) == times),
            limit=limit,
            chunk=_CHUNK,
        )
        self.load = self._queue.load

    def push(self, item: tuple[float, DiskEntry]) -> None:
        self._queue.push((item[0], item[1].arrival))

    def died(self, entry: DiskEntry) -> None:
        self._queue.died()

    def first(self) -> tuple[float, DiskEntry] | None:
        first = self._queue.first()
        return (first[0], self._entry_of(first[1])) if first else None

    def pop(self) -> None:
        self._queue.pop()
