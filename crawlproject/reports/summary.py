"""Counts everything that the report of a crawl shows, in one pass over its history.

Memory grows with the number of hosts and by two numbers and a name per page.
"""

from __future__ import annotations

import heapq
from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from crawlproject.evaluation.measures import Curve
from crawlproject.records import Visit
from crawlproject.reports.tallies import (
    BestPages,
    FailureKind,
    HostTableRow,
    HostTally,
    LineSample,
    Pause,
    Problems,
    ProblemTally,
    pause_of,
)
from crawlproject.storage.read import CrawlInfo
from crawlproject.urls.hosts import host_of

BEST = 25  # best pages listed
HOSTS = 50  # hosts listed
REDIRECTS = 30  # redirects listed
_IDLE = 600.0  # seconds; a longer break between fetches is an interruption and not crawling time


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """The counts of a crawl. Times are in seconds, ``first`` and ``last`` since the epoch (None: nothing was fetched).

    ``relevance`` has one entry per page in crawl order, ``scores`` the score of each page before its fetch (NaN for seeds).
    ``active`` is the crawling time: each run from its start to its last fetch, without interruptions. ``best`` are the most
    relevant pages, one per distinct text, and ``best_lines`` their lines in the history. ``early`` counts the fetches that
    came too soon. ``revisits`` are fetches of known pages: they count as fetches, by host and in bytes; all other counts are of
    first visits.
    """

    pages: int
    fetches: int
    size: int
    first: float | None
    last: float | None
    active: float
    relevance: Curve
    scores: Curve
    best: tuple[Visit, ...]
    best_lines: tuple[int, ...]
    hosts: int
    busiest: tuple[HostTableRow, ...]
    impolite: tuple[HostTableRow, ...]
    too_soon: int
    smallest_gap: float | None
    gaps: int
    pause: Pause
    problems: Problems
    redirect_samples: tuple[tuple[str, str], ...]
    early: LineSample
    every_host: tuple[HostTableRow, ...]
    revisits: int = 0

    @property
    def mean_relevance(self) -> float:
        return float(self.relevance.mean()) if self.pages else 0.0

    @property
    def pages_per_second(self) -> float | None:
        return self.pages / self.active if self.active > 0 else None

    @property
    def redirects(self) -> int:
        return self.problems.redirects.count

    @property
    def listings(self) -> int:
        """Number of sitemaps and feeds that were read."""
        return self.problems.listings.count

    @property
    def refetched(self) -> int:
        """Number of repeated fetches of stored pages."""
        return self.problems.refetched.count

    @property
    def failures(self) -> tuple[FailureKind, ...]:
        return self.problems.failures

    @property
    def blocking(self) -> tuple[HostTableRow, ...]:
        """Hosts that refused to serve a crawler or asked for a pause, those with the most refusals first."""
        return tuple(
            sorted((h for h in self.every_host if h.blocks or h.rests), key=lambda h: (-h.blocks, -h.rests, h.host))
        )

    @property
    def delaying(self) -> tuple[HostTableRow, ...]:
        """Hosts whose robots.txt asks for a delay, the longest delay first."""
        return tuple(sorted((h for h in self.every_host if h.crawl_delay), key=lambda h: (-h.crawl_delay, h.host)))

    def relevant(self, threshold: float) -> int:
        """Number of pages with at least this relevance."""
        return int((self.relevance >= threshold).sum())


def summarise(visits: Iterable[Visit], info: CrawlInfo) -> CrawlSummary:
    """Count everything in one pass."""
    tally = _Tally(pause_of(info), [*([] if info.started is None else [info.started]), *info.resumes])
    for line, visit in enumerate(visits, start=1):
        tally.add(line, visit)
    return tally.summary()


class _Tally:
    def __init__(self, pause: Pause, starts: Iterable[float]) -> None:
        self._pause = pause
        self._starts = deque(sorted(starts))  # of the runs whose fetches have not been reached yet
        self._stored: set[str] = set()
        self._relevance = array("d")
        self._scores = array("d")
        self._best = BestPages(BEST)
        self._hosts: dict[str, HostTally] = {}
        self._problems = ProblemTally()
        self._early = LineSample()
        self._redirects: list[tuple[str, str]] = []
        self._fetches = self._size = self._revisits = 0
        self._first: float | None = None
        self._last: float | None = None
        self._active = 0.0

    def add(self, line: int, visit: Visit) -> None:
        page = bool(visit.md5) and visit.number == 1 and visit.md5 not in self._stored
        self._fetches += 1
        self._size += visit.size
        if visit.number == 1:
            self._tick(visit)
        host = self._hosts.setdefault(host_of(visit.url), HostTally())
        too_soon = host.too_soon
        host.add(visit, page=page, pause=self._pause)
        if host.too_soon > too_soon:
            self._early.add(line)
        if visit.number > 1:
            self._revisits += 1
        elif page:
            self._add_page(line, visit)
        elif visit.md5:
            self._problems.refetched.add(line)
        elif visit.redirect:
            self._problems.redirects.add(line)
            if len(self._redirects) < REDIRECTS:
                self._redirects.append((visit.url, visit.redirect))
        elif visit.is_listing:
            self._problems.listings.add(line)
        else:
            self._problems.add_failure(line, visit)

    def _tick(self, visit: Visit) -> None:
        start = visit.at - visit.seconds
        self._first = start if self._first is None else min(self._first, start)
        since = start if self._last is None else self._last
        while self._starts and self._starts[0] <= visit.at:
            since = self._starts.popleft()
        passed = visit.at - since
        if self._last is None or visit.at > self._last:
            self._active += passed if passed <= _IDLE + visit.seconds else visit.seconds
            self._last = visit.at

    def _add_page(self, line: int, visit: Visit) -> None:
        self._stored.add(visit.md5)
        self._relevance.append(visit.relevance)
        self._scores.append(visit.score if visit.parent is not None else float("nan"))
        self._best.add(line, visit)
        self._problems.add_page(line, visit)

    def summary(self) -> CrawlSummary:
        hosts = [tally.row(host) for host, tally in self._hosts.items()]
        best = self._best.ranked()
        gaps = [line.smallest_gap for line in hosts if line.smallest_gap is not None]
        return CrawlSummary(
            pages=len(self._relevance),
            fetches=self._fetches,
            size=self._size,
            first=self._first,
            last=self._last,
            active=self._active,
            relevance=np.array(self._relevance),
            scores=np.array(self._scores),
            best=tuple(visit for _, visit in best),
            best_lines=tuple(line for line, _ in best),
            hosts=len(hosts),
            busiest=tuple(heapq.nsmallest(HOSTS, hosts, key=lambda line: (-line.pages, -line.fetches, line.host))),
            impolite=tuple(sorted((line for line in hosts if line.too_soon), key=lambda line: -line.too_soon)[:HOSTS]),
            too_soon=sum(line.too_soon for line in hosts),
            smallest_gap=min(gaps, default=None),
            gaps=sum(tally.gaps for tally in self._hosts.values()),
            pause=self._pause,
            problems=self._problems.problems(),
            redirect_samples=tuple(self._redirects),
            early=self._early,
            every_host=tuple(sorted(hosts, key=lambda line: (-line.pages, -line.fetches, line.host))),
            revisits=self._revisits,
        )
