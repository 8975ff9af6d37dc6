"""The three models of paper 002 section 3: how much of the important pages a crawl has fetched when it stops.

A page is a number, the index of its importance ``I(P)`` in an array; a crawl is the sequence of the pages it visited, each
once. Performances are shares from 0 to 1, where the paper uses percentages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from heapq import heappush, heappushpop

import numpy as np
import numpy.typing as npt

from crawlproject.evaluation.measures import Curve

Importance = npt.NDArray[np.float64] | Sequence[float]
Order = npt.NDArray[np.integer] | Sequence[int]


def crawl_and_stop(order: Order, importance: Importance) -> Curve:
    """``P_CS`` after each page: the share M / K of the K pages visited that are at least as important as ``R_K``.

    ``R_K`` is the page at place K when all pages are sorted by importance, so that the ideal crawler scores 1 throughout.
    """
    values = np.asarray(importance, np.float64)
    crawled = np.asarray(order, np.int64)
    hot_from = 1 + len(values) - np.searchsorted(np.sort(values), values[crawled], side="right")
    visited = np.arange(1, len(crawled) + 1)
    counts_from = np.maximum(hot_from, visited)
    hot = np.bincount(counts_from, minlength=len(values) + 1)[1 : len(crawled) + 1]
    return np.cumsum(hot) / visited


def crawl_and_stop_with_threshold(order: Order, importance: Importance, threshold: float) -> Curve:
    """``P_ST`` after each page: the share of all pages with importance of at least ``threshold`` that were visited.

    All values are zero if no page is that important.
    """
    hot = np.asarray(importance, np.float64) >= threshold
    return np.cumsum(hot[np.asarray(order, np.int64)]) / max(1, int(hot.sum()))


def limited_buffer(kept: Collection[int], importance: Importance) -> float:
    """``P_BC``: the share of the B pages kept at the end that are hot, that is, at least as important as ``R_B``."""
    values = np.asarray(importance, np.float64)
    pages = np.fromiter(kept, np.int64, len(kept))
    if not len(pages):
        return 0.0
    threshold = np.partition(values, len(values) - len(pages))[len(values) - len(pages)]
    return float(np.mean(values[pages] >= threshold))


class LimitedBuffer:
    """Keeps ``size`` of the pages it is given: when it is full, the page with the lowest estimate is flushed.

    ``estimate`` is ``I'(P)`` as the crawl knows it so far. It must never fall: a page whose estimate has risen since it was
    filed is then found when it is about to be flushed, and filed anew. Of equals the older one is flushed.
    """

    def __init__(self, size: int, estimate: Callable[[int], float]) -> None:
        self.size = size
        self._estimate = estimate
        self._filed: list[tuple[float, int, int]] = []
        self._visits = 0

    def visit(self, page: int) -> int | None:
        """Store a page; return the page that was flushed for it, or None while there is room."""
        self._visits += 1
        item = (self._estimate(page), self._visits, page)
        if len(self._filed) < self.size:
            heappush(self._filed, item)
            return None
        while True:
            filed, visit, page = heappushpop(self._filed, item)
            now = self._estimate(page)
            if now <= filed:
                return page
            item = (now, visit, page)

    def pages(self) -> list[int]:
        """The pages in the buffer, in the order of their visits."""
        return [page for _, _, page in sorted(self._filed, key=lambda item: item[1])]
