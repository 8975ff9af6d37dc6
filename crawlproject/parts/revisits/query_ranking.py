"""How a set of queries ranks the pages of a collection, and what a visit repairs of this ranking.

S. Pandey, C. Olston: User-centric web crawling. WWW 2005 (paper 004 section 5.1.2). The quality of a ranking is a sum over
queries and pages. Each term is the share of searches for the query, times the probability that the reader looks at the rank of
the page, times the score of the page as it is now. A page that has changed is ranked by its old copy; the impact of the change
is the quality that ranking it by the new copy adds.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from pathlib import Path

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.policies.impact import Impact
from crawlproject.storage.searches import read_queries

RANKS = 100  # of the results that readers look at
EXPONENT = -1.5  # of the rank: how often readers look at it, in units of the first rank (the paper's section 2.2)
_SEEN = (0.0, *(rank**EXPONENT for rank in range(1, RANKS + 1)))


class QueryRanking:
    """``queries`` with their shares of all searches. The score of a page is the cosine of its term counts with the query's.

    A page takes about 100 bytes for each query that it has a word of.
    """

    def __init__(self, queries: Mapping[str, float], analyzer: Analyzer) -> None:
        self._queries = [
            (share, _Results(TopicJudge([query], analyzer)))
            for query, share in queries.items()
            if analyzer.terms(query)
        ]

    def show(self, row: int, counts: Mapping[str, int]) -> float:
        """Set the terms of the page in this row, none if it is gone. Returns the impact of that; 0 for a new page."""
        return sum(share * results.rank(row, counts) for share, results in self._queries)


def make_ranking(options: RevisitOptions, analyzer: Analyzer) -> QueryRanking | None:
    """The ranking by ``TOPIC_QUERIES``, if the policy uses it. Raises ``BadInput``."""
    if not options.topic_queries or options.crawl_revisit != Impact.name:
        return None
    return QueryRanking(read_queries(Path(options.topic_queries)), analyzer)


class _Results:
    """The pages that one query finds."""

    def __init__(self, judge: TopicJudge) -> None:
        self._judge = judge
        self._scores: dict[int, float] = {}
        self._sorted = array("d")  # ascending, those above 0
        self._known: set[int] = set()

    def rank(self, row: int, counts: Mapping[str, int]) -> float:
        new, old = self._judge.relevance(counts), self._scores.pop(row, 0.0)
        if old:
            del self._sorted[bisect_left(self._sorted, old)]
        impact = self._gain(old, new) if row in self._known and new != old else 0.0
        self._known.add(row)
        if new:
            self._scores[row] = new
            insort(self._sorted, new)
        return impact

    def _gain(self, old: float, new: float) -> float:
        """Sum over the pages passed: the difference of the two scores, times that of how often the two ranks are seen."""
        others, number = self._sorted, len(self._sorted)
        before, after = (number - bisect_right(others, score) + 1 for score in (old, new))
        gain = new * _seen(number + 1) if not old else 0.0  # it had no rank before
        for rank in range(min(before, after), min(max(before, after), RANKS + 1)):
            gain += abs(new - others[number - rank]) * (_seen(rank) - _seen(rank + 1))
        return gain


def _seen(rank: int) -> float:
    return _SEEN[rank] if rank <= RANKS else 0.0
