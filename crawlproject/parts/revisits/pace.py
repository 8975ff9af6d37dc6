"""How fast a crawl goes that never ends."""

from __future__ import annotations

from crawlproject.parts.revisits.options import RevisitOptions

WEEK = 7 * 86_400.0
_LONGEST_LINE = 86_400.0  # seconds: who would wait longer comes again earlier


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


class Slots:
    """The share that some fetches have of all: ``rate`` a second. Those that come too soon are told when to come again.

    They stand in a line that moves at this rate. Only a fetch that begins uses a slot up; else those in the line would put off
    each other for ever. Nothing is kept of those in the line.
    """

    def __init__(self) -> None:
        self._pace = Pace(burst=1)
        self._last_in_line = 0.0

    @property
    def rate(self) -> float:
        return self._pace.rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._pace.rate = rate

    def begin(self, now: float) -> float:
        """When a fetch may begin; ``now``: at once, and its slot is used. Later: to be asked again then."""
        free = self._pace.next_time()
        if free <= now:
            self._pace.taken(now)
            return now
        last = self._last_in_line if self._last_in_line < now + _LONGEST_LINE else 0.0
        self._last_in_line = max(free, last + 1.0 / self.rate)
        return self._last_in_line


def rate_of(options: RevisitOptions, present: int) -> float:
    """Fetches a second of a crawl whose collection has ``present`` pages: ``CRAWL_RATE``, or each page once a week."""
    return options.crawl_rate / 3600.0 or max(1, present) / WEEK
