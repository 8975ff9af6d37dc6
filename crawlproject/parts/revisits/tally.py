"""What the visits of one run of a crawl have shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from crawlproject.records import BACK, CHANGED, GONE, MISSING, MOVED, SAME, Visit

NEW = "new"  # pages that were stored for the first time
FAILED = "failed"  # visits that showed nothing
SHOWN = (SAME, CHANGED, NEW, MISSING, GONE, MOVED, BACK, FAILED)


class Tally:
    """Counts visits by what they showed. ``next_due`` is the time of the next visit when the run ended, None for none."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.next_due: float | None = None

    def add(self, visit: Visit) -> None:
        shown = visit.change or FAILED if visit.number > 1 else NEW if visit.md5 else FAILED
        self._counts[shown] += 1

    @property
    def visits(self) -> int:
        return self._counts.total()

    def __getitem__(self, shown: str) -> int:
        return self._counts[shown]

    def counters(self) -> Mapping[str, int]:
        """As ``parts/revisits/what was shown``, those that are not 0."""
        return {f"revisits/{shown}": self._counts[shown] for shown in SHOWN if self._counts[shown]}
