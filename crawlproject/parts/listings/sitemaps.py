"""Sitemaps as a source of links: what robots.txt names is fetched like any URL, and read as a page that lists its links.

A sitemap has no text. Its page has the words of its URLs instead, so that a topic finds the links it cares about, and each link
has its own words as its context; it has no anchor. A sitemap may list the pages of the host whose robots.txt names it, and of
its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import accumulate, pairwise

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.listing import Entry, Listing, listing_page, path_words
from crawlproject.parts.listings.sitemap_xml import SitemapEntry, read_sitemap
from crawlproject.records import LISTINGS, SITEMAP, CrawlUrl, Link, Page, Span
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of, origin_of

ROBOTS_TXT = "/robots.txt"


class Sitemaps:
    """Reads sitemaps for one topic. ``per_host`` are the sitemaps that a host may name, ``most`` the links taken from each."""

    kind = SITEMAP

    def __init__(self, canonicalize: Callable[..., str], judge: TopicJudge, *, per_host: int, most: int) -> None:
        self.per_host = per_host
        self._canonicalize = canonicalize
        self._judge = judge
        self._most = most
        self._named: Counter[str] = Counter()

    def named(self, hrefs: Iterable[str], found: CrawlUrl) -> Iterator[CrawlUrl]:
        """The sitemaps that the robots.txt for ``found`` names. They are as good as the URL that led there."""
        if self.per_host and found.kind not in LISTINGS:
            yield from self._offered(hrefs, origin_of(found.url) + ROBOTS_TXT, found, found.depth + 1)

    def listing(self, url: CrawlUrl, body: bytes) -> Listing:
        """What the sitemap at ``url`` lists: the links whose words are nearest to the topic, then the latest changed."""
        file = read_sitemap(body)
        hosts = {_bare(host_of(url.url)), _bare(host_of(url.parent or url.url))}
        pages, sitemaps = self._own(file.pages, hosts), self._own(file.sitemaps, hosts)
        best = self._best(list(pages.items()), self._most)
        inner = [href for href, _ in self._best(list(sitemaps.items()), self.per_host)]
        return Listing(
            self.page(url, best),
            tuple(best),
            tuple(self._offered(inner, url.parent or "", url, url.depth)) if inner else (),
            tuple(pages.items()),
            len(file.pages) + len(file.sitemaps) - len(pages) - len(sitemaps),
            len(pages) - len(best),
        )

    def page(self, url: CrawlUrl, entries: Sequence[Entry]) -> Page:
        targets = [entry[0] for entry in entries]
        terms, spans = self._words(targets)
        links = [
            Link(target, "", Span(span.start, span.start), span) for target, span in zip(targets, spans, strict=True)
        ]
        return listing_page(self._judge, url, terms, links)

    def _offered(self, hrefs: Iterable[str], robots_txt: str, found: CrawlUrl, depth: int) -> Iterator[CrawlUrl]:
        host = host_of(robots_txt)
        for href in hrefs:
            target = canonical_or_none(self._canonicalize, href, robots_txt)
            if target and self._named[host] < self.per_host:
                self._named[host] += 1
                yield CrawlUrl(target, found.score, depth, robots_txt, kind=SITEMAP)

    def _own(self, entries: Iterable[SitemapEntry], hosts: set[str]) -> dict[str, str]:
        """Canonical URL -> lastmod, of those that the sitemap may list."""
        found: dict[str, str] = {}
        for entry in entries:
            url = canonical_or_none(self._canonicalize, entry.url)
            if url and _bare(host_of(url)) in hosts:
                found.setdefault(url, entry.lastmod)
        return found

    def _best(self, entries: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
        if len(entries) <= most:
            return entries
        terms, spans = self._words([url for url, _ in entries])
        scores = self._judge.context_scores(terms, spans)
        latest = {day: rank for rank, day in enumerate(sorted({day for _, day in entries}, reverse=True))}
        order = nsmallest(most, range(len(entries)), key=lambda n: (-scores[n], latest[entries[n][1]], n))
        return [entries[number] for number in order]

    def _words(self, urls: Sequence[str]) -> tuple[Sequence[str], list[Span]]:
        """The terms of the paths of all URLs, and which of them are whose."""
        pieces = [path_words(url) for url in urls]
        edges = list(accumulate(map(len, pieces), initial=0))
        terms, before = self._judge.analyzer.terms_between("".join(pieces), edges)
        return terms, [Span(before[start], before[end]) for start, end in pairwise(edges)]


def _bare(host: str) -> str:
    return host.removeprefix("www.")
