"""Tallies over the visits of a crawl: hosts, best pages, and problems.

For each host: its fetches, pages and failures, and whether the pauses between its fetches were long enough. The best pages
are the most relevant ones, one per distinct text. Failures, duplicates and spam are counted together with their lines in
the history.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from crawlproject.records import CLIQUE, CRAWL_DELAY, RETRY_AFTER, Visit
from crawlproject.storage.read import CrawlInfo

TOLERANCE = 0.001  # seconds, for clock resolution and rounding
BLOCK = "block/"  # prefix of the errors of block pages, such as a captcha
REFUSING = frozenset({403, 429, 503})  # statuses with which servers refuse a crawler, permanently or temporarily
KINDS = 100  # kinds of failures counted separately
LINES = 1_000  # lines of the history kept per count
SPAM = 0.5  # least spam score of a page that counts as spam
SPAMMY = 25  # spam pages listed
ORIGINALS = 20  # most duplicated pages listed

_ORIGINALS_KNOWN = 100_000  # pages whose duplicates are counted


class HostTableRow(NamedTuple):
    """The counts of one host. ``smallest_gap`` is in seconds, None with fewer than two fetches.

    ``crawl_delay`` is the longest delay in seconds that its robots.txt asked for, 0 for none. ``rests`` counts replies with
    ``Retry-After``, ``blocks`` replies that refused to serve a crawler (a block page, or a status in ``REFUSING``).
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
    """Return the pause that the settings of a crawl require."""
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
        elif not (visit.is_page or visit.is_listing or visit.redirect or visit.change):
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


class BestPages:
    """The ``most`` most relevant pages, the earlier one first on a tie. Of pages with equal bytes and of duplicates, only the one
    that the collection keeps counts.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, int, Visit]] = []
        self._digests: set[str] = set()

    def add(self, line: int, visit: Visit) -> None:
        if visit.replaces:
            self._remove(visit.replaces)
        entry = (visit.relevance, -line, visit)
        digest = visit.digest if visit.size else visit.md5  # a rehearsal stores no bytes
        if digest in self._digests or visit.is_left_out:
            return
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            dropped = heapq.heapreplace(self._heap, entry)[2]
            self._digests -= {dropped.digest, dropped.md5}
        else:
            return
        self._digests.add(digest)

    def _remove(self, url: str) -> None:
        for place, (_, _, visit) in enumerate(self._heap):
            if visit.url == url:
                del self._heap[place]
                heapq.heapify(self._heap)
                self._digests -= {visit.digest, visit.md5}
                return

    def ranked(self) -> list[tuple[int, Visit]]:
        """Return line numbers and visits, best first."""
        return [(-line, visit) for _, line, visit in sorted(self._heap, key=itemgetter(0, 1), reverse=True)]


@dataclass(slots=True)
class LineSample:
    """A count, and the numbers (from 1) of the first ``LINES`` lines of ``history.jsonl`` that were counted."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        self.count += 1
        if len(self.first) < LINES:
            self.first.append(line)


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Fetches of one kind that stored no page; ``sample`` is the first URL."""

    kind: str
    lines: LineSample
    sample: str

    @property
    def count(self) -> int:
        return self.lines.count


@dataclass(frozen=True, slots=True)
class Problems:
    """``failures`` by kind, the most frequent first. ``originals``: the URLs with the most duplicates, and their number.
    ``spammy``: line and visit of the pages with the highest spam scores. ``spam`` counts the pages with a score of at least
    ``SPAM``, ``farmed`` the pages of link farms."""

    failures: tuple[FailureKind, ...]
    copies: LineSample
    originals: tuple[tuple[str, int], ...]
    spam: LineSample
    spammy: tuple[tuple[int, Visit], ...]
    farmed: LineSample
    redirects: LineSample
    listings: LineSample
    refetched: LineSample


class ProblemTally:
    """Counts visits, which must be added in fetch order; memory is bounded."""

    def __init__(self) -> None:
        self._kinds: dict[str, LineSample] = {}
        self._samples: dict[str, str] = {}
        self._copies = LineSample()
        self._originals: Counter[str] = Counter()
        self._spam = LineSample()
        self._spammy: list[tuple[float, int, Visit]] = []
        self._farmed = LineSample()
        self.redirects = LineSample()
        self.listings = LineSample()
        self.refetched = LineSample()

    def add_page(self, line: int, visit: Visit) -> None:
        """Count a visit that stored a new page."""
        if visit.duplicate_of:
            self._copies.add(line)
            if visit.duplicate_of in self._originals or len(self._originals) < _ORIGINALS_KNOWN:
                self._originals[visit.duplicate_of] += 1
        if CLIQUE in visit.signs:
            self._farmed.add(line)
        if visit.spam >= SPAM:
            self._spam.add(line)
            entry = (visit.spam, -line, visit)
            if len(self._spammy) < SPAMMY:
                heapq.heappush(self._spammy, entry)
            elif entry[:2] > self._spammy[0][:2]:
                heapq.heapreplace(self._spammy, entry)

    def add_failure(self, line: int, visit: Visit) -> None:
        kind = visit.error if visit.error in self._kinds or len(self._kinds) < KINDS else "other"
        self._kinds.setdefault(kind, LineSample()).add(line)
        self._samples.setdefault(kind, visit.url)

    def problems(self) -> Problems:
        ranked = sorted(self._kinds.items(), key=lambda item: -item[1].count)
        return Problems(
            failures=tuple(FailureKind(kind, lines, self._samples[kind]) for kind, lines in ranked),
            copies=self._copies,
            originals=tuple(self._originals.most_common(ORIGINALS)),
            spam=self._spam,
            spammy=tuple((-line, visit) for _, line, visit in sorted(self._spammy, key=itemgetter(0, 1), reverse=True)),
            farmed=self._farmed,
            redirects=self.redirects,
            listings=self.listings,
            refetched=self.refetched,
        )
