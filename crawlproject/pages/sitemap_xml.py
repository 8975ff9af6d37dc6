"""A sitemap taken apart: the pages it lists, or the sitemaps (https://www.sitemaps.org/protocol.html).

XML of the protocol with its index files and the news extension, RSS and Atom feeds, and plain text with a URL a line; any of
them packed with gzip. Read while it is unpacked, to limits, and to where it is damaged: what stood before counts. No entity is
resolved, nothing is fetched, and a document type, which no sitemap has, ends the reading.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from lxml import etree

MAX_BYTES = 10_485_760  # of the unpacked file: a tenth of a second; the protocol allows five times as many
MAX_ENTRIES = 10_000  # of a file that are looked at
_MAX_LENGTH = 2_048  # characters of a URL (the protocol's limit)
_MAX_ELEMENTS = 20 * MAX_ENTRIES
_MAX_DEPTH = 16
_CHUNK = 65_536
_GZIP = b"\x1f\x8b"
_ENTRIES = ("url", "sitemap", "item", "entry")
_BARE = re.compile(rb"&(?![A-Za-z]{1,10};|#[0-9A-Fa-fxX]{1,8};)")  # as people write it in URLs
_LONGEST_REFERENCE = 12
_DAYS = ("lastmod", "publication_date", "pubdate", "updated")  # the first that there is


class SitemapEntry(NamedTuple):
    """A URL as written, and when it was changed last, as written; empty when that is not given."""

    url: str
    lastmod: str = ""


class SitemapFile(NamedTuple):
    """The pages and the sitemaps of a file; one of them is empty."""

    pages: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[SitemapEntry, ...] = ()


def read_sitemap(body: bytes, *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> SitemapFile:
    """What ``body`` lists, ``max_entries`` in all. Any bytes give an answer, if an empty one."""
    chunks = _unpacked(body, max_bytes)
    first = next(chunks, b"")
    if b"<" in first[:1_000].replace(b"\0", b"")[:500]:
        return _from_xml(_chained(first, chunks), max_entries)
    return SitemapFile(pages=tuple(_from_text(b"".join(_chained(first, chunks)), max_entries)))


def _unpacked(body: bytes, limit: int) -> Iterator[bytes]:
    """``body`` in pieces, unpacked when it is gzip, perhaps twice; ``limit`` bytes at most. Damage ends it."""
    pieces: Iterator[bytes] = (body[start : start + _CHUNK] for start in range(0, len(body), _CHUNK))
    for _ in range(2):
        first = next(pieces, b"")
        pieces = _chained(first, pieces)
        if first.startswith(_GZIP):
            pieces = _gunzipped(pieces)
    left = limit
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    with suppress(zlib.error):
        unpacker = zlib.decompressobj(wbits=31)
        for piece in pieces:
            waiting = piece
            while waiting and not unpacker.eof:
                yield unpacker.decompress(waiting, _CHUNK)
                waiting = unpacker.unconsumed_tail


def _chained(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _from_text(body: bytes, limit: int) -> Iterator[SitemapEntry]:
    for line in body.decode("utf-8-sig", "replace").splitlines():
        url = line.strip()
        if url.startswith(("http://", "https://")) and len(url) <= _MAX_LENGTH and limit > 0:
            limit -= 1
            yield SitemapEntry(url)


class _Enough(Exception):
    """All that is wanted was read, or what comes is not wanted. Never leaves this module."""


class _Target:
    """Receives the events of a parser: elements by their local names, in whatever namespace."""

    def __init__(self, limit: int) -> None:
        self.pages: list[SitemapEntry] = []
        self.sitemaps: list[SitemapEntry] = []
        self._limit = limit
        self._elements = 0
        self._depth = 0
        self._entry_depth = 0  # where the open entry is; 0: none is open
        self._values: dict[str, str] = {}
        self._text: list[str] = []

    def doctype(self, *declaration: object) -> None:
        raise _Enough

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > _MAX_DEPTH or self._elements > _MAX_ELEMENTS:
            raise _Enough
        name = _local(tag)
        if not self._entry_depth and name in _ENTRIES:
            self._entry_depth = self._depth
            self._values = {}
        if self._entry_depth and name == "link" and attributes.get("rel", "alternate") == "alternate":
            self._values.setdefault("loc", attributes.get("href", ""))  # Atom
        self._text.clear()

    def data(self, text: str) -> None:
        if self._entry_depth and len(self._text) < 100:
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = _local(tag)
        if self._entry_depth == self._depth:
            self._close(name)
        elif self._entry_depth and self._text:
            value = "".join(self._text).strip()
            if self._depth == self._entry_depth + 1 and name in ("loc", "link"):
                self._values["loc"] = self._values.get("loc") or value
            elif name in _DAYS:  # news have theirs one element deeper
                self._values.setdefault(name, value)
        self._depth -= 1
        self._text.clear()

    def _close(self, name: str) -> None:
        self._entry_depth = 0
        url = self._values.get("loc", "")
        day = next((self._values[day] for day in _DAYS if day in self._values), "")
        if url and len(url) <= _MAX_LENGTH:
            (self.sitemaps if name == "sitemap" else self.pages).append(SitemapEntry(url, day[:40]))
            if len(self.pages) + len(self.sitemaps) >= self._limit:
                raise _Enough

    def close(self) -> None:
        """The input ends. lxml asks for this method."""


def _escaped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces with ``&`` that begin nothing escaped. A piece without the end of a tag is no sitemap: they end there."""
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


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].lower()


def _from_xml(pieces: Iterable[bytes], limit: int) -> SitemapFile:
    target = _Target(limit)
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    with suppress(_Enough, etree.XMLSyntaxError):
        for piece in _escaped(pieces):
            parser.feed(piece)
        parser.close()
    return SitemapFile(tuple(target.pages), tuple(target.sitemaps))
