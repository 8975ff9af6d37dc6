"""Search relevance as the objective of a crawl (paper 004 section 4.1; Fetterly, Craswell and Vinay, SIGIR 2009).

Curves are those of ``evaluation.measures``: element ``i`` is the value after ``i + 1`` pages.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log2
from pathlib import Path

import numpy as np

from crawlproject.errors import BadInput
from crawlproject.evaluation.measures import Curve, final_url
from crawlproject.urls.canonical import Canonicalizer, canonical_or_none

WISH = "expected a query, a URL and a number of clicks above 0, with tabs between them"


@dataclass(frozen=True)
class ClickLog:
    """How often users of a search engine clicked each page: ``clicks[query][url]``, above 0; URLs are canonical."""

    clicks: Mapping[str, Mapping[str, float]]

    @classmethod
    def read(cls, path: Path) -> ClickLog:
        """Read a file with a query, a URL and a number on each line, tabs between them; clicks of several lines add up.

        Empty lines, and those that begin with #, do not count. Raises ``BadInput``, which names file and line.
        """
        canonicalize = Canonicalizer()
        clicks: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        for place, line in _lines(path):
            query, url, number = _fields(place, line)
            canonical = canonical_or_none(canonicalize, url)
            if canonical is None:
                raise BadInput(place, f"expected an http or https URL, not {url!r}")
            clicks[query][canonical] += number
        if not clicks:
            raise BadInput(str(path), WISH)
        return cls(clicks)

    def click_share(self, pages: Sequence[str], redirects: Mapping[str, str]) -> Curve:
        """The clicks that the crawled pages attracted, as a share of all clicks."""
        weights: defaultdict[str, float] = defaultdict(float)
        for query in self._final(redirects).values():
            for url, number in query.items():
                weights[url] += number
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


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"--clicks {path}", f"expected a readable file in UTF-8: {wrong}") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield f"{path}, line {number}", line


def _fields(place: str, line: str) -> tuple[str, str, float]:
    try:
        query, url, count = line.split("\t")
        clicks = float(count)
    except ValueError:
        raise BadInput(place, WISH) from None
    if not 0 < clicks < inf:
        raise BadInput(place, WISH)
    return query, url, clicks
