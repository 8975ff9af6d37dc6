"""Texts as arrays of term numbers: any value of a term is computed once, and looked up for whole texts at a time.

Compiled code makes such texts (``chunk_table.pyx``). Without it a text is a list of strings, so code that uses the numbers
must also handle a list, with the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from crawlproject.pages.text.counting import Numbers, counted, place_of

Column = npt.NDArray[Any]


class Vocabulary:
    """The terms of an analyzer, numbered from 0 in order of first occurrence."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self.numbers: dict[str, int] = {}
        self._columns: dict[Callable[[Sequence[str]], Column], tuple[int, Column]] = {}

    def number(self, term: str) -> int:
        """Return the number of a term, which is added if it is new."""
        number = self.numbers.setdefault(term, len(self.terms))
        if number == len(self.terms):
            self.terms.append(term)
        return number

    def column(self, compute: Callable[[Sequence[str]], Column]) -> Column:
        """Return the value or values of each term, shape (..., at least terms). ``compute`` returns those of new terms; it is
        the key of the cache, so pass a module-level function, not a new closure.
        """
        known, values = self._columns.get(compute, (0, None))
        terms = len(self.terms)
        if values is None or known < terms:
            new = compute(self.terms[known:])
            if values is None or values.shape[-1] < terms:
                larger = np.empty((*new.shape[:-1], 2 * terms), new.dtype)
                larger[..., :known] = new[..., :0] if values is None else values[..., :known]
                values = larger
            values[..., known:terms] = new
            self._columns[compute] = terms, values
        return values


class Terms(Sequence[str]):
    """The terms of a text as ``numbers`` in a ``vocabulary``, shape (terms,). Behaves like a list of strings."""

    __slots__ = ("numbers", "vocabulary")

    def __init__(self, numbers: Numbers, vocabulary: Vocabulary) -> None:
        self.numbers = numbers
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        terms = self.vocabulary.terms
        if isinstance(place, slice):
            return [terms[number] for number in self.numbers[place].tolist()]
        return terms[self.numbers[place]]

    def __iter__(self) -> Iterator[str]:
        return map(self.vocabulary.terms.__getitem__, self.numbers.tolist())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, list | Terms) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[type[list[str]], tuple[list[str]]]:
        return list, (list(self),)  # a pickled copy does not contain the vocabulary

    def each(self, compute: Callable[[Sequence[str]], Column]) -> Column:
        """Return ``Vocabulary.column`` for each term of the text, shape (..., terms)."""
        found: Column = self.vocabulary.column(compute).take(self.numbers, axis=-1)
        return found


class TermCounts(Mapping[str, int]):
    """How often each term of a text occurs, like a ``Counter``, which is only built when a caller iterates over the terms.

    ``numbers`` are the distinct terms in order of first occurrence, ``counts`` their counts, both of shape (distinct terms,).
    """

    __slots__ = ("_counter", "_terms", "counts", "numbers")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms.vocabulary
        self._counter: Counter[str] | None = None
        self.numbers, self.counts = counted(terms.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._counted())

    def __getitem__(self, term: str) -> int:
        count: int = self.get(term, 0)
        return count

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self.get(term) is not None

    def get(self, term: str, default: Any = None) -> Any:
        place = place_of(self._terms.numbers.get(term, -1), self.numbers)
        return default if place < 0 else int(self.counts[place])

    def some(self, terms: Iterable[str]) -> dict[str, int]:
        """Return the counts of those ``terms`` that occur."""
        wanted = {self._terms.numbers.get(term, -1): term for term in terms}
        ordered = np.array(sorted(wanted), self.numbers.dtype)
        nearest = np.minimum(np.searchsorted(ordered, self.numbers), len(ordered) - 1)
        places = np.flatnonzero(ordered[nearest] == self.numbers) if len(ordered) else ordered
        found = zip(self.numbers[places].tolist(), self.counts[places].tolist(), strict=True)
        return {wanted[number]: count for number, count in found}

    def items(self) -> ItemsView[str, int]:
        return self._counted().items()

    def values(self) -> ValuesView[int]:
        return self._counted().values()

    def __reduce__(self) -> tuple[type[Counter[str]], tuple[dict[str, int]]]:
        return Counter, (dict(self._counted()),)

    def _counted(self) -> Counter[str]:
        if self._counter is None:
            terms = map(self._terms.terms.__getitem__, self.numbers.tolist())
            self._counter = Counter(dict(zip(terms, self.counts.tolist(), strict=True)))
        return self._counter


def counts_of_some(counts: Mapping[str, int], terms: Iterable[str]) -> dict[str, int]:
    """Return the counts of those ``terms`` that occur, in one pass; single look-ups take one pass each."""
    if not isinstance(counts, TermCounts):
        return {term: counts[term] for term in terms if term in counts}
    return counts.some(terms)


def frequencies(counts: Mapping[str, int]) -> list[int]:
    """Return the counts alone, in no particular order."""
    found: list[int] = counts.counts.tolist() if isinstance(counts, TermCounts) else list(counts.values())
    return found
