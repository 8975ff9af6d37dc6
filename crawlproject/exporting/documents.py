"""Items as documents of OpenSearch or Elasticsearch, and as the lines of their bulk requests."""

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
    """A page as two lines of a bulk request. ``md5`` is the id: a page that is sent twice is there once."""

    md5: str
    url: str
    lines: bytes


def document(item: Item) -> SearchDocument:
    """``at`` becomes a time stamp of ISO 8601, and a day of publication that is not known null."""
    at = datetime.fromtimestamp(item["at"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    source = {**item, "at": at, "published": item["published"] or None}
    action = orjson.dumps({"index": {"_id": item["md5"]}})
    return SearchDocument(item["md5"], item["url"], b"%s\n%s\n" % (action, orjson.dumps(source)))


def batches(documents: Iterable[SearchDocument | None], max_bytes: int) -> Iterator[list[SearchDocument]]:
    """Documents in batches of at most ``max_bytes``; one that is larger comes alone. None is passed over.

    A batch is given as soon as it is known to be full, before anything after it is read: so that a place in the file
    behind the last document of a batch is known, each batch ends where reading stands.
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
