"""Adds vectors of the pages crawled since the last update."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crawlproject.errors import NoAnswer, ServerFailed
from crawlproject.exporting.index.search import SNIPPET
from crawlproject.exporting.index.store import IndexState, read_state
from crawlproject.exporting.index.vectors import (
    Passage,
    VectorState,
    VectorWriter,
    begin_vectors,
    other_model,
    read_vector_state,
    writing_alone,
)
from crawlproject.exporting.markdown import StoredTexts
from crawlproject.exporting.selection import Item, Selection
from crawlproject.language_models.base import Embedder
from crawlproject.pages.chunks import chunks, plain
from crawlproject.storage.append_log import ITEMS

WORDS = 150  # of a chunk: the 256 tokens that small models read must also hold title and headings
BATCH = 32  # chunks that a model embeds at a time
_COMMIT = 1_024  # chunks between two commits


@dataclass(frozen=True, slots=True)
class Embedded:
    """The result of an update: ``added`` chunks were embedded; there are ``chunks`` now."""

    added: int
    chunks: int


class _Page(NamedTuple):
    name: bytes
    digest: bytes
    passages: list[Passage]
    texts: list[str]


def update_vectors(
    crawl_dir: Path, model: Embedder, *, rebuild: bool = False, progress: Callable[[float], None] = lambda share: None
) -> Embedded:
    """Embed the chunks of the same pages as in the full-text index. Pages whose bytes have not changed are not embedded again.

    After a kill, or a failure of the model, the next update resumes. ``progress`` is called with the share that is done.

    Raises ``BadSetting`` if the vectors are of another model, or the model cannot be loaded, ``BadCrawlDir`` if the vectors
    are damaged, or another process writes them, ``ServerFailed`` if the model does not answer, and ``StorageFailed``.
    """
    with writing_alone(crawl_dir):
        state = None if rebuild else read_vector_state(crawl_dir)
        if state is not None and not state.rows:
            state = None  # empty, so another model may be used
        if state is not None and state.model != model.name:
            raise other_model(state, model)
        state = state or begin_vectors(crawl_dir, model.name)
        return _Embedding(crawl_dir, model, state).run(read_state(crawl_dir) or IndexState(""), progress)


class _Embedding:
    def __init__(self, crawl_dir: Path, model: Embedder, state: VectorState) -> None:
        self._crawl_dir = crawl_dir
        self._model = model
        self._writer = VectorWriter(crawl_dir, state)
        self._before = self._committed = state.rows
        self._waiting: list[_Page] = []
        self._number = 0  # of waiting chunks

    def run(self, index: IndexState, progress: Callable[[float], None]) -> Embedded:
        items = self._crawl_dir / ITEMS
        size = items.stat().st_size if items.exists() else 0  # taken before reading, as the crawl may be running
        seen: set[bytes] = set()
        added = 0
        try:
            for page in self._pages(index, seen):
                self._waiting.append(page)
                self._number += len(page.texts)
                if self._number >= BATCH:
                    added += self._embed()
                    progress(min(1.0, len(seen) / max(1, index.pages)))
            added += self._embed()
        except (NoAnswer, KeyboardInterrupt) as stopped:
            self._writer.commit()
            if isinstance(stopped, NoAnswer):
                wish = f"{self._writer.state.rows:,} chunks are kept: run the same command to resume"
                raise ServerFailed(f"the model {self._model.name} does not answer ({stopped.reason}); {wish}") from None
            raise
        for gone in self._writer.known.keys() - seen:
            self._writer.remove(gone)
        self._writer.finish(size)
        progress(1.0)
        return Embedded(added, self._writer.state.rows - self._writer.state.unused)

    def _pages(self, index: IndexState, seen: set[bytes]) -> Iterator[_Page]:
        """Yield the pages that are new or have changed, in chunks; add all pages to ``seen``."""
        texts = StoredTexts(self._crawl_dir, Selection(with_duplicates=index.with_duplicates))
        for item in texts.items():
            name = bytes.fromhex(item["md5"])
            digest = md5(str(item["digest"] or item["text"]).encode("utf-8", "replace"), usedforsecurity=False).digest()
            seen.add(name)
            if self._writer.known.get(name) != digest:
                passages, spelled = _cut(item, texts.markdown(item) or item["text"])
                yield _Page(name, digest, passages, spelled)

    def _embed(self) -> int:
        """Embed the waiting chunks and store their vectors; return the number of chunks."""
        pages, self._waiting, self._number = self._waiting, [], 0
        spelled = [text for page in pages for text in page.texts]
        found = [self._model.vectors(spelled[at : at + BATCH]) for at in range(0, len(spelled), BATCH)]
        if found and len({rows.shape[1] for rows in found} | {self._writer.state.dimensions} - {0}) > 1:
            raise NoAnswer("vectors of another length")
        vectors, at = np.concatenate(found) if found else np.zeros((0, 0), np.float32), 0
        for page in pages:
            if page.name in self._writer.known:
                self._writer.remove(page.name)
            if page.texts:
                self._writer.add(page.name, page.digest, vectors[at : at + len(page.texts)], page.passages)
            at += len(page.texts)
        if self._writer.state.rows - self._committed >= _COMMIT:
            self._writer.commit()
            self._committed = self._writer.state.rows
        return len(spelled)


def _cut(item: Item, text: str) -> tuple[list[Passage], list[str]]:
    """Return the chunks of a page, and the text of each for the model: title, headings and chunk."""
    passages, spelled = [], []
    for chunk in chunks(text, WORDS):
        said = text[chunk.start : chunk.end]
        begins = plain(" ".join(line for line in said[: 3 * SNIPPET].splitlines() if not line.startswith("#")))
        passages.append(Passage(item["md5"], chunk.headings, " ".join(begins.split())[:SNIPPET]))
        spelled.append("\n".join(filter(None, [" ".join(item["title"].split()), " > ".join(chunk.headings), said])))
    return passages, spelled
