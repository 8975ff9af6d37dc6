"""Seeds pushed to Redis while the crawl runs, as with scrapy-redis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from crawlproject.frontier.redis.connection import Server

_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Pushed:
    """An entry as Redis stores it, and its key."""

    key: str
    raw: bytes


class PushedSeeds:
    """The seeds under ``keys``: a list, a set or a sorted set (highest score first) of URLs or JSON objects with a ``url``.

    An entry is removed once its seed is in a frontier or an outbox: a worker that is killed before leaves it to the next
    one. Every method waits for the reply and raises what ``redis`` raises.
    """

    def __init__(self, server: Server, keys: Iterable[str]) -> None:
        self._server = server
        self._keys = list(dict.fromkeys(keys))

    def look(self) -> list[Pushed]:
        """The first entries under each key."""
        return [Pushed(key, raw) for key in self._keys for raw in self._first(key)]

    def remove(self, entries: Iterable[Pushed]) -> None:
        """Remove entries that ``look`` returned."""
        for entry in entries:
            kind = self._server.type(entry.key)
            if kind == b"list":
                self._server.lrem(entry.key, 1, entry.raw)
            elif kind == b"set":
                self._server.srem(entry.key, entry.raw)
            elif kind == b"zset":
                self._server.zrem(entry.key, entry.raw)

    def _first(self, key: str) -> list[bytes]:
        kind = self._server.type(key)
        if kind == b"list":
            return list(self._server.lrange(key, 0, _AT_ONCE - 1))
        if kind == b"set":
            return list(self._server.srandmember(key, _AT_ONCE))
        return list(self._server.zrevrange(key, 0, _AT_ONCE - 1)) if kind == b"zset" else []


def read_seed(raw: bytes, encoding: str) -> tuple[str, float | None]:
    """The URL of an entry, and its score when ``{"url": ..., "meta": {"score": ...}}`` gives one.

    Raises ``ValueError`` for anything else.
    """
    text = raw.decode(encoding).strip()
    if not text.startswith("{"):
        return text, None
    fields: Any = orjson.loads(text)
    url, meta = fields.get("url"), fields.get("meta") or {}
    if not isinstance(url, str) or not isinstance(meta, dict):
        raise ValueError('expected a URL, or {"url": "...", "meta": {...}}')
    score = meta.get("score")
    return url, float(score) if isinstance(score, int | float) else None
