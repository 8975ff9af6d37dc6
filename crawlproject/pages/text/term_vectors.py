"""Relevance by meaning: the word vectors of an installed spaCy pipeline, turned into vectors of an analyzer's terms, and the
judge that uses them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import accumulate, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawlproject.errors import BadSetting
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.vectors import cosine_of, span_squared_norms, squared_norm
from crawlproject.records import Span

Floats = NDArray[np.float32]
SETTING = "setting TOPIC_VECTORS"
KEPT = 50_000  # subword vectors that are cached
SAMPLE = 10_000  # words whose mean vector stands for the mean of all words

_WISH = "install one whose name ends in _md or _lg, such as en_core_web_md (python -m spacy download NAME)"
_SIZES = ("_lg", "_md")  # name endings of pipelines with vectors, the best first


class TermVectors:
    """A vector of length 1 for each term that the pipeline knows.

    The vector of a term is the mean of the vectors of all words that ``analyzer`` turns into this term, minus the mean of
    the vectors of all terms, normalised to length 1. Without the subtraction all words of a language look alike; it is the
    first step of J. Mu, P. Viswanath: All-but-the-Top, ICLR 2018.
    """

    def __init__(self, table: Floats, words: Iterable[tuple[str, int]], analyzer: Analyzer) -> None:
        self.width = int(table.shape[1])
        self._row_of: dict[str, int] = {}
        rows: list[int] = []
        terms: list[int] = []
        for word, row in words:
            term = analyzer.term(word)
            if term:
                terms.append(self._row_of.setdefault(term, len(self._row_of)))
                rows.append(row)
        # Row t of this matrix averages the rows of the table that are words of term t; the last row, for unknown terms, is
        # empty. Vectors are computed on demand: all vectors of a pruned table would take ten times the memory.
        of_term = np.array(terms, np.int64)
        shares = 1 / np.bincount(of_term)[of_term]
        self._means = csr_matrix((shares, (of_term, rows)), (len(self._row_of) + 1, len(table)), dtype=np.float32)
        self._table = table
        self._mean = self._means.sum(axis=0).A1 @ table / max(1, len(self._row_of))

    def of(self, terms: Sequence[str]) -> Floats:
        """Return a row for each term, all zeros for an unknown term."""
        unknown = len(self._row_of)
        rows = np.array([self._row_of.get(term, unknown) for term in terms], np.int64)
        found = _directions(self._means[rows] @ self._table - self._mean)
        found[rows == unknown] = 0
        return found


class SubwordVectors:
    """The same for a pipeline that makes vectors from parts of words (floret), so that every spelling has one.

    The vector of a term is the vector of its spelling, minus the mean of the vectors of the pipeline's first words,
    normalised to length 1.
    """

    def __init__(self, vectors: Any, words: Iterable[str]) -> None:
        self.width = int(vectors.shape[1])
        self._vectors = vectors
        self._mean = np.asarray(vectors.get_batch([*islice(words, SAMPLE), "a"])).mean(axis=0)
        self._known: dict[str, Floats] = {}

    def of(self, terms: Sequence[str]) -> Floats:
        """Return a row for each term."""
        if len(self._known) > KEPT:
            self._known.clear()
        missing = [term for term in dict.fromkeys(terms) if term not in self._known]
        if missing:
            found = _directions(np.asarray(self._vectors.get_batch(missing)) - self._mean)
            self._known.update(zip(missing, found, strict=True))
        return np.array([self._known[term] for term in terms], np.float32).reshape(len(terms), self.width)


def load_term_vectors(pipeline: str, analyzer: Analyzer) -> TermVectors | SubwordVectors:
    """Return the vectors of ``pipeline``, an installed package or a folder; if empty, an installed one for the language.

    Loads only the table of vectors and the strings, no component. Raises ``BadSetting`` if there is no such pipeline, or it
    has no vectors.
    """
    place = _folder(pipeline, analyzer.language)
    from spacy.vocab import Vocab  # takes a second

    try:
        vocab = Vocab().from_disk(place / "vocab", exclude=["lookups"])
    except (OSError, ValueError) as error:
        raise BadSetting(SETTING, f"expected a spaCy pipeline; {place} cannot be read as one: {error}") from None
    vectors, strings = vocab.vectors, vocab.strings
    if not vectors.size:
        raise BadSetting(SETTING, f"expected a pipeline with word vectors, and {place.name} has none; {_WISH}")
    if vectors.mode == "floret":
        return SubwordVectors(vectors, strings)
    words = ((strings[key], int(row)) for key, row in vectors.key2row.items() if row >= 0 and key in strings)
    return TermVectors(np.asarray(vectors.data), ((w, row) for w, row in words if w.isidentifier()), analyzer)


def _folder(pipeline: str, language: str) -> Path:
    """Return the data folder of the pipeline."""
    if not pipeline:
        pipeline = next(_installed(language), "")
    if not pipeline:
        raise BadSetting(SETTING, f"no pipeline with word vectors of {language!r} is installed; {_WISH}")
    if Path(pipeline).is_dir():
        return Path(pipeline)
    spec = find_spec(pipeline) if pipeline.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise BadSetting(SETTING, f"{pipeline!r} is neither a folder nor an installed pipeline; {_WISH}")
    package = Path(spec.submodule_search_locations[0])
    try:
        about = json.loads((package / "meta.json").read_bytes())
        return package / f"{about['lang']}_{about['name']}-{about['version']}"
    except (OSError, ValueError, KeyError):
        raise BadSetting(SETTING, f"{pipeline!r} is a package, but not a spaCy pipeline") from None


def _installed(language: str) -> Iterator[str]:
    """Yield the installed pipelines of a language whose names promise vectors, the best first."""
    names = sorted(found.value for found in entry_points(group="spacy_models"))
    for size in _SIZES:
        yield from (name for name in names if name.startswith(f"{language}_") and name.endswith(size))


def _directions(vectors: Any) -> Floats:
    """Normalise each row to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


class SemanticJudge(TopicJudge):
    """Cosine similarity of mean term vectors with the keywords.

    The vector of a text is the mean of the vectors of its terms, each as often as it occurs. A term without a vector, such as
    the name of a program, gets a separate dimension: it is similar to itself only, as all terms are for ``TopicJudge``.
    So if no term has a vector, the scores are those of ``TopicJudge``, and in general

        cos(a, b) = (sum of n_a(s) n_b(t) v(s) v(t)) / (|a| |b|)

    over all pairs of terms s of a and t of b, where n counts occurrences: the soft cosine (G. Sidorov and others: Soft
    Similarity and Soft Cosine Measure, Computacion y Sistemas 18(3), 2014) with the cosine of word vectors as the
    similarity of terms. A negative cosine counts as 0. Texts that share no word with the keywords may score above 0.
    """

    by_meaning = True

    def __init__(self, keywords: Sequence[str], analyzer: Analyzer, vectors: TermVectors | SubwordVectors) -> None:
        self._vectors = vectors
        super().__init__(keywords, analyzer)

    def turn_to(self, keywords: Sequence[str]) -> None:
        super().turn_to(keywords)
        self._direction, self._named, self._query_norm = self._sum_of(self.query)

    def relevance(self, counts: Mapping[str, int]) -> float:
        """Return the cosine of a document, given as its term counts, with the keywords, 0 to 1."""
        if not counts:
            return 0.0
        total, named, norm = self._sum_of(counts)
        product = float(total @ self._direction) + sum(n * named.get(term, 0) for term, n in self._named.items())
        return cosine_of(max(0.0, product), self._query_norm, norm)

    def context_scores(self, terms: Sequence[str], spans: Sequence[Span]) -> list[float]:
        """Return the cosine of each span of ``terms`` with the keywords. Spans must lie within ``terms``.

        Vectors are summed once, between the ends of spans; the sum of a span is the difference of two running sums.
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
        """Return, for the terms of each span that are in ``unknown``, the product with the keywords and the squared norm."""
        before = list(accumulate((term in unknown for term in terms), initial=0))
        terms = [term for term in terms if term in unknown]
        hits = list(accumulate(map(self._named.get, terms, repeat(0)), initial=0))
        ranges = [(before[start], before[end]) for start, end in spans]
        norms = span_squared_norms(terms, ranges)
        return [hits[end] - hits[start] for start, end in ranges], [norms[found] for found in ranges]

    def _sum_of(self, counts: Mapping[str, int]) -> tuple[NDArray[np.float64], dict[str, int], float]:
        """Return the sum of the vectors, the counts of the terms without a vector, and the squared norm of both together."""
        terms = list(counts)
        vectors = self._vectors.of(terms)
        total = np.array(list(counts.values()), float) @ vectors.astype(float)
        named = {term: counts[term] for term in _without_vector(terms, vectors)}
        return total, named, float(total @ total) + squared_norm(named)


def _without_vector(terms: Sequence[str], vectors: NDArray[np.float32]) -> set[str]:
    """Return the terms whose row is all zeros."""
    return {terms[row] for row in np.flatnonzero(~np.any(vectors, axis=1)).tolist()}
