"""Word vectors of an installed spaCy pipeline, as vectors of an analyzer's terms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawlproject.errors import BadSetting
from crawlproject.pages.text.analyzer import Analyzer

Floats = NDArray[np.float32]

SETTING = "setting TOPIC_VECTORS"
KEPT = 50_000  # vectors made from parts of words that are remembered
SAMPLE = 10_000  # words whose mean is that of all of them
_WISH = "install one whose name ends in _md or _lg, such as en_core_web_md (python -m spacy download NAME)"
_SIZES = ("_lg", "_md")  # endings of the names of pipelines with vectors, the best first


class TermVectors:
    """A vector of length 1 for each term that the pipeline knows.

    The vector of a term is the mean of those of all the pipeline's words that ``analyzer`` turns into this term, less the
    mean of the vectors of all terms, divided by its length. Without the subtraction all words of a language look alike
    (J. Mu, P. Viswanath: All-but-the-Top, ICLR 2018, whose first step it is).
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
        # Row t of this matrix averages the rows of the table that are words of term t; an empty last row is for others.
        # Vectors are multiplied out when they are asked for: of a pruned table they take ten times the memory.
        of_term = np.array(terms, np.int64)
        shares = 1 / np.bincount(of_term)[of_term]
        self._means = csr_matrix((shares, (of_term, rows)), (len(self._row_of) + 1, len(table)), dtype=np.float32)
        self._table = table
        self._mean = self._means.sum(axis=0).A1 @ table / max(1, len(self._row_of))

    def of(self, terms: Sequence[str]) -> Floats:
        """A row for each term, all zeros for one that is not known."""
        unknown = len(self._row_of)
        rows = np.array([self._row_of.get(term, unknown) for term in terms], np.int64)
        found = _directions(self._means[rows] @ self._table - self._mean)
        found[rows == unknown] = 0
        return found


class SubwordVectors:
    """The same for a pipeline that makes vectors from parts of words (floret), which knows every spelling.

    The vector of a term is that of its own spelling, less the mean of those of the pipeline's first words, divided by
    its length.
    """

    def __init__(self, vectors: Any, words: Iterable[str]) -> None:
        self.width = int(vectors.shape[1])
        self._vectors = vectors
        self._mean = np.asarray(vectors.get_batch([*islice(words, SAMPLE), "a"])).mean(axis=0)
        self._known: dict[str, Floats] = {}

    def of(self, terms: Sequence[str]) -> Floats:
        """A row for each term."""
        if len(self._known) > KEPT:
            self._known.clear()
        missing = [term for term in dict.fromkeys(terms) if term not in self._known]
        if missing:
            found = _directions(np.asarray(self._vectors.get_batch(missing)) - self._mean)
            self._known.update(zip(missing, found, strict=True))
        return np.array([self._known[term] for term in terms], np.float32).reshape(len(terms), self.width)


def load_term_vectors(pipeline: str, analyzer: Analyzer) -> TermVectors | SubwordVectors:
    """The vectors of ``pipeline``, an installed package or a folder; empty: one of the analyzer's language that is installed.

    Only its table of vectors and its strings are loaded, no component. Raises ``BadSetting`` when there is none, or none
    with vectors.
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
    """Where the pipeline keeps its data."""
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
    """The installed pipelines of a language whose names promise vectors, the best first."""
    names = sorted(found.value for found in entry_points(group="spacy_models"))
    for size in _SIZES:
        yield from (name for name in names if name.startswith(f"{language}_") and name.endswith(size))


def _directions(vectors: Any) -> Floats:
    """Each row divided by its length; rows of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
