"""Adds the pages crawled since the last update to the full-text index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tantivy

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.exporting.index.store import (
    FOLDER,
    RELEVANCE_WEIGHT,
    IndexState,
    new_state,
    open_store,
    read_state,
    remove,
    write_state,
)
from crawlproject.exporting.selection import is_first
from crawlproject.storage.append_log import ITEMS, TailReader
from crawlproject.urls.hosts import page_name

BATCH = 5_000  # pages between two commits
_HEAP = 64_000_000  # bytes that the writer may collect before it writes a segment


@dataclass(frozen=True, slots=True)
class Updated:
    """The result of an update: pages ``added``, duplicates ``left_out``, and ``pages`` in the index now.

    ``replaced`` counts later versions of pages. ``removed`` counts indexed pages that the crawl has taken back, or of which it
    now keeps a better copy.
    """

    added: int
    left_out: int
    pages: int
    replaced: int = 0
    removed: int = 0


def update(
    crawl_dir: Path,
    *,
    with_duplicates: bool | None = None,
    rebuild: bool = False,
    batch: int = BATCH,
    progress: Callable[[float], None] = lambda share: None,
) -> Updated:
    """Index the pages of ``crawl_dir`` that are not indexed yet, also during a crawl. Later versions of pages replace
    them; pages that the crawl took back, or of which it found a better copy, are removed.

    Duplicates (``duplicate_of``) are left out, unless ``with_duplicates``; None keeps the choice of the existing index, and
    a different choice rebuilds it, as ``rebuild`` does. The index is committed every ``batch`` pages; after a kill, the next
    update repeats the uncommitted pages. ``progress`` is called with the share that is done.

    Raises ``BadCrawlDir`` for a folder without a crawl, a damaged one, or if another process updates the index, and
    ``StorageFailed``.
    """
    begun = None if rebuild else read_state(crawl_dir)
    if begun is None or with_duplicates not in (None, begun.with_duplicates):
        state = new_state(crawl_dir, bool(with_duplicates))
        remove(crawl_dir)
    else:
        state = begun
    index = open_store(crawl_dir, state)
    try:
        writer = index.writer(_HEAP, num_threads=1)
    except ValueError as held:
        raise _refused(crawl_dir, held) from None
    try:
        work = _Update(crawl_dir, state, index, writer)
        done = work.run(batch, progress)
    except ValueError as error:  # Tantivy raises it if the disk fails
        if isinstance(error, BadCrawlDir):
            raise
        raise StorageFailed(f"cannot write the index in {crawl_dir / FOLDER}: {error}") from error
    if not work.has_others:
        return done
    del work, writer  # they hold the lock of the index
    return update(crawl_dir, with_duplicates=state.with_duplicates, rebuild=True, batch=batch, progress=progress)


def _refused(crawl_dir: Path, held: ValueError) -> BadCrawlDir | StorageFailed:
    if "lock" in str(held).lower():
        return BadCrawlDir(str(crawl_dir / FOLDER), "another process updates this index; wait until it has ended")
    return StorageFailed(f"cannot write the index in {crawl_dir / FOLDER}: {held}")


class _Update:
    def __init__(self, crawl_dir: Path, state: IndexState, index: tantivy.Index, writer: tantivy.IndexWriter) -> None:
        self._crawl_dir = crawl_dir
        self._state = state
        self._index = index
        self._writer = writer
        self._follower = TailReader(crawl_dir / ITEMS, state.place)
        searcher = index.searcher()
        # An update that was killed between commit and write_state has indexed lines beyond the place in the state.
        self._known = searcher if searcher.num_docs else None
        self._pages = searcher.num_docs
        # The pages that must be in the index, if all lines are read; else None.
        self._there: set[str] | None = set() if self._follower.restarted else None
        self._waiting = 0
        self._added = self._replaced = self._removed = 0

    def run(self, batch: int, progress: Callable[[float], None]) -> Updated:
        left_out = 0
        for item in self._follower:
            if item.get("duplicate_of") and not self._state.with_duplicates:
                left_out += 1
                continue
            self._put(item)
            if (replaced := item.get("replaces")) and not self._state.with_duplicates:
                left_out += self._leave_out(page_name(str(replaced)))
            self._waiting += 1
            if self._waiting >= batch:
                self._commit()
                progress(self._follower.share)
        self._commit(is_last=True)
        self._writer.wait_merging_threads()
        progress(1.0)
        return Updated(self._added, left_out, self._pages, self._replaced, self._removed)

    @property
    def has_others(self) -> bool:
        """Whether the index has pages whose lines are gone: truncated after a kill, or left out when workers were merged."""
        return self._there is not None and len(self._there) != self._pages

    def _is_known(self, md5: str) -> bool:
        """Whether the page was in the index before this update."""
        return self._known is not None and self._known.doc_freq("md5", md5) > 0

    def _leave_out(self, md5: str) -> bool:
        """Remove a page of which a better copy came; return whether this update had added the page."""
        self._writer.delete_documents_by_term("md5", md5)
        if self._there is not None:
            self._there.discard(md5)
        known = self._is_known(md5)
        self._removed += known
        self._added -= not known
        return not known

    def _put(self, item: Mapping[str, Any]) -> None:
        document = _document(item, self._follower.here)
        md5 = str(item["md5"])
        known = self._is_known(md5)
        first = is_first(item)
        if known or not first:
            self._writer.delete_documents_by_term("md5", md5)
        if self._there is not None:
            (self._there.discard if item.get("state") else self._there.add)(md5)
        if item.get("state"):
            self._removed += 1
            return
        self._writer.add_document(document)
        self._added += first and not known
        self._replaced += not first

    def _commit(self, *, is_last: bool = False) -> None:
        """Commit the pages, then write the state; if all lines are read, only at the end and if no foreign pages are left."""
        place = self._follower.place
        if self._waiting:
            self._writer.commit()
            self._index.reload()
            self._pages = self._index.searcher().num_docs
        is_sure = self._there is None or (is_last and not self.has_others)
        if is_sure and (place != self._state.place or self._pages != self._state.pages):
            self._state = self._state.after(self._pages, place)
            write_state(self._crawl_dir, self._state)
        self._waiting = 0


def _document(item: Mapping[str, Any], place: str) -> tantivy.Document:
    try:
        relevance = float(item["relevance"])
        return tantivy.Document(
            title=item["title"],
            anchor=item["anchor"],
            text=item["text"],
            url=item["url"],
            md5=item["md5"],
            language=item["language"],
            published=item.get("published", ""),  # missing in older crawls
            relevance=relevance,
            weight=RELEVANCE_WEIGHT * relevance,
            at=float(item["at"]),
        )
    except (KeyError, TypeError, ValueError) as damage:
        raise BadCrawlDir(place, f"expected the fields of an item ({damage!r})") from None
