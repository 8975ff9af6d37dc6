"""Reads untrusted XML in pieces while it is unpacked, up to limits and up to the first damage.

No entity is resolved, nothing is fetched, and a document type, which no sitemap and no feed needs, ends the reading.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress

from lxml import etree

from crawlproject.pages.unpack import MAX_MEMBERS

MAX_BYTES = 10_485_760  # of the unpacked file, a tenth of a second; the sitemap protocol allows five times as many
_MAX_ELEMENTS = 200_000
_MAX_DEPTH = 16
_CHUNK = 65_536
_GZIP = b"\x1f\x8b"
_BARE = re.compile(rb"&(?![A-Za-z]{1,10};|#[0-9A-Fa-fxX]{1,8};)")  # unescaped, as often in URLs
_LONGEST_REFERENCE = 12
_MEDIA = "search.yahoo.com/mrss/"


class Enough(Exception):
    """Ends the reading: all that is wanted was read, or the rest is not wanted. Never leaves ``read_events``."""


class EntryEvents:
    """Collects the entries of a document: elements with one of ``names``, and the texts of the elements in them.

    A subclass decides what is read of the elements (``opened``, ``closed``) and what becomes of an entry (``add``). Names are
    local and in lower case. lxml calls the methods of a parser target; one that raises ``Enough`` ends the reading.
    """

    names: tuple[str, ...] = ()

    def __init__(self, limit: int) -> None:
        self.values: dict[str, str] = {}  # of the open entry
        self.depth = 0  # number of open elements
        self.entry_depth = 0  # depth of the open entry; 0 if none is open
        self._left = limit
        self._text: list[str] = []
        self._elements = 0

    def doctype(self, *declaration: object) -> None:
        raise Enough

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self._elements += 1
        if self.depth > _MAX_DEPTH or self._elements > _MAX_ELEMENTS:
            raise Enough
        name = _local(tag)
        if name in self.names and self.depth == self.entry_depth + 1 > 1:
            self._complete(name)  # the open entry was not closed before the next one
        if not self.entry_depth and name in self.names:
            self.entry_depth = self.depth
            self.values = {}
        self.opened(name, attributes)
        self._text.clear()

    def data(self, text: str) -> None:
        if self.entry_depth and len(self._text) < 100:
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = _local(tag)
        if self.entry_depth == self.depth:
            self._complete(name)
        elif self.entry_depth and self._text:
            self.closed(name, "".join(self._text).strip(), self.depth - self.entry_depth)
        self._text.clear()
        self.depth -= 1

    def _complete(self, name: str) -> None:
        self.entry_depth = 0
        self._left -= self.add(name)
        if self._left <= 0:
            raise Enough

    def close(self) -> None:
        """The input ends. lxml requires this method."""

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins, inside or outside an entry."""

    def closed(self, name: str, text: str, depth: int) -> None:
        """An element with text ends, ``depth`` levels into the open entry."""

    def add(self, name: str) -> bool:
        """The entry ``name`` is complete in ``values``. Returns whether it counts."""
        raise NotImplementedError


def read_events(pieces: Iterable[bytes], events: EntryEvents) -> None:
    """Read a document up to its end, its first fault that cannot be skipped, or a limit. Raises nothing."""
    parser = etree.XMLParser(target=events, resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    with suppress(Enough, etree.XMLSyntaxError, UnicodeDecodeError):  # lxml raises the last for &#xD800;
        for piece in _escaped(pieces):
            parser.feed(piece)
        parser.close()


def _local(tag: str) -> str:
    """The local name in lower case; the media namespace is kept as a prefix, since its titles are those of pictures."""
    space, _, name = tag.rpartition("}")
    return f"media:{name}" if space.endswith(_MEDIA) else name.lower()


def unpacked(body: bytes, limit: int = MAX_BYTES) -> Iterator[bytes]:
    """Yield ``body`` in pieces, unpacked if it is gzip, even twice; ``limit`` bytes at most. Damage ends the pieces."""
    pieces: Iterator[bytes] = (body[start : start + _CHUNK] for start in range(0, len(body), _CHUNK))
    for _ in range(2):
        first = next(pieces, b"")
        pieces = chained(first, pieces)
        if first.startswith(_GZIP):
            pieces = _gunzipped(pieces)
    left = limit
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the contents of the members of a gzip file, one after the other. Any data after them is damage."""
    with suppress(zlib.error):
        unpacker, members = zlib.decompressobj(wbits=31), 1
        for piece in pieces:
            waiting = piece
            while waiting:
                if members > MAX_MEMBERS:
                    return
                if found := unpacker.decompress(waiting, _CHUNK):
                    yield found
                waiting = unpacker.unconsumed_tail
                if unpacker.eof:
                    waiting = unpacker.unused_data
                    unpacker, members = zlib.decompressobj(wbits=31), members + 1


def chained(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _escaped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces, with each bare ``&`` escaped. They end at a large piece without the end of a tag: it is not XML."""
    kept = b""
    wide = False
    for number, piece in enumerate(pieces):
        wide = wide if number else b"\0" in piece[:4]  # UTF-16, in which & has two bytes
        if number and b">" not in piece and len(piece) >= _CHUNK // 2:
            return
        if wide:
            yield piece
            continue
        piece = kept + piece
        cut = piece.rfind(b"&", max(0, len(piece) - _LONGEST_REFERENCE))
        piece, kept = (piece, b"") if cut < 0 else (piece[:cut], piece[cut:])
        yield _BARE.sub(b"&amp;", piece)
    yield _BARE.sub(b"&amp;", kept)
