"""Feeds as a source of links: what pages name as their feeds is fetched like any URL, and read as a page that lists its links.

The title of an entry is the anchor of its link; its context are its title, its summary and the words of its URL. Unlike a
sitemap, a feed may list pages of any host, as a page may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise

from crawlproject.pages.html.head import FEED as NAMED
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.feed_file import read_feed
from crawlproject.parts.listings.listing import Entry, Listing, listing_page, path_words
from crawlproject.records import FEED, CrawlUrl, Link, Page, Span
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.file_extensions import FEED_EXTENSIONS
from crawlproject.urls.hosts import host_of
from crawlproject.urls.traps import extension_of


class Feeds:
    """Reads feeds for one topic. ``per_host`` are the feeds of a host that are read, ``most`` the links taken from each."""

    kind = FEED

    def __init__(self, canonicalize: Callable[..., str], judge: TopicJudge, *, per_host: int, most: int) -> None:
        self._canonicalize = canonicalize
        self._judge = judge
        self._per_host = per_host
        self._most = most
        self._named: dict[str, set[str]] = {}  # by host

    def named(self, page: Page) -> Iterator[CrawlUrl]:
        """The feeds that a page names or links to, and that were not named before. They are as good as the page."""
        if not self._per_host:
            return
        linked = (link.url for link in page.links if extension_of(link.url) in FEED_EXTENSIONS)
        for url in chain((url for kind, url in page.related if kind == NAMED), linked):
            yield from self._offered(url, page.url, page.score, page.depth + 1)

    def listing(self, url: CrawlUrl, body: bytes) -> Listing:
        """What the feed at ``url`` lists: its first entries, which are the latest."""
        file = read_feed(body)
        entries: dict[str, Entry] = {}
        for entry in file.entries:
            target = canonical_or_none(self._canonicalize, entry.url, url.url)
            if target and target != url.url:
                entries.setdefault(target, (target, entry.date, entry.title, entry.text))
        kept = tuple(entries.values())[: self._most]
        older = canonical_or_none(self._canonicalize, file.next, url.url) if file.next else None
        further = tuple(self._offered(older, url.url, url.score, url.depth)) if older else ()
        return Listing(self.page(url, kept), kept, further, surplus=len(entries) - len(kept), links=file.links)

    def page(self, url: CrawlUrl, entries: Sequence[Entry]) -> Page:
        anchors = [entry[2] if len(entry) > 2 else "" for entry in entries]
        texts = [
            f"{entry[3] if len(entry) > 3 else anchor} {path_words(entry[0])}"
            for entry, anchor in zip(entries, anchors, strict=True)
        ]
        starts = list(accumulate(map(len, texts), initial=0))
        # A text begins with its title.
        ends = [start + len(anchor) for start, anchor in zip(starts, anchors, strict=False)]
        terms, before = self._judge.analyzer.terms_between("".join(texts), {*starts, *ends})
        links = [
            Link(entry[0], anchor, Span(before[start], before[anchor_end]), Span(before[start], before[end]))
            for entry, anchor, anchor_end, (start, end) in zip(entries, anchors, ends, pairwise(starts), strict=True)
        ]
        return listing_page(self._judge, url, terms, links)

    def _offered(self, url: str, parent: str, score: float, depth: int) -> Iterator[CrawlUrl]:
        named = self._named.setdefault(host_of(url), set())
        if url not in named and len(named) < self._per_host:
            named.add(url)
            yield CrawlUrl(url, score, depth, parent, kind=FEED)
