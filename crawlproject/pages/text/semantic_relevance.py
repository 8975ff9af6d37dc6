"""How close a page, and the context of each of its links, is in meaning to the topic's keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, repeat
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.span_statistics import span_squared_norms
from crawlproject.pages.text.vectors import cosine_of, squared_norm
from crawlproject.records import Span


class Vectors(Protocol):
    """Term vectors (``term_vectors.py``)."""

    def of(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each term; all zeros for one that has no vector."""
        ...


class SemanticJudge(TopicJudge):
    """Cosine similarity of mean term vectors with the keywords.

    A text is the mean of the vectors of its terms, each as often as it occurs. A term without a vector, such as the name of
    a program, is a dimension of its own in which it is 1: it is close to itself only, as all terms are for ``TopicJudge``.
    So with vectors for none of the terms the scores are those of ``TopicJudge``, and in general

        cos(a, b) = (sum of n_a(s) n_b(t) v(s) v(t)) / (|a| |b|)

    over all pairs of terms s of a and t of b, n counting occurrences: the soft cosine (G. Sidorov and others: Soft
    Similarity and Soft Cosine Measure, Computacion y Sistemas 18(3), 2014) with the cosine of word vectors as the
    similarity of terms. A negative cosine counts as 0. Texts that share no word with the keywords may score above 0.
    """

    by_meaning = True

    def __init__(self, keywords: Sequence[str], analyzer: Analyzer, vectors: Vectors) -> None:
        self._vectors = vectors
        super().__init__(keywords, analyzer)

    def turn_to(self, keywords: Sequence[str]) -> None:
        super().turn_to(keywords)
        self._direction, self._named, self._query_norm = self._sum_of(self.query)

    def relevance(self, counts: Mapping[str, int]) -> float:
        """The cosine of a document, given as its term counts, with the keywords, 0 to 1."""
        if not counts:
            return 0.0
        total, named, norm = self._sum_of(counts)
        product = float(total @ self._direction) + sum(n * named.get(term, 0) for term, n in self._named.items())
        return cosine_of(max(0.0, product), self._query_norm, norm)

    def context_scores(self, terms: Sequence[str], spans: Sequence[Span]) -> list[float]:
        """The cosine of each span of ``terms`` with the keywords, for all of them together. Spans lie within ``terms``.

        Vectors are added up once, between the ends of spans; the sum of a span is the difference of two running sums.
        """
        distinct = [span for span in dict.fromkeys(spans) if span.end > span.start]
        if not distinct:
            return [0.0] * len(spans)
        edges = np.unique(np.array(distinct))
        terms = terms[: edges[-1]]
        number_of = {term: number for number, term in enumerate(dict.fromkeys(terms))}
        columns = list(map(number_of.__getitem__, terms[edges[0] :]))
        counts = csr_matrix((np.ones(len(columns)), columns, edges - edges[0]), (len(edges) - 1, len(number_of)))
        vectors = self._vectors.of(list(number_of))
        before = np.zeros((len(edges), vectors.shape[1]))
        np.cumsum(counts @ vectors, axis=0, out=before[1:])
        starts, ends = np.searchsorted(edges, np.array(distinct)).T
        sums = before[ends] - before[starts]
        unknown = _without_vector(list(number_of), vectors)
        named, named_norms = self._unknown_in(terms, distinct, unknown) if unknown else ([0] * len(distinct),) * 2
        products = sums @ self._direction + named
        norms = np.einsum("ij,ij->i", sums, sums) + named_norms
        found = zip(distinct, products.tolist(), norms.tolist(), strict=True)
        scores = {span: cosine_of(max(0.0, product), self._query_norm, norm) for span, product, norm in found}
        return [scores.get(span, 0.0) for span in spans]

    def _unknown_in(
        self, terms: Sequence[str], spans: Sequence[Span], unknown: set[str]
    ) -> tuple[list[int], list[int]]:
        """Of each span, as far as it has terms in ``unknown``: the product with the keywords, and the squared norm."""
        before = list(accumulate((term in unknown for term in terms), initial=0))
        terms = [term for term in terms if term in unknown]
        hits = list(accumulate(map(self._named.get, terms, repeat(0)), initial=0))
        ranges = [(before[start], before[end]) for start, end in spans]
        norms = span_squared_norms(terms, ranges)
        return [hits[end] - hits[start] for start, end in ranges], [norms[found] for found in ranges]

    def _sum_of(self, counts: Mapping[str, int]) -> tuple[NDArray[np.float64], dict[str, int], float]:
        """The sum of the vectors, the counts of the terms that have none, and the squared norm of both together."""
        terms = list(counts)
        vectors = self._vectors.of(terms)
        total = np.array(list(counts.values()), float) @ vectors.astype(float)
        named = {term: counts[term] for term in _without_vector(terms, vectors)}
        return total, named, float(total @ total) + squared_norm(named)


def _without_vector(terms: Sequence[str], vectors: NDArray[np.float32]) -> set[str]:
    """The terms whose row is all zeros."""
    return {terms[row] for row in np.flatnonzero(~np.any(vectors, axis=1)).tolist()}
