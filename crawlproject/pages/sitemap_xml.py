"""A sitemap taken apart: the pages it lists, or the sitemaps (https://www.sitemaps.org/protocol.html).

XML of the protocol with its index files and the news extension, RSS and Atom feeds, and plain text with a URL a line; any of
them packed with gzip. Read while it is unpacked, to limits, and to where it is damaged: what stood before counts. No entity is
resolved, nothing is fetched, and a document type, which no sitemap has, ends the reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawlproject.pages.safe_xml import MAX_BYTES, Enough, chained, read_events, unpacked

MAX_ENTRIES = 10_000  # of a file that are looked at
_MAX_LENGTH = 2_048  # characters of a URL (the protocol's limit)
_ENTRIES = ("url", "sitemap", "item", "entry")
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
    chunks = unpacked(body, max_bytes)
    first = next(chunks, b"")
    if b"<" in first[:1_000].replace(b"\0", b"")[:500]:
        return _from_xml(chained(first, chunks), max_entries)
    return SitemapFile(pages=tuple(_from_text(b"".join(chained(first, chunks)), max_entries)))


def _from_text(body: bytes, limit: int) -> Iterator[SitemapEntry]:
    for line in body.decode("utf-8-sig", "replace").splitlines():
        url = line.strip()
        if url.startswith(("http://", "https://")) and len(url) <= _MAX_LENGTH and limit > 0:
            limit -= 1
            yield SitemapEntry(url)


class _Entries:
    """Receives the events of a document: entries by their elements' local names, in whatever namespace."""

    def __init__(self, limit: int) -> None:
        self.pages: list[SitemapEntry] = []
        self.sitemaps: list[SitemapEntry] = []
        self._limit = limit
        self._entry_depth = 0  # where the open entry is; 0: none is open
        self._values: dict[str, str] = {}
        self._text: list[str] = []

    def start(self, name: str, attributes: dict[str, str], depth: int) -> None:
        if not self._entry_depth and name in _ENTRIES:
            self._entry_depth = depth
            self._values = {}
        if self._entry_depth and name == "link" and attributes.get("rel", "alternate") == "alternate":
            self._values.setdefault("loc", attributes.get("href", ""))  # Atom
        self._text.clear()

    def data(self, text: str) -> None:
        if self._entry_depth and len(self._text) < 100:
            self._text.append(text)

    def end(self, name: str, depth: int) -> None:
        if self._entry_depth == depth:
            self._close(name)
        elif self._entry_depth and self._text:
            value = "".join(self._text).strip()
            if depth == self._entry_depth + 1 and name in ("loc", "link"):
                self._values["loc"] = self._values.get("loc") or value
            elif name in _DAYS:  # news have theirs one element deeper
                self._values.setdefault(name, value)
        self._text.clear()

    def _close(self, name: str) -> None:
        self._entry_depth = 0
        url = self._values.get("loc", "")
        day = next((self._values[day] for day in _DAYS if day in self._values), "")
        if url and len(url) <= _MAX_LENGTH:
            (self.sitemaps if name == "sitemap" else self.pages).append(SitemapEntry(url, day[:40]))
            if len(self.pages) + len(self.sitemaps) >= self._limit:
                raise Enough


def _from_xml(pieces: Iterable[bytes], limit: int) -> SitemapFile:
    entries = _Entries(limit)
    read_events(pieces, entries)
    return SitemapFile(tuple(entries.pages), tuple(entries.sitemaps))
