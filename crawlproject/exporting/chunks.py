"""Exports the main content of the pages of a crawl in chunks, for retrieval, as JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import md5
from pathlib import Path
from typing import Any, BinaryIO

from crawlproject.errors import BadInput
from crawlproject.exporting.markdown import StoredTexts
from crawlproject.exporting.selection import Item, Selection, require_crawl
from crawlproject.exporting.tables import write_jsonl, write_parquet
from crawlproject.exporting.whole import written_whole
from crawlproject.pages.chunks import SIZE, chunks
from crawlproject.pages.text.languages import language_of
from crawlproject.pages.text.printable import counted
from crawlproject.storage.crawl_files import refuse_crawl_file

_TEXT, _NUMBER, _OTHER = {"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}
CHUNK_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "id": _TEXT,
    "url": _TEXT,
    "title": _TEXT,
    "headings": {"type": "array"},
    "text": _TEXT,
    "index": _NUMBER,
    "start": _NUMBER,
    "end": _NUMBER,
    "words": _NUMBER,
    "overlap": _NUMBER,
    "relevance": {"type": "number"},
    "published": _TEXT,
    "at": {"type": "number"},
    "author": _TEXT,
    "license": _TEXT,
    "language": _TEXT,
    "digest": _TEXT,
    "previous": _OTHER,
    "next": _OTHER,
}
_OF_PAGE = ("url", "title", "relevance", "published", "at", "author", "license")
_WRITERS: dict[str, Callable[[Iterable[Item], BinaryIO], int]] = {
    ".jsonl": write_jsonl,
    ".parquet": lambda rows, file: write_parquet(rows, file, CHUNK_FIELDS),
}


def export_chunks(crawl_dir: Path, target: Path, selection: Selection, *, words: int = SIZE, overlap: int = 0) -> str:
    """Write a row for each chunk of the selected pages to ``target``, completely or not at all; return a sentence about it.

    ``words`` and ``overlap`` are ``size`` and ``overlap`` of ``chunks``. Raises ``BadInput``, ``BadCrawlDir`` and
    ``StorageFailed``.
    """
    write = _WRITERS.get(target.suffix.lower())
    if write is None or target.is_dir():
        raise BadInput(str(target), f"expected the name of a file that ends in {' or '.join(_WRITERS)}")
    require_crawl(crawl_dir)
    refuse_crawl_file(target)
    texts = StoredTexts(crawl_dir, selection)
    with written_whole(target) as file:
        count = write(read_chunks(texts, words, overlap), file)
    return f"{counted(count, 'chunk')} in {target}{texts.gone}"


def read_chunks(texts: StoredTexts, words: int = SIZE, overlap: int = 0) -> Iterator[Item]:
    """Yield a row for each chunk, in the order of the crawl, with one page at a time in memory."""
    for item in texts.items():
        if text := texts.markdown(item):
            yield from _rows(item, text, words, overlap)


def _rows(item: Item, text: str, words: int, overlap: int) -> Iterator[Item]:
    found = chunks(text, words, overlap)
    names = [f"{item['md5']}-{number}" for number in range(1, len(found) + 1)]
    of_page = {name: item[name] for name in _OF_PAGE}
    of_page["language"] = item["language"] or language_of(item["text"])
    for number, chunk in enumerate(found):
        said = text[chunk.start : chunk.end]
        row = {
            **of_page,
            "id": names[number],
            "headings": list(chunk.headings),
            "text": said,
            "index": number + 1,
            "start": chunk.start,
            "end": chunk.end,
            "words": chunk.words,
            "overlap": chunk.overlap,
            "digest": md5(said.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(),
            "previous": names[number - 1] if number else None,
            "next": names[number + 1] if number + 1 < len(names) else None,
        }
        yield {name: row[name] for name in CHUNK_FIELDS}
