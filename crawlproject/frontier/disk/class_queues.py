"""A ``SpilledQueue`` for each precedence class that occurs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crawlproject.frontier.disk.spill_file import Entry
from crawlproject.frontier.disk.spilled_queue import SpilledQueue
from crawlproject.records import ACTIVE, WASTE

ClassEntry = tuple[int, float, int]
"""The class, the rank and the number of a URL, as they are compared."""


class ClassQueues:
    """Queues of entries, the lowest class first. ``new`` makes a queue on first use, as most crawls have few classes."""

    __slots__ = ("_new", "_queues", "has_late")

    def __init__(self, new: Callable[[int], SpilledQueue]) -> None:
        self._new = new
        self._queues: dict[int, SpilledQueue] = {}  # ascending
        self.has_late = False  # whether any URL ever had a class above ``ACTIVE``

    def of(self, precedence: int) -> SpilledQueue:
        """The queue of a class; a new one if it has none."""
        queue = self._queues.get(precedence)
        if queue is None:
            queue = self._new(precedence)
            self.has_late |= precedence > ACTIVE
            self._queues = dict(sorted([*self._queues.items(), (precedence, queue)]))
        return queue

    def push(self, precedence: int, entry: Entry) -> None:
        (self._queues.get(precedence) or self.of(precedence)).push(entry)

    def first(self, highest: int = WASTE) -> ClassEntry | None:
        """The least living entry of the lowest class that has one, up to ``highest``; it stays inside."""
        for precedence, queue in self._queues.items():
            if precedence > highest:
                break
            first = queue.first()
            if first is not None:
                return precedence, first[0], first[1]
        return None

    def first_of(self, precedence: int) -> ClassEntry | None:
        """The least living entry of this class."""
        queue = self._queues.get(precedence)
        first = queue.first() if queue is not None else None
        return (precedence, *first) if first is not None else None

    def drop(self, first: ClassEntry) -> None:
        """Remove an entry that ``first`` or ``first_of`` returned."""
        precedence, rank, number = first
        self._queues[precedence].drop((rank, number))

    def pop(self) -> ClassEntry | None:
        """Remove and return the ``first`` entry."""
        first = self.first()
        if first is not None:
            self.drop(first)
        return first

    def died(self, precedence: int) -> None:
        """Report that an entry of this class is no longer alive."""
        self.of(precedence).died()

    def load(self, precedences: np.ndarray, ranks: np.ndarray, numbers: np.ndarray) -> None:
        """Add many entries at once."""
        for precedence in np.flatnonzero(np.bincount(precedences)).tolist():
            inside = precedences == precedence
            self.of(precedence).load(ranks[inside], numbers[inside])

    def all_in_memory(self) -> list[ClassEntry] | None:
        """The living entries, in no order; None if some are on disk."""
        found: list[ClassEntry] = []
        for precedence, queue in self._queues.items():
            entries = queue.all_in_memory()
            if entries is None:
                return None
            found += [(precedence, *entry) for entry in entries]
        return found
