"""Turns items into documents of OpenSearch or Elasticsearch, in the lines of bulk requests, and reads the replies."""

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
            "author": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
            "license": _KEYWORD,
            "reserved": _KEYWORD,
            "parts": {"type": "object", "enabled": False},
            "duplicate_of": _KEYWORD,
            "replaces": _KEYWORD,
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
_ERROR = 500  # characters of an error message that are kept


class SearchDocument(NamedTuple):
    """A page as two lines of a bulk request, or the one line that deletes it. The id is ``md5``, so a page that is sent twice is
    stored once. ``first``: the server has no earlier version of the page.
    """

    md5: str
    url: str
    lines: bytes
    first: bool = True
    deletes: bool = False


def document(item: Item) -> SearchDocument:
    """Return the document of an item: ``at`` is an ISO 8601 time stamp, an unknown publication date is null."""
    at = datetime.fromtimestamp(item["at"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    source = {**item, "at": at, "published": item["published"] or None}
    action = orjson.dumps({"index": {"_id": item["md5"]}})
    return SearchDocument(item["md5"], item["url"], b"%s\n%s\n" % (action, orjson.dumps(source)), is_first(item))


def deletion(url: str, md5: str) -> SearchDocument:
    """Return the deletion of a page that the server may have."""
    action = orjson.dumps({"delete": {"_id": md5}})
    return SearchDocument(md5, url, b"%s\n" % action, first=False, deletes=True)


def batches(documents: Iterable[SearchDocument | None], max_bytes: int) -> Iterator[list[SearchDocument]]:
    """Group documents into batches that end with the document that brings them to ``max_bytes``. None is skipped.

    A batch is yielded before anything after it is read, so the reader's position is right behind its last document. It has
    each page once, in its last version, since the server may process the documents of a request in any order and in parts.
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


class ServerReply(NamedTuple):
    """Status, parsed body (text or None if it is not JSON), and the seconds that the server asks to wait."""

    status: int
    found: Any = None
    retry_after: float = 0.0


def is_temporary(status: int) -> bool:
    """Whether the server may accept the same request later, because it is busy or faulty now."""
    return status in (408, 429) or status >= 500


def bulk_results(answer: ServerReply | None, count: int) -> list[tuple[int, str]] | None:
    """Return status and error of each of ``count`` documents; None if the reply does not cover all of them."""
    if answer is None or answer.status != 200 or not isinstance(answer.found, dict):
        return None
    try:
        actions = [next(iter(each.values())) for each in answer.found["items"]]
        results = [(int(action["status"]), error_text(action.get("error", ""))) for action in actions]
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return None
    return results if len(results) == count else None


def error_text(found: Any) -> str:
    """Return the error message of a server, shortened."""
    if isinstance(found, dict):
        inner = found.get("error", found)
        if isinstance(inner, dict) and ("reason" in inner or "type" in inner):
            return f"{inner.get('type', '')}: {inner.get('reason', '')}"[:_ERROR]
        found = inner
    return (found if isinstance(found, str) else orjson.dumps(found, default=str).decode())[:_ERROR]


def refusal_text(answer: ServerReply) -> str:
    if answer.status in (401, 403):
        return (
            f"the server rejects the credentials (HTTP {answer.status}): set them in the URL, or in "
            "OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD, or OPENSEARCH_API_KEY"
        )
    return f"the server rejects the request: HTTP {answer.status} {error_text(answer.found or '')}".rstrip()
