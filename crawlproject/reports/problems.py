"""Failures, duplicates and spam of a crawl, each with the lines of the history that were counted."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from operator import itemgetter

from crawlproject.records import CLIQUE, Visit

KINDS = 100  # kinds of failures counted separately
LINES = 1_000  # lines of the history kept per count
SPAM = 0.5  # spam score from which a page counts as spam
SPAMMY = 25  # spam pages listed
ORIGINALS = 20  # most duplicated pages listed
_ORIGINALS_KNOWN = 100_000  # pages whose duplicates are counted


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
        kind = visit.error or (f"http {visit.status}" if visit.status else "no response")
        if len(self._kinds) >= KINDS and kind not in self._kinds:
            kind = "other"
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
            refetched=self.refetched,
        )
