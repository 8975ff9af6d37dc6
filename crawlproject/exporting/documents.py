"""Converts items to documents of OpenSearch or Elasticsearch, and to the lines of bulk requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from crawlproject.exporting.selection import Item, is_first

_KEYWORD = {"type": "keyword"}
_TEXT = {"type": "text"}
_FLOAT = {"type": "float"}
MAPPING: Mapping[str, Any] = {
    "mappings": {
        "properties": {
            "url": _KEYWORD,
            "title": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
            "text": _TEXT,
            "text_main": _TEXT,
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
            "rendered": {"type": "boolean"},
            "topics": {"type": "object", "enabled": False},
            "version": {"type": "integer"},
            "state": _KEYWORD,
        }
    }
}


class SearchDocument(NamedTuple):
    """A page as two lines of a bulk request, or the one line that deletes it. The id is ``md5``, so a page that is sent twice is
    stored once. ``first``: the server has no earlier version of it.
    """

    md5: str
    url: str
    lines: bytes
    first: bool = True
    deletes: bool = False


def document(item: Item) -> SearchDocument:
    """The document of an item: ``at`` as an ISO 8601 time stamp, and null for an unknown publication date."""
    at = datetime.fromtimestamp(item["at"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    source = {**item, "at": at, "published": item["published"] or None}
    action = orjson.dumps({"index": {"_id": item["md5"]}})
    return SearchDocument(item["md5"], item["url"], b"%s\n%s\n" % (action, orjson.dumps(source)), is_first(item))


def deletion(item: Item) -> SearchDocument:
    """Takes a page back that the server may have."""
    action = orjson.dumps({"delete": {"_id": item["md5"]}})
    return SearchDocument(item["md5"], item["url"], b"%s\n" % action, first=False, deletes=True)


def batches(documents: Iterable[SearchDocument | None], max_bytes: int) -> Iterator[list[SearchDocument]]:
    """Group documents into batches of at most ``max_bytes``; a larger document is a batch of its own. None is skipped.

    A batch is yielded before anything after it is read, so the reader's position is right behind its last document. It has each
    page once, in its last version: the server may take documents of one request in any order, after several tries.
    """
    batch: dict[str, SearchDocument] = {}
    size = 0
    for each in documents:
        if each is None:
            continue
        earlier = batch.pop(each.md5, None)
        size += len(each.lines) - (len(earlier.lines) if earlier else 0)
        batch[each.md5] = each._replace(first=True) if earlier and earlier.first else each
        if size >= max_bytes:
            yield list(batch.values())
            batch, size = {}, 0
    if batch:
        yield list(batch.values())
