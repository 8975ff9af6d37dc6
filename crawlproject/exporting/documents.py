"""Converts items to documents of OpenSearch or Elasticsearch, and to the lines of bulk requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from crawlproject.exporting.selection import Item

_KEYWORD = {"type": "keyword"}
_TEXT = {"type": "text"}
_FLOAT = {"type": "float"}
MAPPING: Mapping[str, Any] = {
    "mappings": {
        "properties": {
            "url": _KEYWORD,
            "title": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
            "text": _TEXT,
            "language": _KEYWORD,
            "relevance": _FLOAT,
            "score": {"type": "double"},
            "depth": {"type": "integer"},
            "parent": _KEYWORD,
            "anchor": _TEXT,
            "context_score": _FLOAT,
            "status": {"type": "integer"},
            "at": {"type": "date"},
            "md5": _KEYWORD,
            "published": {"type": "date"},
            "parts": {"type": "object", "enabled": False},
            "duplicate_of": _KEYWORD,
            "spam": _FLOAT,
            "digest": _KEYWORD,
            "content_type": _KEYWORD,
        }
    }
}


class SearchDocument(NamedTuple):
    """A page as two lines of a bulk request. The id is ``md5``, so a page that is sent twice is stored once."""

    md5: str
    url: str
    lines: bytes


def document(item: Item) -> SearchDocument:
    """The document of an item: ``at`` as an ISO 8601 time stamp, and null for an unknown publication date."""
    at = datetime.fromtimestamp(item["at"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    source = {**item, "at": at, "published": item["published"] or None}
    action = orjson.dumps({"index": {"_id": item["md5"]}})
    return SearchDocument(item["md5"], item["url"], b"%s\n%s\n" % (action, orjson.dumps(source)))


def batches(documents: Iterable[SearchDocument | None], max_bytes: int) -> Iterator[list[SearchDocument]]:
    """Group documents into batches of at most ``max_bytes``; a larger document is a batch of its own. None is skipped.

    A batch is yielded before anything after it is read, so the reader's position is right behind its last document.
    """
    batch: list[SearchDocument] = []
    size = 0
    for each in documents:
        if each is None:
            continue
        batch.append(each)
        size += len(each.lines)
        if size >= max_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
