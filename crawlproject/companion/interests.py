"""What a person is interested in: weights of terms, learned from pages and how they were received."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from crawlproject.pages.text.vectors import DocumentFrequencies, Vector, dot, squared_norm

TERMS_OF_A_PAGE = 40  # the heaviest, from which is learned
MOST = 400  # terms that are remembered
HALF_LIFE = 30 * 86_400.0  # seconds after which what was learned weighs half


def page_vector(counts: Mapping[str, int], frequencies: DocumentFrequencies) -> dict[str, float]:
    """The weights ``(1 + ln tf) * ln(1 + |C| / df)`` of a page's terms, with length 1; numbers are left out.

    G. Salton, C. Buckley: Term-weighting approaches in automatic text retrieval. Information Processing & Management 24(5), 1988;
    smoothed for terms that are new.
    """
    documents = frequencies.documents + 1
    weights = {
        term: (1 + log(count)) * log(1 + documents / (1 + frequencies.frequency(term)))
        for term, count in counts.items()
        if not term.isdecimal()
    }
    length = sqrt(squared_norm(weights)) or 1.0
    return {term: weight / length for term, weight in weights.items()}


def heaviest(vector: Vector, n: int) -> dict[str, float]:
    """The ``n`` terms of the largest absolute weight, largest first."""
    ranked = sorted(vector.items(), key=lambda item: (-abs(item[1]), item[0]))
    return dict(ranked[:n])


class Interests:
    """``weights`` by term: above 0 for what the person stays on, below 0 for what the person turns away from.

    Relevance feedback (J. Rocchio: Relevance Feedback in Information Retrieval, 1971): the sum of the vectors of the pages,
    each times its worth.
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self.weights: dict[str, float] = dict(weights or {})

    def learn(self, vector: Vector, worth: float) -> None:
        """A page was worth so much: 1 for a quarter of a minute of reading, negative for one that was turned down."""
        for term, weight in heaviest(vector, TERMS_OF_A_PAGE).items():
            self.weights[term] = self.weights.get(term, 0.0) + worth * weight
        if len(self.weights) > 2 * MOST:
            self.weights = heaviest(self.weights, MOST)

    def fade(self, seconds: float) -> None:
        """So much time has passed since the last lesson."""
        if seconds > 0:
            share = 0.5 ** (seconds / HALF_LIFE)
            self.weights = {term: weight * share for term, weight in self.weights.items()}

    def likeness(self, vector: Vector) -> float:
        """The cosine with a page, -1 to 1."""
        product = dot(self.weights, vector)
        return product / sqrt(squared_norm(self.weights) * squared_norm(vector)) if product else 0.0

    def shared(self, vector: Vector, n: int = 3) -> list[str]:
        """The terms that a page owes its likeness to, the most important first."""
        products = {term: weight * self.weights.get(term, 0.0) for term, weight in vector.items()}
        ranked = sorted(products.items(), key=lambda item: (-item[1], item[0]))
        return [term for term, product in ranked[:n] if product > 0]
