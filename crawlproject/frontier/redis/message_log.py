"""What the workers of a crawl tell each other: a stream in each slot, of which the latest messages are kept; and how Redis keeps
records and URLs: as JSON and digests, never as pickle, which runs whatever it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import md5
from typing import Any

import orjson

from crawlproject.frontier.changes import json_number, read_key, written_kind
from crawlproject.frontier.redis.script import Operation
from crawlproject.records import ACTIVE, CrawlUrl

AT_ONCE = 64  # messages that are fetched together
Call = Callable[[int, Sequence[Operation]], list[Any]]

_DEFAULTS: tuple[Any, ...] = (None, 0, None, "", 0.0, [], None, None)


class MessageLog:
    """One worker's place in the streams. ``call`` does operations in a slot. ``kept``: messages of each, 0: nobody tells."""

    def __init__(self, call: Call, slots: int) -> None:
        self.kept = 0
        self._call = call
        self._latest = [b"0-0"] * slots
        self._published: dict[int, int] = {}

    def published(self, slot: int) -> int:
        """The number of the last numbered message that the slot had of this worker when that was asked first."""
        if slot not in self._published:
            self._published[slot] = int(float(self._call(slot, [("published",)])[0]))
        return self._published[slot]

    def publishing(self, message: bytes, number: int) -> Operation:
        """The operation that tells something."""
        return ("publish", number, self.kept, message)

    def asking(self, slot: int, *, own: bool = False) -> Operation:
        """The operation that asks for the next messages, with this worker's own or without."""
        return ("messages", self._latest[slot], AT_ONCE, int(own))

    def answered(self, slot: int, answer: list[bytes]) -> list[bytes]:
        """What came."""
        self._latest[slot], *messages = answer
        return messages

    def next(self, *, own: bool) -> list[bytes]:
        """The next messages of all slots; none: there are no more. Waits for the answers."""
        found: list[bytes] = []
        for slot in range(len(self._latest)):
            before = None
            while not found and before != self._latest[slot]:
                before = self._latest[slot]
                found += self.answered(slot, self._call(slot, [self.asking(slot, own=own)])[0])
        return found


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
        json_number(url.context_score),
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


def _text(value: str | None) -> str | None:
    """The same text with ``?`` for half a surrogate pair, which JSON cannot carry."""
    return value if value is None or value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
