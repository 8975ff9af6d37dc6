"""Hybrid search: by words and by meaning, with the two rankings fused by rank."""

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

K = 60  # the constant of Cormack, Clarke and Buettcher
DEPTH = 100  # pages of each ranking that are fused


def search(
    crawl_dir: Path, query: str, limit: int = 10, offset: int = 0, *, model: Embedder | None = None
) -> SearchResult:
    """Return the ``limit`` best pages for ``query`` after the first ``offset``: by words (``Searchable.search``), and also by
    meaning if the crawl has vectors of ``model``.

    Hybrid search fuses the first 100 pages by words with the 100 pages whose best chunk is nearest to the query (G. V. Cormack,
    C. L. A. Clarke, S. Buettcher, *Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods*, SIGIR
    2009): the value of a page is the sum of 1 / (60 + rank). The score is this sum times 61 / 2, so that a page that is first
    in both rankings has the score 1. Further pages by words follow. A query with operators is searched by words alone; so is
    every query if the model does not answer, and then ``note`` says why.

    Raises ``BadCrawlDir`` if the folder has no index or a damaged one, and ``BadSetting`` if the vectors are of another
    model, or the model cannot be loaded.
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
    reader = _reader(crawl_dir.resolve(), state, changed)  # the vectors may be written anew while the model answers
    try:
        [question] = model.vectors([query])
        if len(question) != state.dimensions:
            raise NoAnswer("a vector of another length")
    except NoAnswer as failure:
        note = f"by words alone: the model {model.name} does not answer ({failure.reason})"
        return noted(words.search(query, limit, offset), note)
    return _fused(words, query, reader.nearest(question, DEPTH), limit, offset)


def noted(found: SearchResult, note: str) -> SearchResult:
    """Return ``found`` with an additional note."""
    return replace(found, note="; ".join(filter(None, (found.note, note))))


def search_words(crawl_dir: Path, query: str, limit: int = 10, offset: int = 0) -> SearchResult:
    """Like ``search``, by words alone."""
    return searchable(crawl_dir).search(query[:MAX_QUERY], max(0, limit), max(0, offset))


@lru_cache(maxsize=4)
def _reader(crawl_dir: Path, state: VectorState, changed: int) -> VectorReader:
    """``changed``, the modification time, is part of the cache key: updated vectors are opened again."""
    return VectorReader(crawl_dir, state)


def has_vectors(crawl_dir: Path) -> bool:
    """Whether the index has vectors. Raises ``BadCrawlDir``."""
    return read_vector_state(crawl_dir) is not None


def is_behind_vectors(crawl_dir: Path) -> bool:
    """Whether there are vectors, and the crawl has stored pages since. Raises ``BadCrawlDir``."""
    state, items = read_vector_state(crawl_dir), crawl_dir / "items.jsonl"
    return state is not None and items.exists() and items.stat().st_size > state.items


def fuse(*rankings: Sequence[str]) -> dict[str, float]:
    """Fuse rankings by reciprocal rank: return each name with the sum of 1 / (60 + rank), best first. Ties are in the order of
    the first ranking that contains them.
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
    """Return the headings above a chunk and its beginning, as HTML in one line."""
    said = ": ".join(filter(None, [" \N{RIGHTWARDS ARROW} ".join(passage.headings), passage.text]))
    return html.escape(" ".join(printable(said).split()))
