"""Maps terms to small numbers, so that texts are arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from crawlproject.pages.text.terms import Terms, Vocabulary, look_up

Numbers = npt.NDArray[np.int32]


class TermIds:
    """Term -> 1, 2, 3, ... in order of appearance; 0 for the empty text, and for new terms after ``limit`` terms."""

    def __init__(self, limit: int = 200_000) -> None:
        self._limit = limit
        self.numbers = {"": 0}  # others read it
        self._vocabulary = Vocabulary()  # of the latest texts that are numbers already
        self._known = np.zeros(0, np.int32)  # our number for each of its terms; -1: not asked for yet

    def of(self, terms: Iterable[str]) -> Numbers:
        """One number per term, as an array of the same length."""
        if isinstance(terms, Terms):
            return self._of_numbered(terms)
        texts = list(terms)
        found = list(map(self.numbers.get, texts))
        if None in found:
            found = [self.number(term) if known is None else known for term, known in zip(texts, found, strict=True)]
        return np.array(found, np.int32)

    def __len__(self) -> int:
        """Count of numbers in use, including 0."""
        return len(self.numbers)

    def _of_numbered(self, terms: Terms) -> Numbers:
        if terms.vocabulary is not self._vocabulary:
            self._vocabulary, self._known = terms.vocabulary, np.zeros(0, np.int32)
        if len(self._known) < len(self._vocabulary):
            known, self._known = self._known, np.full(2 * len(self._vocabulary), -1, np.int32)
            self._known[: len(known)] = known
        found, all_known = look_up(terms.numbers, self._known)
        if not all_known:
            for number in dict.fromkeys(terms.numbers[found < 0].tolist()):
                self._known[number] = self.number(self._vocabulary.terms[number])
            found, _ = look_up(terms.numbers, self._known)
        return found

    def number(self, term: str) -> int:
        """The number of a term."""
        number = self.numbers.get(term)
        if number is None:
            number = len(self.numbers)
            if number > self._limit:
                return 0
            self.numbers[term] = number
        return number
