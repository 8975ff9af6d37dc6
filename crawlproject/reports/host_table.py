"""Fetches, pages and refusals per host, and whether the pauses between its fetches were long enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from crawlproject.records import CRAWL_DELAY, RETRY_AFTER, Visit
from crawlproject.storage.read import CrawlInfo

TOLERANCE = 0.001  # seconds, for clock resolution and rounding
BLOCK = "block/"  # prefix of the errors of block pages, such as a captcha
REFUSING = frozenset({403, 429, 503})  # statuses of servers that refuse a crawler, for good or for now


class HostTableRow(NamedTuple):
    """One host. ``smallest_gap`` is in seconds, None with fewer than two fetches.

    ``crawl_delay`` is the longest delay in seconds that its robots.txt asked for, 0 for none. ``rests`` counts replies with
    ``Retry-After``, ``blocks`` those that refused to serve a crawler (a block page, or a status in ``REFUSING``).
    """

    host: str
    pages: int
    fetches: int
    mean_relevance: float
    smallest_gap: float | None
    too_soon: int
    failures: int
    crawl_delay: float = 0.0
    rests: int = 0
    blocks: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """The required pause after a fetch in seconds: ``max(min_delay, crawl_delay, factor * duration) + retry_after``.

    ``Crawl-delay`` and ``Retry-After`` are among the signs of the visit.
    """

    min_delay: float
    factor: float

    def after(self, visit: Visit) -> float:
        signs = visit.signs
        rest = max(self.min_delay, self.factor * visit.seconds, signs.get(CRAWL_DELAY, 0.0))
        return rest + signs.get(RETRY_AFTER, 0.0)


def pause_of(info: CrawlInfo) -> Pause:
    """The pause that the settings of a crawl require."""
    return Pause(info.number("POLITENESS_MIN_DELAY", 0.0), info.number("POLITENESS_FACTOR", 0.0))


@dataclass(slots=True)
class HostTally:
    """Counts the visits of one host, which must be added in fetch order."""

    pages: int = 0
    fetches: int = 0
    relevance: float = 0.0
    smallest_gap: float | None = None
    gaps: int = 0
    too_soon: int = 0
    failures: int = 0
    crawl_delay: float = 0.0
    rests: int = 0
    blocks: int = 0
    _end: float | None = None
    _required: float = 0.0

    def add(self, visit: Visit, *, page: bool, pause: Pause) -> None:
        """Count a fetch; ``page`` says whether it stored a new page."""
        self.fetches += 1
        if page:
            self.pages += 1
            self.relevance += visit.relevance
        elif not visit.md5 and not visit.change:
            self.failures += 1
            self.blocks += visit.status in REFUSING or visit.error.startswith(BLOCK)
        if visit.signs:
            self.crawl_delay = max(self.crawl_delay, visit.signs.get(CRAWL_DELAY, 0.0))
            self.rests += RETRY_AFTER in visit.signs
        if visit.status or visit.seconds > 0:  # otherwise no request was sent
            self._measure_gap(visit.at - visit.seconds)
            self._end = visit.at
            self._required = pause.after(visit)

    def row(self, host: str) -> HostTableRow:
        mean = self.relevance / self.pages if self.pages else 0.0
        return HostTableRow(
            host, self.pages, self.fetches, mean, self.smallest_gap, self.too_soon, self.failures,
            self.crawl_delay, self.rests, self.blocks,
        )  # fmt: skip

    def _measure_gap(self, start: float) -> None:
        if self._end is None:
            return
        gap = start - self._end
        self.gaps += 1
        self.smallest_gap = gap if self.smallest_gap is None else min(gap, self.smallest_gap)
        if gap < self._required - TOLERANCE:
            self.too_soon += 1
