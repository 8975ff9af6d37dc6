"""Document frequencies of terms, for texts given as numbers (``TermIds``)."""

from __future__ import annotations

from collections.abc import Iterable
from math import log

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.learning.term_ids import Numbers, TermIds
from crawlproject.pages.text.terms import count_up, counted

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


class TermStatistics:
    """Document frequencies over the pages observed so far, by term number; 0 is not a term."""

    def __init__(self) -> None:
        self.documents = 0
        self.mean_length = 0.0  # terms a page
        self.ids = TermIds()
        self._frequency = np.zeros(4096)

    def numbers(self, terms: Iterable[str]) -> Numbers:
        """The number of each term."""
        return self.ids.of(terms)

    def observe(self, text: Numbers) -> tuple[Numbers, Rows]:
        """Add a page; return its distinct terms, and how often it has each."""
        distinct, counts = counted(text)
        self._frequency = self.grown(self._frequency)
        count_up(self._frequency, distinct)
        self.documents += 1
        self.mean_length += (len(text) - self.mean_length) / self.documents
        return distinct, counts

    def idf(self, number: int) -> float:
        """``ln(1 + (N + 1) / (df + 1))``: above 0 for every term, since pages are few at first."""
        return log(1 + (self.documents + 1) / (self._frequency[number] + 1))

    def idfs(self) -> Vector:
        """``idf`` of every number there is room for."""
        self._frequency = self.grown(self._frequency)
        return np.log(1 + (self.documents + 1) / (self._frequency + 1))

    def grown(self, vector: Vector) -> Vector:
        """``vector`` extended with zeros to the number of terms."""
        terms = len(self.ids)
        if len(vector) >= terms:
            return vector
        larger = np.zeros(2 * terms)
        larger[: len(vector)] = vector
        return larger
