"""The queue of one host of a frontier on disk."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from crawlproject.frontier.disk.calendar import Calendar
from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue


class DiskEntry(NamedTuple):
    """A waiting URL as the schedule sees it: ``arrival`` is its number, ``host`` that of its host."""

    rank: float
    arrival: int
    host: Hashable
    not_before: float


class PagedHostQueue:
    """The queue of one host, as ``HostQueue`` wants it: ``DiskEntry`` in, ``DiskEntry`` out."""

    __slots__ = ("_calendar", "_entry", "_first", "_host", "_new_queue", "_queue")

    def __init__(self, host: Hashable, new_queue: Callable[[], SpilledQueue], calendar: Calendar) -> None:
        self._host = host
        self._new_queue = new_queue
        self._queue: SpilledQueue | None = None  # many hosts never need one
        self._calendar = calendar
        self._first: Entry | None = None
        self._entry: DiskEntry | None = None

    def push(self, entry: DiskEntry) -> None:
        if entry.not_before:
            self._calendar.ripened(entry.arrival)
        self.push_new((entry.rank, entry.arrival))

    def push_new(self, entry: Entry) -> None:
        """Add a URL that was never held."""
        if self._queue is None:
            self._queue = self._new_queue()
        self._queue.push(entry)

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
