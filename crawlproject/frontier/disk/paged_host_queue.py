"""The queue of one host of a frontier on disk."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from crawlproject.frontier.disk.calendar import Calendar
from crawlproject.frontier.disk.class_queues import ClassEntry, ClassQueues
from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue
from crawlproject.records import ACTIVE, PLANTED


class DiskEntry(NamedTuple):
    """A waiting URL as the schedule sees it: ``arrival`` is its number, ``host`` that of its host."""

    precedence: int
    rank: float
    arrival: int
    host: Hashable
    not_before: float


class PagedHostQueue:
    """The queue of one host, as ``HostQueue`` wants it: ``DiskEntry`` in, ``DiskEntry`` out.

    ``new_queue`` makes the queue of a class. Many hosts never need one, and few another one than that of ``ACTIVE``.
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
        if self._others is None:  # the quick way of most hosts
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
        """All entries when there are so few that none is on disk."""
        active = [] if self._active is None else self._active.all_in_memory()
        others = [] if self._others is None else self._others.all_in_memory()
        return None if active is None or others is None else [*((ACTIVE, *entry) for entry in active), *others]

    def load(self, precedences: np.ndarray, ranks: np.ndarray, numbers: np.ndarray) -> None:
        for precedence in np.unique(precedences).tolist():
            inside = precedences == precedence
            self._of(precedence).load(ranks[inside], numbers[inside])

    # ------------------------------------------------------------ inside

    def _of(self, precedence: int) -> SpilledQueue:
        """The queue of a class, a new one when it has none."""
        if precedence != ACTIVE:
            if self._others is None:
                self._others = ClassQueues(self._new_queue)
            return self._others.of(precedence)
        if self._active is None:
            self._active = self._new_queue(ACTIVE)
        return self._active

    def _first_key(self) -> ClassEntry | None:
        """The first of all classes, of which there are others than ``ACTIVE``."""
        assert self._others is not None
        lower = self._others.first(PLANTED)
        if lower is not None:
            return lower
        first = self._active.first() if self._active is not None else None
        return (ACTIVE, *first) if first is not None else self._others.first()
