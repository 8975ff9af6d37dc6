"""The held URLs of a frontier on disk, ordered by the time from which they may be taken.

A collection that is kept fresh has a next visit for each of its pages, so it has as many held URLs as pages. (WebFountain keeps
them in FIFO queues on disk, one for each rate of visits: paper 004 section 5.3. Here each URL has its own time.)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import numpy as np

from crawlproject.frontier.disk.class_queues import ClassEntry, ClassQueues
from crawlproject.frontier.disk.hold_times import HoldTimes
from crawlproject.frontier.disk.host_counts import HostCounts
from crawlproject.frontier.disk.spill_file import Entry, SpillFile
from crawlproject.frontier.disk.spilled_queue import SpilledQueue
from crawlproject.frontier.disk.url_table import CLASS_BITS, HELD, LATER, PAGED, UrlTable, classes_of


class Calendar:
    """URLs in state ``LATER``, in two orders on disk: by time and, once this is needed, by class and rank.

    ``ahead`` counts the URLs that left the calendar before their time. They are in state ``HELD``, in the queues of their hosts.
    """

    def __init__(
        self, file: SpillFile, rows: UrlTable, held_until: HoldTimes, counts: HostCounts, *, limit: int
    ) -> None:
        self._file = file
        self._rows = rows
        self._held_until = held_until
        self._counts = counts
        self._limit = limit
        self._by_time = SpilledQueue(file, self._is_current, self._are_current, limit=limit, chunk=64)
        self._by_rank: ClassQueues | None = None
        self._earliest = math.inf  # a lower bound of the times
        self.ahead = 0

    def push(self, number: int, precedence: int, rank: float, not_before: float) -> None:
        self._rows.set_state(number, LATER)
        self._by_time.push((not_before, number))
        self._earliest = min(self._earliest, not_before)
        self.rescored(number, precedence, rank)

    def rescored(self, number: int, precedence: int, rank: float) -> None:
        """A URL inside now has this class and rank."""
        if self._by_rank is not None:
            self._by_rank.push(precedence, (rank, number))

    def died(self, precedence: int) -> None:
        """A URL of this class inside is no longer held, or is held until another time."""
        self._by_time.died()
        if self._by_rank is not None:
            self._by_rank.died(precedence)

    def load(self, times: np.ndarray, numbers: np.ndarray) -> None:
        """Add many URLs at once."""
        if len(numbers):
            self._rows.set_states(numbers, LATER)
            self._by_time.load(times, numbers)
            self._earliest = min(self._earliest, float(times.min()))

    def first_time(self) -> float | None:
        """The time of the first URL."""
        first = self._by_time.first()
        self._earliest = first[0] if first else math.inf
        return first[0] if first else None

    def pop(self, until: float) -> int | None:
        """Remove and return the first URL if its time is ``until`` or earlier. Its row must still be that of a held URL."""
        if self._earliest > until:
            return None
        time = self.first_time()
        if time is None or time > until:
            return None
        entry = self._by_time.pop()
        assert entry is not None
        if self._by_rank is not None:
            self._by_rank.died(self._rows[entry[1]].precedence)
        return entry[1]

    def pop_all(self, until: float) -> np.ndarray:
        """Remove all URLs up to this time. Return their numbers."""
        times, numbers = self._by_time.pop_until(until)
        changed = np.isin(numbers, list(self._rows.changed)) if self._rows.changed else np.zeros(len(numbers), bool)
        for place in np.flatnonzero(changed).tolist():
            changed[place] = not self._is_current((float(times[place]), int(numbers[place])))
        return np.unique(numbers[~changed])

    def left(self, precedences: np.ndarray) -> None:
        """URLs of these classes that ``pop_all`` returned are in other states now."""
        if self._by_rank is not None:
            for precedence in precedences.tolist():
                self._by_rank.died(precedence)

    def pull_ahead(self, number: int, host: Hashable) -> None:
        """The URL is now in the queue of its host, and held there."""
        self._rows.set_state(number, HELD)
        self.left_early(host, 1)

    def left_early(self, host: Hashable, change: int) -> None:
        """Change the number of the host's URLs that are held in its queue."""
        self.ahead += change
        self._counts.count_ahead(host, change)

    def ripened(self, number: int, precedence: int, host: Hashable) -> None:
        """The time of a URL that was pulled ahead has come."""
        self._rows.set_state(number, PAGED)
        self.left_early(host, -1)
        self._counts.count_class(host, precedence, 1)

    def first_in_order(self, all_inside: Iterable[tuple[np.ndarray, np.ndarray]]) -> ClassEntry | None:
        """The first URL by class and rank. ``all_inside``: numbers and rows of all URLs, used by the first call."""
        if self._by_rank is None:
            self._by_rank = ClassQueues(self._new_by_rank)
            for numbers, rows in all_inside:
                self._by_rank.load(classes_of(rows), -rows["score"], numbers)
        return self._by_rank.first()

    def _new_by_rank(self, precedence: int) -> SpilledQueue:
        rows, standing = self._rows, LATER | CLASS_BITS[precedence]
        return SpilledQueue(
            self._file,
            lambda entry: rows.matches(entry[1], -entry[0], standing),
            lambda ranks, numbers: rows.match_many(numbers, -ranks, (LATER,), precedence),
            limit=self._limit,
            chunk=64,
        )

    def _is_current(self, entry: Entry) -> bool:
        time, number = entry
        return self._rows[number].state == LATER and self._held_until[number] == time

    def _are_current(self, times: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return self._rows.match_many(numbers, None, (LATER,)) & (self._held_until.many(numbers) == times)
