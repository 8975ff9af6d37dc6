"""Interest ratios: how much more often pages with a piece of evidence are relevant (Aggarwal and others 2001)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from crawlproject.orderings.learning.term_ids import TermIds

_FIRST = 1024


class InterestRatios:
    """Counts of evidence over fetched pages, and the ratios ``I(C, E) = P(C and E) / (P(C) P(E))`` they give.

    C means that a page is relevant, E is a piece of evidence about it, such as a word of the page that links to it. A ratio
    above 1 favours a link, one below 1 disfavours it. At most ``limit`` pieces of evidence get a number; later ones are
    ignored. A ratio is used only if the relevant pages with E differ from chance by ``significance`` standard deviations.
    """

    def __init__(self, significance: float, limit: int = 500_000) -> None:
        self.significance = significance
        self._numbers = TermIds(limit)
        self._seen = np.zeros(_FIRST)
        self._relevant = np.zeros(_FIRST)
        self.pages = 0
        self.relevant_pages = 0

    @property
    def share(self) -> float:
        """P(C): the relevant pages among those counted."""
        return self.relevant_pages / self.pages if self.pages else 0.0

    def numbers(self, evidence: Iterable[str]) -> np.ndarray:
        """The numbers of pieces of evidence, in order; new ones get the next number."""
        found = self._numbers.of(evidence)
        while len(self._seen) < len(self._numbers):
            self._seen = np.concatenate([self._seen, np.zeros_like(self._seen)])
            self._relevant = np.concatenate([self._relevant, np.zeros_like(self._relevant)])
        return found[found > 0]

    def count(self, numbers: np.ndarray, relevant: bool) -> None:
        """Count a fetched page with this evidence; ``numbers`` has each piece once."""
        self.pages += 1
        self.relevant_pages += relevant
        self._seen[numbers] += 1
        self._relevant[numbers] += relevant

    def logarithms(self, numbers: np.ndarray) -> np.ndarray:
        """``ln I`` of each piece of evidence; 0 for one that is not significant."""
        return log_interest(self._relevant[numbers], self._seen[numbers], self.share, self.significance)

    def sums(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """The sum of ``logarithms`` for each row of numbers."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        totals = np.concatenate([[0.0], self.logarithms(np.concatenate(rows)).cumsum()]) if rows else np.zeros(1)
        ends = lengths.cumsum()
        return totals[ends] - totals[ends - lengths]


def log_interest(relevant: np.ndarray, seen: np.ndarray, share: float, significance: float) -> np.ndarray:
    """``ln I`` for pieces of evidence that ``relevant`` of ``seen`` pages had, ``share`` being P(C).

    ``I = P(C | E) / P(C)``. One page of average relevance is added to each piece, so that no ratio is 0 or without
    bounds. If E said nothing, the relevant pages would be binomial with ``seen`` trials and ``share``: a ratio is used
    when they are ``significance`` standard deviations off.
    """
    if not 0 < share < 1:
        return np.zeros(len(seen))
    ratios = (relevant + share) / (seen + 1) / share
    deviations = np.abs(relevant - seen * share)
    significant = (seen > 0) & (deviations >= significance * np.sqrt(seen * share * (1 - share)))
    return np.where(significant, np.log(ratios), 0.0)
