"""How many URLs wait on each host of a frontier on disk."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np


class HostCounts:
    """URLs by the number of their host: those that wait, and of these the ones in the calendar, which are held.

    A host is *asleep* while all that waits on it is in the calendar; ``asleep`` says whether it was when ``turn`` was asked
    last. 9 bytes a host.
    """

    def __init__(self) -> None:
        self.waiting: Any = array("I")
        self.held: Any = array("I")
        self.asleep = bytearray()

    def grow(self, host: int) -> None:
        """Make room for the host."""
        more = host + 1 - len(self.waiting)
        self.waiting.frombytes(bytes(4 * more))
        self.held.frombytes(bytes(4 * more))
        self.asleep += bytes(more)

    def awake(self, host: Any) -> int:
        """URLs of the host that wait and are not in the calendar."""
        waiting: int = self.waiting[host] - self.held[host] if host < len(self.waiting) else 0
        return waiting

    def turn(self, host: int) -> int:
        """1 when the host has fallen asleep since this was asked last, -1 when it has woken up, else 0."""
        held = self.held[host]
        is_asleep = held > 0 and held == self.waiting[host]
        if is_asleep == self.asleep[host]:
            return 0
        self.asleep[host] = is_asleep
        return 1 if is_asleep else -1

    def load(self, waiting: np.ndarray, held: np.ndarray) -> tuple[int, int]:
        """At the opening. How many hosts have waiting URLs, and how many of these are asleep."""
        self.waiting = array("I", waiting.astype(np.uint32).tobytes())
        self.held = array("I", held.astype(np.uint32).tobytes())
        asleep = (held > 0) & (held == waiting)
        self.asleep = bytearray(asleep.astype(np.uint8).tobytes())
        return int(np.count_nonzero(waiting)), int(np.count_nonzero(asleep))
