"""What each host was asked for, and whether the pauses between the fetches of a host were long enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from crawlproject.records import Visit

TOLERANCE = 0.001  # seconds: clocks and rounding


class HostLine(NamedTuple):
    """One host. ``smallest_gap`` is in seconds, None with fewer than two fetches."""

    host: str
    pages: int
    fetches: int
    mean_relevance: float
    smallest_gap: float | None
    too_soon: int
    failures: int


@dataclass(frozen=True, slots=True)
class Pause:
    """The pause asked for after a fetch: ``max(min_delay, factor * seconds of the fetch)``, in seconds.

    A ``Crawl-delay`` of robots.txt may ask for more; it is not in the history and not looked at here.
    """

    min_delay: float
    factor: float

    def after(self, visit: Visit) -> float:
        return max(self.min_delay, self.factor * visit.seconds)


@dataclass(slots=True)
class HostTally:
    """Counts of one host, fed with its visits in fetch order."""

    pages: int = 0
    fetches: int = 0
    relevance: float = 0.0
    smallest_gap: float | None = None
    too_soon: int = 0
    failures: int = 0
    _end: float | None = None
    _required: float = 0.0

    def add(self, visit: Visit, *, page: bool, pause: Pause) -> None:
        """Count a fetch; ``page``: a page was stored that was not there before."""
        self.fetches += 1
        if page:
            self.pages += 1
            self.relevance += visit.relevance
        elif not visit.md5:
            self.failures += 1
        if visit.status or visit.seconds > 0:  # otherwise nothing was sent to the host
            self._measure_gap(visit.at - visit.seconds)
            self._end = visit.at
            self._required = pause.after(visit)

    def line(self, host: str) -> HostLine:
        mean = self.relevance / self.pages if self.pages else 0.0
        return HostLine(host, self.pages, self.fetches, mean, self.smallest_gap, self.too_soon, self.failures)

    def _measure_gap(self, start: float) -> None:
        if self._end is None:
            return
        gap = start - self._end
        self.smallest_gap = gap if self.smallest_gap is None else min(gap, self.smallest_gap)
        if gap < self._required - TOLERANCE:
            self.too_soon += 1
