"""Maps terms to small numbers, so that texts are arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]


class TermIds:
    """Term -> 1, 2, 3, ... in order of appearance; 0 for the empty text, and for new terms after ``limit`` terms."""

    def __init__(self, limit: int = 200_000) -> None:
        self._limit = limit
        self._numbers = {"": 0}

    def of(self, terms: Iterable[str]) -> Numbers:
        """One number per term, as an array of the same length."""
        texts = list(terms)
        found = list(map(self._numbers.get, texts))
        if None in found:
            found = list(map(self._number, texts))
        return np.array(found, np.int32)

    def __len__(self) -> int:
        """Count of numbers in use, including 0."""
        return len(self._numbers)

    def _number(self, term: str) -> int:
        number = self._numbers.get(term)
        if number is None:
            number = len(self._numbers)
            if number > self._limit:
                return 0
            self._numbers[term] = number
        return number
