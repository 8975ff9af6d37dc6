"""How fast a crawl goes that never ends."""

from __future__ import annotations


class Pace:
    """So many fetches a second, evenly; after a pause at most ``burst`` of them at once."""

    def __init__(self, burst: int = 10) -> None:
        self.rate = 0.0  # fetches a second; 0: any number
        self._burst = burst
        self._next = 0.0

    def next_time(self) -> float:
        """When the next fetch may begin, in seconds since the epoch."""
        return self._next if self.rate else 0.0

    def taken(self, now: float) -> None:
        """A fetch begins."""
        if self.rate:
            self._next = max(self._next, now - self._burst / self.rate) + 1.0 / self.rate
