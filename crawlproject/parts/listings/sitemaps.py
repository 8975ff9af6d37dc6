"""Sitemaps as a source of links: sitemaps that robots.txt names are fetched like any URL, and read as a page of links.

A sitemap has no text. Its page gets the words of the URLs instead, so that the links about the topic can be found. The context
of a link is the words of its URL; it has no anchor. A sitemap may list pages of its own host and of the host whose robots.txt
names it.

A sitemap lists pages or sitemaps (https://www.sitemaps.org/protocol.html): XML of the protocol with its index files and
the news extension, RSS and Atom feeds, or plain text with one URL per line; each with or without gzip. It is read while it is
unpacked, up to limits and up to the first damage; what comes before counts. No entity is resolved, nothing is fetched, and
a document type, which no sitemap has, ends the reading.

``sitemaps.jsonl``: one line per sitemap or feed that was read, with the last modification of each page. It is used to
schedule revisits of the pages, and when a crawl resumes and its ordering learns the links again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.feeds import moment
from crawlproject.parts.listings.listing import MAX_LENGTH, Entry, Listing, listing_page, path_words
from crawlproject.parts.listings.safe_xml import MAX_BYTES, EntryEvents, chained, read_events, unpacked
from crawlproject.records import LISTINGS, SITEMAP, CrawlUrl, Link, Page, Span
from crawlproject.storage.append_log import AppendLog, read_lines
from crawlproject.storage.crawl_files import SITEMAPS as NAME
from crawlproject.storage.history import History
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of, origin_of

ROBOTS_TXT = "/robots.txt"
MAX_ENTRIES = 10_000  # of a file that are read

_DAYS = ("lastmod", "publication_date", "pubdate", "updated")  # the first one present is used


class Sitemaps:
    """Reads sitemaps for one topic. ``per_host``: most sitemaps that are read of a host; ``most``: most links taken from each."""

    kind = SITEMAP

    def __init__(self, canonicalize: Callable[..., str], judge: TopicJudge, *, per_host: int, most: int) -> None:
        self.per_host = per_host
        self._canonicalize = canonicalize
        self._judge = judge
        self._most = most
        self.named_by: dict[str, set[str]] = {}  # host -> the sitemaps that its robots.txt names

    def named(self, hrefs: Iterable[str], found: CrawlUrl) -> Iterator[CrawlUrl]:
        """Yield the sitemaps that the robots.txt for ``found`` names. They get the score of ``found``."""
        if self.per_host and found.kind not in LISTINGS:
            yield from self._offered(hrefs, origin_of(found.url) + ROBOTS_TXT, found, found.depth + 1)

    def listing(self, url: CrawlUrl, body: bytes) -> Listing:
        """What the sitemap at ``url`` lists: the links whose words are nearest to the topic, at a tie the latest changed."""
        file = read_sitemap(body)
        hosts = {_bare(host_of(url.url)), _bare(host_of(url.parent or url.url))}
        (pages, foreign), (sitemaps, others) = self._own(file.pages, hosts), self._own(file.sitemaps, hosts)
        best = self._best(list(pages.items()), self._most)
        inner = [href for href, _ in self._best(list(sitemaps.items()), self.per_host)]
        return Listing(
            self.page(url, best),
            tuple(best),
            tuple(self._offered(inner, url.parent or "", url, url.depth)) if inner else (),
            tuple(pages.items()),
            foreign + others,
            len(pages) - len(best),
        )

    def page(self, url: CrawlUrl, entries: Sequence[Entry]) -> Page:
        targets = [entry[0] for entry in entries]
        terms, spans = self._words(targets)
        links = [
            Link(target, "", Span(span.start, span.start), span) for target, span in zip(targets, spans, strict=True)
        ]
        return listing_page(self._judge, url, terms, links)

    def host(self, url: str, parent: str) -> str:
        return host_of(parent)

    def _offered(self, hrefs: Iterable[str], robots_txt: str, found: CrawlUrl, depth: int) -> Iterator[CrawlUrl]:
        host = host_of(robots_txt)
        for href in hrefs:
            target, named = canonical_or_none(self._canonicalize, href, robots_txt), self.named_by.get(host, ())
            if target and target not in named and len(named) < self.per_host:
                self.named_by.setdefault(host, set()).add(target)
                yield CrawlUrl(target, found.score, depth, robots_txt, kind=SITEMAP)

    def _own(self, entries: Iterable[SitemapEntry], hosts: set[str]) -> tuple[dict[str, str], int]:
        """Canonical URL -> lastmod, for the entries that the sitemap may list; and the number of the others."""
        found: dict[str, str] = {}
        foreign = 0
        for entry in entries:
            url = canonical_or_none(self._canonicalize, entry.url)
            if url and _bare(host_of(url)) in hosts:
                found.setdefault(url, entry.lastmod)
            else:
                foreign += 1
        return found, foreign

    def _best(self, entries: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
        if len(entries) <= most:
            return entries
        terms, spans = self._words([url for url, _ in entries])
        scores = self._judge.context_scores(terms, spans)
        days = sorted({day for _, day in entries}, key=lambda day: (moment(day), day), reverse=True)
        latest = {day: rank for rank, day in enumerate(days)}
        order = nsmallest(most, range(len(entries)), key=lambda n: (-scores[n], latest[entries[n][1]], n))
        return [entries[number] for number in order]

    def _words(self, urls: Sequence[str]) -> tuple[Sequence[str], list[Span]]:
        """The terms of the paths of all URLs, and the span of each URL in them."""
        pieces = [path_words(url) for url in urls]
        edges = list(accumulate(map(len, pieces), initial=0))
        terms, before = self._judge.analyzer.terms_between("".join(pieces), edges)
        return terms, [Span(before[start], before[end]) for start, end in pairwise(edges)]


def _bare(host: str) -> str:
    return host.removeprefix("www.")


class SitemapEntry(NamedTuple):
    """A URL and its last modification, both as written; the latter may be empty."""

    url: str
    lastmod: str = ""


class SitemapFile(NamedTuple):
    """The pages and the sitemaps that a file lists; usually one of them is empty."""

    pages: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[SitemapEntry, ...] = ()


def read_sitemap(body: bytes, *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> SitemapFile:
    """What ``body`` lists, ``max_entries`` at most. Works for any bytes; the result may be empty."""
    chunks = unpacked(body, max_bytes)
    first = next(chunks, b"")
    if b"<" in first[:1_000].replace(b"\0", b"")[:500]:
        entries = _SitemapEvents(max_entries)
        read_events(chained(first, chunks), entries)
        return SitemapFile(tuple(entries.pages), tuple(entries.sitemaps))
    return SitemapFile(pages=tuple(_from_text(b"".join(chained(first, chunks)), max_entries)))


def _from_text(body: bytes, limit: int) -> Iterator[SitemapEntry]:
    for line in body.decode("utf-8-sig", "replace").splitlines():
        url = line.strip()
        if url.startswith(("http://", "https://")) and len(url) <= MAX_LENGTH and limit > 0:
            limit -= 1
            yield SitemapEntry(url)


class _SitemapEvents(EntryEvents):
    """Receives the events of a sitemap; entries are recognised by the local names of elements, in any namespace."""

    names = ("url", "sitemap", "item", "entry")

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.pages: list[SitemapEntry] = []
        self.sitemaps: list[SitemapEntry] = []

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        if self.entry_depth and name == "link" and attributes.get("rel", "alternate") == "alternate":
            self.values.setdefault("link", attributes.get("href", ""))  # Atom; in a sitemap, a translation of the page

    def closed(self, name: str, text: str, depth: int) -> None:
        if depth == 1 and name in ("loc", "link"):
            self.values[name] = self.values.get(name) or text
        elif name in _DAYS:  # that of a news entry is one element deeper
            self.values.setdefault(name, text)

    def add(self, name: str) -> bool:
        url = self.values.get("loc") or self.values.get("link", "")
        if not url or len(url) > MAX_LENGTH:
            return False
        day = next((self.values[day] for day in _DAYS if day in self.values), "")
        (self.sitemaps if name == "sitemap" else self.pages).append(SitemapEntry(url, day[:40]))
        return True


class ListingLog:
    """The file of listings: lines ``{"sitemap", "at", "pages": [[URL, lastmod], ...]}`` in the order of the history; pages of a
    feed also have a title and a text.

    The file is created with the first line. ``keeps`` is False in rehearsals, which write nothing.
    """

    def __init__(self, folder: Path, history: History, *, keeps: bool) -> None:
        self._path = folder / NAME
        self._keeps = keeps
        self._log: AppendLog | None = None
        if keeps and self._path.exists():
            self._log = AppendLog(self._path)
            self._log.trim(lambda line: line["sitemap"] in history)
        self._lines = read_lines(self._path)
        self._next: dict[str, Sequence[Sequence[str]]] = {}

    def append(self, url: str, at: float, pages: Sequence[Sequence[str]]) -> None:
        """Write the pages of a listing; ``at`` is in seconds since the epoch. Raises ``StorageFailed``."""
        if not self._keeps:
            return
        if self._log is None:
            self._log = AppendLog(self._path)
        self._log.append({"sitemap": url, "at": at, "pages": pages})

    def stored(self, url: str) -> Sequence[Sequence[str]]:
        """The pages of a listing that was read before this run; none if its line is missing.

        To be called in the order of the history: lines that are skipped are kept in memory until they are asked for.
        """
        while url not in self._next:
            line = next(self._lines, None)
            if line is None:
                return ()
            self._next[line["sitemap"]] = line["pages"]
        return self._next.pop(url)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
