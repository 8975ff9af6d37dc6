"""What a crawl made of pages that are no news or no good: failures, copies, spam. Each count knows lines it was counted from."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from operator import itemgetter

from crawlproject.records import CLIQUE, Visit

KINDS = 100  # kinds of failures told apart
LINES = 1_000  # lines of the history kept for a count
SPAM = 0.5  # from which a page is listed as spam
SPAMMY = 25  # pages listed as spam
ORIGINALS = 20  # pages listed as copied most often
_ORIGINALS_KNOWN = 100_000  # pages whose copies are counted each


@dataclass(slots=True)
class LineSample:
    """A count, and the first ``LINES`` lines of ``history.jsonl`` that were counted, from 1 on."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        self.count += 1
        if len(self.first) < LINES:
            self.first.append(line)


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Fetches that brought no page, by kind; ``sample`` is the first URL of it."""

    kind: str
    lines: LineSample
    sample: str

    @property
    def count(self) -> int:
        return self.lines.count


@dataclass(frozen=True, slots=True)
class Problems:
    """``failures`` by kind, the most frequent first. ``originals``: the URLs with the most copies, and how many.
    ``spammy``: lines and visits of the pages that look most like spam; ``spam`` counts those from ``SPAM`` on, ``farmed`` the
    pages of link farms."""

    failures: tuple[FailureKind, ...]
    copies: LineSample
    originals: tuple[tuple[str, int], ...]
    spam: LineSample
    spammy: tuple[tuple[int, Visit], ...]
    farmed: LineSample
    redirects: LineSample
    again: LineSample


class ProblemTally:
    """Fed with the visits in fetch order; memory is bounded."""

    def __init__(self) -> None:
        self._kinds: dict[str, LineSample] = {}
        self._samples: dict[str, str] = {}
        self._copies = LineSample()
        self._originals: Counter[str] = Counter()
        self._spam = LineSample()
        self._spammy: list[tuple[float, int, Visit]] = []
        self._farmed = LineSample()
        self.redirects = LineSample()
        self.again = LineSample()

    def add_page(self, line: int, visit: Visit) -> None:
        """A page was stored that was not there before."""
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

    def trouble(self) -> Problems:
        ranked = sorted(self._kinds.items(), key=lambda item: -item[1].count)
        return Problems(
            failures=tuple(FailureKind(kind, lines, self._samples[kind]) for kind, lines in ranked),
            copies=self._copies,
            originals=tuple(self._originals.most_common(ORIGINALS)),
            spam=self._spam,
            spammy=tuple((-line, visit) for _, line, visit in sorted(self._spammy, key=itemgetter(0, 1), reverse=True)),
            farmed=self._farmed,
            redirects=self.redirects,
            again=self.again,
        )
