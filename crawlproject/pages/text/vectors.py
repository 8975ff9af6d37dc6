"""Term vectors and their cosine, the vector space model of papers 000 and 003; and the norms of many spans of a text at once.

A vector maps a term to its weight; a missing term weighs 0. Term frequency vectors are plain counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from math import log, sqrt
from operator import mul

import numpy as np

from crawlproject.pages.text.terms import TermCounts, Terms

try:
    from crawlproject.pages.text.term_counts import squared_norms
except Exception:  # not built, or in a zip file
    squared_norms = None  # type: ignore[assignment]

Vector = Mapping[str, float]
Range = tuple[int, int]

_OVERLAP = 8


def squared_norm(vector: Vector) -> float:
    """Return the sum of the squared weights; an exact int if the weights are counts."""
    if isinstance(vector, TermCounts):
        return int(np.dot(vector.counts, vector.counts))
    weights = vector.values()
    return sum(map(mul, weights, weights))


def dot(one: Vector, other: Vector) -> float:
    """Return the inner product, in time linear in the smaller vector."""
    if len(one) > len(other):
        one, other = other, one
    return sum(map(mul, one.values(), map(other.get, one, repeat(0))))


def cosine_of(product: float, squared_norm_one: float, squared_norm_other: float) -> float:
    """Return the cosine, given an inner product and two squared norms; 0 if the product is 0, never above 1."""
    if not product:
        return 0.0
    return min(1.0, product / sqrt(squared_norm_one * squared_norm_other))


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine similarity (paper 000 equation 1, paper 003 equation 3), 0 to 1 for non-negative weights.

    It is 0 if the vectors share no term, also for empty vectors.
    """
    return cosine_of(dot(one, other), squared_norm(one), squared_norm(other))


class DocumentFrequencies:
    """The document frequency of each term in the documents observed so far.

    ``documents`` is the number of these documents, |C| of paper 003 equation 2.
    """

    def __init__(self) -> None:
        self.documents = 0
        self._frequencies: Counter[str] = Counter()

    def observe(self, counts: Mapping[str, int]) -> None:
        """Count one more document, given as its term counts."""
        self.documents += 1
        self._frequencies.update(counts.keys())

    def frequency(self, term: str) -> int:
        """Return the number of documents that contain ``term``."""
        return self._frequencies[term]

    def idf(self, term: str) -> float:
        """Return ``ln(|C| / df)``; 0 for a term in no document, since it does not discriminate."""
        frequency = self._frequencies[term]
        return log(self.documents / frequency) if frequency else 0.0


def tf_idf(counts: Mapping[str, int], frequencies: DocumentFrequencies) -> dict[str, float]:
    """Return the weights of paper 003 equation 2, ``(0.5 + 0.5 * tf / max tf) * ln(|C| / df)``, without terms of weight 0."""
    highest = max(counts.values(), default=0)
    weights = {term: (0.5 + 0.5 * count / highest) * frequencies.idf(term) for term, count in counts.items()}
    return {term: weight for term, weight in weights.items() if weight}


def span_squared_norms(terms: Sequence[str], spans: Iterable[Range]) -> dict[Range, int]:
    """Return the exact squared norm of the TF vector of each span.

    Nested or disjoint spans are counted together: a span takes over the counts of the largest span inside it
    and adds the rest, so that each term moves O(log n) times and the depth of nesting costs nothing. A span that
    crosses an earlier one, which no tree yields, is counted separately. Compiled code, which is fast, counts every span
    separately, unless the spans together are more than ``_OVERLAP`` times as long as the sequence.
    """
    if isinstance(terms, Terms) and squared_norms is not None:
        different = list(set(spans))
        if sum([end - start for start, end in different]) <= _OVERLAP * len(terms):
            return dict(zip(different, squared_norms(terms.numbers, different), strict=True))
        spans = different
    norms: dict[Range, int] = {}
    open_spans: list[_SpanTally] = []
    for span in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        while open_spans and open_spans[-1].span[1] <= span[0]:
            _close(open_spans, terms, norms)
        if open_spans and span[1] > open_spans[-1].span[1]:
            norms[span] = int(squared_norm(Counter(terms[span[0] : span[1]])))
        else:
            open_spans.append(_SpanTally(span))
    while open_spans:
        _close(open_spans, terms, norms)
    return norms


class _SpanTally:
    """The term counts of a span up to ``position``, and the sum of their squares."""

    __slots__ = ("counts", "norm", "position", "span")

    def __init__(self, span: Range) -> None:
        self.span = span
        self.position = span[0]
        self.counts: Counter[str] = Counter()
        self.norm = 0

    def advance(self, terms: Sequence[str], position: int) -> None:
        """Count the terms up to ``position``."""
        if position > self.position:
            counts = Counter(terms[self.position : position])
            self.absorb(counts, int(squared_norm(counts)))
            self.position = position

    def absorb(self, counts: Counter[str], norm: int) -> None:
        """Merge ``counts`` into this tally, the smaller counter into the larger. ``counts`` must not be used afterwards."""
        if len(counts) > len(self.counts):
            self.counts, counts = counts, self.counts
            self.norm, norm = norm, self.norm
        mine = self.counts
        for term, count in counts.items():
            have = mine[term]
            self.norm += count * (2 * have + count)
            mine[term] = have + count


def _close(open_spans: list[_SpanTally], terms: Sequence[str], norms: dict[Range, int]) -> None:
    """Close the innermost open span and pass its counts to the enclosing span."""
    tally = open_spans.pop()
    tally.advance(terms, tally.span[1])
    norms[tally.span] = tally.norm
    if open_spans:
        outer = open_spans[-1]
        outer.advance(terms, tally.span[0])
        outer.absorb(tally.counts, tally.norm)
        outer.position = tally.span[1]
