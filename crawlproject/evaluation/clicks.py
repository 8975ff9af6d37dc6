"""Search relevance as the objective of a crawl (paper 004 section 4.1; Fetterly, Craswell and Vinay, SIGIR 2009).

Curves are those of ``evaluation.measures``: element ``i`` is the value after ``i + 1`` pages.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2
from pathlib import Path

import numpy as np

from crawlproject.evaluation.measures import Curve, final_url
from crawlproject.parts.revisits.click_file import clicks_by_url, read_clicks


@dataclass(frozen=True)
class ClickLog:
    """How often users of a search engine clicked each page: ``clicks[query][url]``, above 0; URLs are canonical."""

    clicks: Mapping[str, Mapping[str, float]]

    @classmethod
    def read(cls, path: Path) -> ClickLog:
        """The clicks of a file (``storage.click_file``). Raises ``BadInput``."""
        return cls(read_clicks(path))

    def click_share(self, pages: Sequence[str], redirects: Mapping[str, str]) -> Curve:
        """The clicks that the crawled pages attracted, as a share of all clicks."""
        weights = dict(clicks_by_url(self._final(redirects)))
        found = [weights.pop(page, 0.0) for page in pages]
        return np.cumsum(np.array(found, dtype=np.float64)) / self._total

    def max_ndcg(self, pages: Sequence[str], redirects: Mapping[str, str]) -> Curve:
        """MaxNDCG: the mean NDCG of the queries over the crawled pages, ranked as well as is possible.

        The gain of a page is its number of clicks; the discount at rank r is ``log2(r + 1)``. The ideal ranking has all
        pages of the query.
        """
        queries = self._final(redirects)
        ideal = {query: _dcg(sorted(gains.values())) for query, gains in queries.items()}
        clicked: defaultdict[str, list[str]] = defaultdict(list)
        for query, gains in queries.items():
            for url in gains:
                clicked[url].append(query)
        found: defaultdict[str, list[float]] = defaultdict(list)
        rises = np.zeros(len(pages))
        for position, page in enumerate(pages):
            for query in clicked.pop(page, ()):
                before = _dcg(found[query])
                insort(found[query], queries[query][page])
                rises[position] += (_dcg(found[query]) - before) / ideal[query]
        return np.cumsum(rises) / len(queries)

    @cached_property
    def _total(self) -> float:
        return sum(sum(query.values()) for query in self.clicks.values())

    def _final(self, redirects: Mapping[str, str]) -> Mapping[str, Mapping[str, float]]:
        """The clicks by the page that a URL leads to."""
        moved: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        for query, clicks in self.clicks.items():
            for url, number in clicks.items():
                moved[query][final_url(url, redirects)] += number
        return moved


def _dcg(gains: Sequence[float]) -> float:
    """The discounted cumulative gain of the best ranking; ``gains`` are sorted, the least first."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(reversed(gains), start=1))
