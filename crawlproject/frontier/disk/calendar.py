"""The waiting URLs of a frontier on disk that are held, by the time at which they may be taken.

A collection that is kept fresh has a next visit for each of its pages: as many held URLs as pages. (In WebFountain they are
in FIFO queues on disk, a queue for a rate of visits: paper 004 section 5.3. Here each URL has a time of its own.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from crawlproject.frontier.disk.hold_times import HoldTimes
from crawlproject.frontier.disk.spill_file import SpillFile
from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue
from crawlproject.frontier.disk.url_table import HELD, LATER, PAGED, UrlTable


class Calendar:
    """URLs in state ``LATER``: two orders of them on disk, by time and, once it was asked for, by rank.

    ``ahead`` counts the URLs that left it before their time: they are in state ``HELD``, in the queues of their hosts.
    """

    def __init__(self, file: SpillFile, rows: UrlTable, held_until: HoldTimes, *, limit: int) -> None:
        self._file = file
        self._rows = rows
        self._held_until = held_until
        self._limit = limit
        self._by_time = SpilledQueue(file, self._is_current, self._are_current, limit=limit, chunk=64)
        self._by_rank: SpilledQueue | None = None
        self._earliest = math.inf  # no URL has an earlier time
        self.ahead = 0

    def push(self, number: int, rank: float, not_before: float) -> None:
        self._rows.set_state(number, LATER)
        self._by_time.push((not_before, number))
        self._earliest = min(self._earliest, not_before)
        self.rescored(number, rank)

    def rescored(self, number: int, rank: float) -> None:
        if self._by_rank is not None:
            self._by_rank.push((rank, number))

    def died(self) -> None:
        """A URL inside is no longer held, or until another time."""
        self._by_time.died()
        if self._by_rank is not None:
            self._by_rank.died()

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
        """The first URL, which leaves, if its time is ``until`` or earlier. Its row is still that of a held URL."""
        if self._earliest > until:
            return None
        time = self.first_time()
        if time is None or time > until:
            return None
        entry = self._by_time.pop()
        assert entry is not None
        if self._by_rank is not None:
            self._by_rank.died()
        return entry[1]

    def pop_all(self, until: float) -> np.ndarray:
        """The numbers of all URLs up to this time, which leave."""
        times, numbers = self._by_time.pop_until(until)
        changed = np.isin(numbers, list(self._rows.changed)) if self._rows.changed else np.zeros(len(numbers), bool)
        for place in np.flatnonzero(changed).tolist():
            changed[place] = not self._is_current((float(times[place]), int(numbers[place])))
        return np.unique(numbers[~changed])

    def left(self, count: int) -> None:
        """So many URLs that ``pop_all`` gave are in other states now."""
        if self._by_rank is not None:
            for _ in range(count):
                self._by_rank.died()

    def pull_ahead(self, number: int) -> None:
        """The URL is in the queue of its host now, and held there."""
        self._rows.set_state(number, HELD)
        self.ahead += 1

    def ripened(self, number: int) -> None:
        """The time of a URL that was pulled ahead has come."""
        self._rows.set_state(number, PAGED)
        self.ahead -= 1

    def best_rank(self, all_inside: Iterable[tuple[np.ndarray, np.ndarray]]) -> float | None:
        """The least rank. ``all_inside``: numbers and rows of all URLs, for the first time that this is asked."""
        if self._by_rank is None:
            self._by_rank = SpilledQueue(
                self._file,
                lambda entry: self._rows.matches(entry[1], -entry[0], LATER),
                lambda ranks, numbers: self._rows.match_many(numbers, -ranks, (LATER,)),
                limit=self._limit,
                chunk=64,
            )
            for numbers, rows in all_inside:
                self._by_rank.load(-rows["score"], numbers)
        first = self._by_rank.first()
        return first[0] if first else None

    def _is_current(self, entry: Entry) -> bool:
        time, number = entry
        return self._rows[number].state == LATER and self._held_until[number] == time

    def _are_current(self, times: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return self._rows.match_many(numbers, None, (LATER,)) & (self._held_until.many(numbers) == times)
