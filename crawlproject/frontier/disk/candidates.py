"""What Best-N-First may commit to, of a frontier on disk: queues of ``DiskEntry`` over queues of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crawlproject.frontier.disk.class_queues import ClassQueues
from crawlproject.frontier.disk.hold_times import HoldTimes
from crawlproject.frontier.disk.paged_host_queue import DiskEntry
from crawlproject.frontier.disk.spill_file import SpillFile
from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue
from crawlproject.frontier.disk.url_table import WAITING, UrlTable

_CHUNK = 64  # entries that are read together


class CandidateQueue:
    """All waiting URLs that may be taken, and that are ``among`` those asked for: ``DiskEntry`` in, ``DiskEntry`` out."""

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
    """All waiting URLs that are held, by time: ``(time, DiskEntry)`` in and out."""

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
