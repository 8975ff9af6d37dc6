"""Records and URLs as Redis keeps them: JSON and digests, never pickle, which runs whatever it is given."""

from __future__ import annotations

import math
from hashlib import md5
from typing import Any

import orjson

from crawlproject.records import CrawlUrl

_DEFAULTS: tuple[Any, ...] = (None, 0, None, "", 0.0, [], None)


def digest(url: str) -> bytes:
    """The 16 bytes that identify a URL in the seen test, as in the page repository."""
    return md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def dump_record(url: CrawlUrl) -> bytes:
    """All of a record but score and ``not_before``, which the server keeps; defaults at the end are left out."""
    fields = [
        _text(url.url),
        url.depth,
        _text(url.parent),
        _text(url.anchor),
        _number(url.context_score),
        [_number(value) for value in url.inherited],
        _text(url.request),
    ]
    while fields[-1] == _DEFAULTS[len(fields) - 1]:
        fields.pop()
    return orjson.dumps(fields)


def load_record(blob: bytes, score: float, not_before: float = 0.0) -> CrawlUrl:
    """The record that ``dump_record`` wrote."""
    fields: list[Any] = orjson.loads(blob)
    url, depth, parent, anchor, context_score, inherited, request = [*fields, *_DEFAULTS[len(fields) :]]
    inherited_by_links = tuple(map(float, inherited))
    return CrawlUrl(url, score, depth, parent, anchor, float(context_score), not_before, inherited_by_links, request)


def _number(value: float) -> float | str:
    """JSON has no infinity and no NaN: these travel as text."""
    return value if math.isfinite(value) else str(value)


def _text(value: str | None) -> str | None:
    """The same text with ``?`` for half a surrogate pair, which JSON cannot carry."""
    return value if value is None or value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
