"""A crawl in numbers: one pass over its history, from which the report is written.

Memory grows with the number of hosts, with two numbers and a name per page, and not with the size of pages or titles.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from crawlproject.evaluation.crawlfolder import CrawlInfo
from crawlproject.evaluation.measures import Curve
from crawlproject.records import Visit
from crawlproject.reports.hosts import HostLine, HostTally, Pause, pause_of
from crawlproject.urls.hosts import host_of

BEST = 25  # pages listed as the best
HOSTS = 50  # hosts listed
REDIRECTS = 30  # redirects listed
_KINDS = 100  # kinds of errors told apart
_IDLE = 600.0  # seconds without any fetch that are no part of the crawling time (it was interrupted)


@dataclass(frozen=True, slots=True)
class Failures:
    """Fetches that brought no page, by kind; ``sample`` is the first URL of it."""

    kind: str
    count: int
    sample: str


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """What was found. Times in seconds, ``first`` and ``last`` since the epoch (None: nothing was fetched).

    ``relevance`` has one entry a page in crawl order, ``scores`` the score each of them was fetched for (NaN for
    seeds). ``active`` leaves out interruptions. ``best`` has the most relevant pages; of pages with equal bytes, one.
    """

    pages: int
    fetches: int
    again: int
    size: int
    first: float | None
    last: float | None
    active: float
    relevance: Curve
    scores: Curve
    best: tuple[Visit, ...]
    hosts: int
    busiest: tuple[HostLine, ...]
    impolite: tuple[HostLine, ...]
    too_soon: int
    smallest_gap: float | None
    gaps: int
    pause: Pause
    failures: tuple[Failures, ...]
    redirects: int
    redirect_samples: tuple[tuple[str, str], ...]

    @property
    def mean_relevance(self) -> float:
        return float(self.relevance.mean()) if self.pages else 0.0

    @property
    def pages_per_second(self) -> float | None:
        return self.pages / self.active if self.active > 0 else None

    def relevant(self, threshold: float) -> int:
        """Pages with at least this relevance."""
        return int((self.relevance >= threshold).sum())


def summarise(visits: Iterable[Visit], info: CrawlInfo) -> CrawlSummary:
    """Count everything, in one pass."""
    tally = _Tally(pause_of(info))
    for visit in visits:
        tally.add(visit)
    return tally.summary()


class _Tally:
    def __init__(self, pause: Pause) -> None:
        self._pause = pause
        self._stored: set[str] = set()
        self._relevance = array("d")
        self._scores = array("d")
        self._best = _BestPages()
        self._hosts: dict[str, HostTally] = {}
        self._kinds: Counter[str] = Counter()
        self._samples: dict[str, str] = {}
        self._redirects: list[tuple[str, str]] = []
        self._redirect_count = self._fetches = self._again = self._size = 0
        self._first: float | None = None
        self._last: float | None = None
        self._active = 0.0

    def add(self, visit: Visit) -> None:
        page = bool(visit.md5) and visit.md5 not in self._stored
        self._fetches += 1
        self._size += visit.size
        self._tick(visit)
        self._hosts.setdefault(host_of(visit.url), HostTally()).add(visit, page=page, pause=self._pause)
        if page:
            self._add_page(visit)
        elif visit.md5:
            self._again += 1
        elif visit.redirect:
            self._add_redirect(visit)
        else:
            self._add_failure(visit)

    def _tick(self, visit: Visit) -> None:
        start = visit.at - visit.seconds
        if self._first is None or self._last is None:
            self._first, self._last, self._active = start, visit.at, visit.seconds
            return
        self._first = min(self._first, start)
        passed = visit.at - self._last
        if passed > 0:
            self._active += passed if passed <= _IDLE + visit.seconds else visit.seconds
            self._last = visit.at

    def _add_page(self, visit: Visit) -> None:
        self._stored.add(visit.md5)
        self._relevance.append(visit.relevance)
        self._scores.append(visit.score if visit.parent is not None else float("nan"))
        self._best.add(visit)

    def _add_redirect(self, visit: Visit) -> None:
        self._redirect_count += 1
        if len(self._redirects) < REDIRECTS:
            self._redirects.append((visit.url, visit.redirect))

    def _add_failure(self, visit: Visit) -> None:
        kind = visit.error or (f"http {visit.status}" if visit.status else "no response")
        if len(self._kinds) >= _KINDS and kind not in self._kinds:
            kind = "other"
        self._kinds[kind] += 1
        self._samples.setdefault(kind, visit.url)

    def summary(self) -> CrawlSummary:
        hosts = [tally.line(host) for host, tally in self._hosts.items()]
        gaps = [line.smallest_gap for line in hosts if line.smallest_gap is not None]
        return CrawlSummary(
            pages=len(self._relevance),
            fetches=self._fetches,
            again=self._again,
            size=self._size,
            first=self._first,
            last=self._last,
            active=self._active,
            relevance=np.array(self._relevance),
            scores=np.array(self._scores),
            best=self._best.ranked(),
            hosts=len(hosts),
            busiest=tuple(heapq.nsmallest(HOSTS, hosts, key=lambda line: (-line.pages, -line.fetches, line.host))),
            impolite=tuple(sorted((line for line in hosts if line.too_soon), key=lambda line: -line.too_soon)[:HOSTS]),
            too_soon=sum(line.too_soon for line in hosts),
            smallest_gap=min(gaps, default=None),
            gaps=sum(tally.gaps for tally in self._hosts.values()),
            pause=self._pause,
            failures=tuple(Failures(kind, n, self._samples[kind]) for kind, n in self._kinds.most_common()),
            redirects=self._redirect_count,
            redirect_samples=tuple(self._redirects),
        )


class _BestPages:
    """The ``BEST`` most relevant pages, the earlier one first among equals."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Visit]] = []
        self._digests: set[str] = set()
        self._added = 0

    def add(self, visit: Visit) -> None:
        self._added += 1
        entry = (visit.relevance, -self._added, visit)
        digest = visit.digest if visit.size else visit.md5  # a rehearsal knows no bytes
        if digest in self._digests:
            return
        if len(self._heap) < BEST:
            heapq.heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            dropped = heapq.heapreplace(self._heap, entry)[2]
            self._digests -= {dropped.digest, dropped.md5}
        else:
            return
        self._digests.add(digest)

    def ranked(self) -> tuple[Visit, ...]:
        return tuple(visit for *_, visit in sorted(self._heap, key=itemgetter(0, 1), reverse=True))
