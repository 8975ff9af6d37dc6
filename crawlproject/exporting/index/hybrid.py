"""Search by words and by meaning at once, fused by rank."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from crawlproject.errors import NoAnswer
from crawlproject.exporting.index.search import MAX_QUERY, OPERATOR, Hit, Searchable, SearchResult, searchable
from crawlproject.exporting.index.vectors import (
    Passage,
    VectorReader,
    VectorState,
    other_model,
    read_vector_state,
    written,
)
from crawlproject.language_models.base import Embedder
from crawlproject.pages.text.printable import printable

K = 60  # of Cormack, Clarke and Buettcher
DEPTH = 100  # pages of each ranking that are fused


def search(
    crawl_dir: Path, query: str, limit: int = 10, offset: int = 0, *, model: Embedder | None = None
) -> SearchResult:
    """The ``limit`` best pages for ``query`` after the first ``offset``: by words (``Searchable.search``), and by meaning, too,
    where the crawl has vectors of ``model``.

    Then the first 100 pages by words and the 100 whose best chunk is nearest to the query are fused by rank: G. V. Cormack,
    C. L. A. Clarke, S. Buettcher, *Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods*, SIGIR
    2009: a page is worth the sum of 1 / (60 + rank). The score is that times 61 / 2, so that 1 is first by both. Further pages by
    words follow. A query with operators is one about words, and is searched for by words alone; so is one that the model gives
    no answer about: then ``note`` says why.

    Raises ``BadCrawlDir`` when the folder has no index, or a damaged one, and ``BadSetting`` when the vectors are those of
    another model, or of one that cannot be loaded.
    """
    words = searchable(crawl_dir)
    query, limit, offset = query[:MAX_QUERY], max(0, limit), max(0, offset)
    changed, state = written(crawl_dir), read_vector_state(crawl_dir)
    if state is None or not state.rows or not query.strip() or OPERATOR.search(query):
        return words.search(query, limit, offset)
    if model is None:
        note = f"the index has vectors, too: with -s SEARCH_MODEL=... ({state.model}) it is searched by meaning"
        return noted(words.search(query, limit, offset), note)
    if model.name != state.model:
        raise other_model(state, model)
    try:
        [question] = model.vectors([query])
        if len(question) != state.dimensions:
            raise NoAnswer("a vector of another length")
    except NoAnswer as failure:
        note = f"by words alone: the model {model.name} gives no answer ({failure.reason})"
        return noted(words.search(query, limit, offset), note)
    return _fused(words, query, _reader(crawl_dir.resolve(), state, changed).nearest(question, DEPTH), limit, offset)


def noted(found: SearchResult, note: str) -> SearchResult:
    """``found`` with one note more."""
    return replace(found, note="; ".join(filter(None, (found.note, note))))


def search_words(crawl_dir: Path, query: str, limit: int = 10, offset: int = 0) -> SearchResult:
    """As ``search``, by words alone."""
    return searchable(crawl_dir).search(query[:MAX_QUERY], max(0, limit), max(0, offset))


@lru_cache(maxsize=4)
def _reader(crawl_dir: Path, state: VectorState, changed: int) -> VectorReader:
    """``changed``: vectors that were added to, or made anew, are opened again."""
    return VectorReader(crawl_dir, state)


def is_behind_vectors(crawl_dir: Path) -> bool:
    """Whether there are vectors, and the crawl has stored pages since. Raises ``BadCrawlDir``."""
    state, items = read_vector_state(crawl_dir), crawl_dir / "items.jsonl"
    return state is not None and items.exists() and items.stat().st_size > state.items


def fuse(*rankings: Sequence[str]) -> dict[str, float]:
    """Names by reciprocal rank fusion, best first: the sum of 1 / (60 + rank). What is worth the same is in the order of the
    first ranking that has it.
    """
    worth: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, start=1):
            worth[name] = worth.get(name, 0.0) + 1 / (K + rank)
    return dict(sorted(worth.items(), key=lambda pair: -pair[1]))


def _fused(words: Searchable, query: str, near: Sequence[Passage], limit: int, offset: int) -> SearchResult:
    places = {passage.page: (passage, place) for passage in near if (place := words.place(passage.page)) is not None}
    head = words.ranking(query, DEPTH, 0)
    first = {words.page(place): (score, place) for score, place in head.matches}
    worth = fuse([*first], [*places])
    hits: list[Hit] = []
    for page in [*worth][offset : offset + limit]:
        if page in first:
            [hit] = words.hits(head.query, [first[page]])
        else:
            passage, place = places[page]
            hit = words.hit(0.0, place, _snippet(passage))
        hits.append(replace(hit, score=_scaled(worth[page])))
    missing, passed = limit - len(hits), max(0, offset - len(worth))
    if missing > 0 and head.total > DEPTH:
        tail = words.ranking(query, passed + missing + DEPTH, DEPTH).matches
        ranked = [(_scaled(1 / (K + rank)), place) for rank, (_, place) in enumerate(tail, start=DEPTH + 1)]
        others = [match for match in ranked if words.page(match[1]) not in places]
        hits += words.hits(head.query, others[passed : passed + missing])
    return SearchResult(head.total + len(places) - words.count_among(head.query, [*places]), tuple(hits), head.note)


def _scaled(worth: float) -> float:
    return worth * (K + 1) / 2


def _snippet(passage: Passage) -> str:
    """The headings above a chunk, and how it begins, as HTML in one line."""
    said = ": ".join(filter(None, [" \N{RIGHTWARDS ARROW} ".join(passage.headings), passage.text]))
    return html.escape(" ".join(printable(said).split()))
