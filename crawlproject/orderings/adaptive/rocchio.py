"""Relevance feedback (Rocchio): the vocabulary of the best pages so far, beyond the keywords."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.adaptive.document_frequencies import TermStatistics
from crawlproject.orderings.learning.term_ids import Numbers

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

PAGES = 30
TERMS = 40


class RelevanceFeedback:
    """Keeps the ``PAGES`` best pages and weighs the ``TERMS`` terms that characterise them.

    The weight of a term is the sum of ``(1 + ln tf) / sqrt(distinct terms + 1)`` over those pages, each as heavy as its
    worth, times the term's idf, in units of the highest (the positive part of Rocchio 1971).
    """

    def __init__(self, table: TermStatistics) -> None:
        self._table = table
        self._best: list[tuple[float, int, Numbers, Vector]] = []
        self._sums: Vector | None = None  # of the weights in the best pages, by term; None: the pages have changed
        self._pages = 0

    def observe(self, worth: float, numbers: Numbers, counts: Rows) -> None:
        """Add a page: its distinct terms, and how often it has each."""
        self._pages += 1
        if worth <= 0 or (len(self._best) == PAGES and worth <= self._best[0][0]):
            return
        weights = (1 + np.log(counts)) / np.sqrt(len(counts) + 1)
        page = (worth, self._pages, numbers, worth * weights)
        self._sums = None
        if len(self._best) < PAGES:
            heapq.heappush(self._best, page)
        else:
            heapq.heapreplace(self._best, page)

    def weights(self, keywords: Numbers, idfs: Vector | None = None) -> Vector:
        """A weight from 0 to 1 for every term number; the ``keywords`` have their idf in units of the highest of them.

        ``idfs`` are those of the terms, if they are known.
        """
        idfs = self._table.idfs() if idfs is None else idfs
        if self._sums is None or len(self._sums) < len(idfs):
            self._sums = np.zeros_like(idfs)
            for _, _, numbers, weights in self._best:
                self._sums[numbers] += weights
        sums = self._sums * idfs
        sums[0] = sums[keywords] = 0
        best = np.argpartition(-sums, TERMS)[:TERMS]
        highest = sums[best].max()
        found = np.zeros_like(sums)
        if highest > 0:
            found[best] = sums[best] / highest
        found[keywords] = idfs[keywords] / idfs[keywords].max()
        return found
