"""Records and URLs as Redis keeps them: JSON and digests, never pickle, which runs whatever it is given."""

from __future__ import annotations

import math
from hashlib import md5
from typing import Any

import orjson

from crawlproject.frontier.record_keys import read_key, written_kind
from crawlproject.records import ACTIVE, CrawlUrl

_DEFAULTS: tuple[Any, ...] = (None, 0, None, "", 0.0, [], None, None)


def digest(url: str) -> bytes:
    """The 16 bytes that identify a URL in the seen test, as in the page repository."""
    return md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def dump_record(url: CrawlUrl) -> bytes:
    """All of a record but score, ``not_before`` and class, which the server keeps.

    The first line is depth and inherited values, which the server compares (``merge_paths``). The second is a list as
    ``_DEFAULTS``, of which defaults at the end are left out; before there was a first line, it held these as well.
    """
    path = " ".join(map(repr, (url.depth, *map(float, url.inherited))))
    fields: list[Any] = [
        _text(url.key),
        0,
        _text(url.parent),
        _text(url.anchor),
        _number(url.context_score),
        [],
        _text(url.request),
        written_kind(url.key, url.parent, url.kind),
    ]
    while fields[-1] == _DEFAULTS[len(fields) - 1]:
        fields.pop()
    return path.encode() + b"\n" + orjson.dumps(fields)


def load_record(blob: bytes, score: float, not_before: float = 0.0, precedence: int = ACTIVE) -> CrawlUrl:
    """The record that ``dump_record`` wrote."""
    path, _, rest = blob.rpartition(b"\n")
    fields: list[Any] = orjson.loads(rest)
    key, depth, parent, anchor, context_score, inherited, request, kind = [*fields, *_DEFAULTS[len(fields) :]]
    url, kind, variant = read_key(key, parent, kind)
    if path:
        depth, *inherited = path.split()
    depth, context_score, inherited = int(depth), float(context_score), tuple(map(float, inherited))
    return CrawlUrl(
        url, score, depth, parent, anchor, context_score, not_before, inherited, request, kind, variant, precedence
    )


def _number(value: float) -> float | str:
    """JSON has no infinity and no NaN: these travel as text."""
    return value if math.isfinite(value) else str(value)


def _text(value: str | None) -> str | None:
    """The same text with ``?`` for half a surrogate pair, which JSON cannot carry."""
    return value if value is None or value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
