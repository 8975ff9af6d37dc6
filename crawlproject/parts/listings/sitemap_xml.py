"""A sitemap taken apart: the pages it lists, or the sitemaps (https://www.sitemaps.org/protocol.html).

XML of the protocol with its index files and the news extension, RSS and Atom feeds, and plain text with a URL a line; any of
them packed with gzip. Read while it is unpacked, to limits, and to where it is damaged: what stood before counts. No entity is
resolved, nothing is fetched, and a document type, which no sitemap has, ends the reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawlproject.parts.listings.safe_xml import MAX_BYTES, EntryEvents, chained, read_events, unpacked

MAX_ENTRIES = 10_000  # of a file that are looked at
_MAX_LENGTH = 2_048  # characters of a URL (the protocol's limit)
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


class _SitemapEvents(EntryEvents):
    """Receives the events of a document: entries by their elements' local names, in whatever namespace."""

    names = ("url", "sitemap", "item", "entry")

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.pages: list[SitemapEntry] = []
        self.sitemaps: list[SitemapEntry] = []

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        if self.entry_depth and name == "link" and attributes.get("rel", "alternate") == "alternate":
            self.values.setdefault("loc", attributes.get("href", ""))  # Atom

    def closed(self, name: str, text: str, depth: int) -> None:
        if depth == 1 and name in ("loc", "link"):
            self.values["loc"] = self.values.get("loc") or text
        elif name in _DAYS:  # news have theirs one element deeper
            self.values.setdefault(name, text)

    def add(self, name: str) -> bool:
        url = self.values.get("loc", "")
        if not url or len(url) > _MAX_LENGTH:
            return False
        day = next((self.values[day] for day in _DAYS if day in self.values), "")
        (self.sitemaps if name == "sitemap" else self.pages).append(SitemapEntry(url, day[:40]))
        return True


def _from_xml(pieces: Iterable[bytes], limit: int) -> SitemapFile:
    entries = _SitemapEvents(limit)
    read_events(pieces, entries)
    return SitemapFile(tuple(entries.pages), tuple(entries.sitemaps))
