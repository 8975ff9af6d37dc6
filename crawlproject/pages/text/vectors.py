"""Term vectors and their cosine: the vector space model of papers 000 and 003.

A vector is a mapping from term to weight, a missing term weighs 0. Term frequency vectors are plain counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import log, sqrt
from operator import mul

import numpy as np

from crawlproject.pages.text.terms import TermCounts

Vector = Mapping[str, float]


def squared_norm(vector: Vector) -> float:
    """The sum of the squared weights; an exact int when the weights are counts."""
    if isinstance(vector, TermCounts):
        return int(np.dot(vector.counts, vector.counts))
    weights = vector.values()
    return sum(map(mul, weights, weights))


def dot(one: Vector, other: Vector) -> float:
    """The inner product, in the time of the smaller vector."""
    if len(one) > len(other):
        one, other = other, one
    get = other.get
    return sum([weight * get(term, 0) for term, weight in one.items()])


def cosine_of(product: float, squared_norm_one: float, squared_norm_other: float) -> float:
    """The cosine from an inner product and two squared norms; 0 when the product is 0, never above 1."""
    if not product:
        return 0.0
    return min(1.0, product / sqrt(squared_norm_one * squared_norm_other))


def cosine(one: Vector, other: Vector) -> float:
    """Cosine similarity (paper 000 equation 1, paper 003 equation 3), 0 to 1 for weights that are not negative.

    0 when the vectors share no term, empty vectors included.
    """
    return cosine_of(dot(one, other), squared_norm(one), squared_norm(other))


class DocumentFrequencies:
    """In how many documents each term occurs, over the documents observed so far.

    ``documents`` is their number, |C| of paper 003 equation 2.
    """

    def __init__(self) -> None:
        self.documents = 0
        self._frequencies: Counter[str] = Counter()

    def observe(self, counts: Mapping[str, int]) -> None:
        """One more document, given as its term counts."""
        self.documents += 1
        self._frequencies.update(counts.keys())

    def frequency(self, term: str) -> int:
        """The number of documents that hold ``term``."""
        return self._frequencies[term]

    def idf(self, term: str) -> float:
        """``ln(|C| / df)``; 0 for a term that no document holds, which cannot tell documents apart."""
        frequency = self._frequencies[term]
        return log(self.documents / frequency) if frequency else 0.0


def tf_idf(counts: Mapping[str, int], frequencies: DocumentFrequencies) -> dict[str, float]:
    """The weights of paper 003 equation 2, ``(0.5 + 0.5 * tf / max tf) * ln(|C| / df)``; without terms of weight 0."""
    highest = max(counts.values(), default=0)
    weights = {term: (0.5 + 0.5 * count / highest) * frequencies.idf(term) for term, count in counts.items()}
    return {term: weight for term, weight in weights.items() if weight}
