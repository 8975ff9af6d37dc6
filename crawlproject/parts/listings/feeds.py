"""Feeds as a source of links: feeds that pages name or link to are fetched like any URL, and read as a page of links.

The title of an entry is the anchor of its link; the context is the title, the summary and the words of the URL. Unlike a
sitemap, a feed may list pages of any host, as a page may.

Feeds are RSS 0.9 to 2.0 (https://www.rssboard.org/rss-specification), Atom (RFC 4287) and JSON Feed
(https://www.jsonfeed.org/version/1.1/), with or without gzip. XML is read by ``safe_xml``, within its limits. Links are
relative to the ``xml:base`` around them (RFC 4287 section 2), in RSS, too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple
from urllib.parse import urljoin

import orjson

from crawlproject.pages.html.head import FEED as NAMED
from crawlproject.pages.text.printable import printable
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.feed_text import mended
from crawlproject.parts.listings.listing import MAX_LENGTH, NO_LINKS, Entry, HubLinks, Listing, listing_page, path_words
from crawlproject.parts.listings.safe_xml import EntryEvents, read_events, unpacked
from crawlproject.records import FEED, QUERY, CrawlUrl, Link, Page, Span
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.file_extensions import FEED_EXTENSIONS
from crawlproject.urls.hosts import host_of
from crawlproject.urls.traps import extension_of

MAX_BYTES = 2_097_152  # of an unpacked feed, a fifth of a second; later entries are ignored
MAX_ENTRIES = 1_000  # of a feed that are read: most feeds have ten to fifty

_MAX_JOINS = 4 * MAX_ENTRIES  # of URLs with their bases
_MAX_TEXT = 1_000  # characters of an entry's title and summary together
_URLS = ("link", "guid", "id")  # the first one present is the URL
_DATES = ("updated", "modified", "pubdate", "published", "date", "issued")  # the first one present: the latest event
_TEXTS = ("title", "description", "summary", "content_text")
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_MARKUP = re.compile(r"<[^<>]*>")


class Feeds:
    """Reads feeds for one topic. ``per_host``: most feeds that are read of a host; ``most``: most links taken from a feed."""

    kind = FEED

    def __init__(self, canonicalize: Callable[..., str], judge: TopicJudge, *, per_host: int, most: int) -> None:
        self._canonicalize = canonicalize
        self._judge = judge
        self.per_host = per_host
        self._most = most
        self.named_by: dict[str, set[str]] = {}  # host -> its feeds

    def named(self, page: Page) -> Iterator[CrawlUrl]:
        """Yield the feeds that a page names or links to, unless they were named before. They get the score of the page.

        The feeds of a result page are left out: the page lists the results itself.
        """
        if not self.per_host or page.kind == QUERY:
            return
        linked = (link.url for link in page.links if extension_of(link.url) in FEED_EXTENSIONS)
        for url in chain((url for kind, url in page.related if kind == NAMED), linked):
            yield from self._offered(url, page.url, page.score, page.depth + 1)

    def listing(self, url: CrawlUrl, body: bytes) -> Listing:
        """What the feed at ``url`` lists: its first entries, which are the newest."""
        file = read_feed(body, url=url.url)
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

    def host(self, url: str, parent: str) -> str:
        return host_of(url)

    def _offered(self, url: str, parent: str, score: float, depth: int) -> Iterator[CrawlUrl]:
        named = self.named_by.setdefault(host_of(url), set())
        if url not in named and len(named) < self.per_host:
            named.add(url)
            yield CrawlUrl(url, score, depth, parent, kind=FEED)


class FeedEntry(NamedTuple):
    """An entry: URL and date as written (the date may be empty), title, and the text of title and summary."""

    url: str
    date: str = ""
    title: str = ""
    text: str = ""


class FeedFile(NamedTuple):
    """The entries of a feed, in order; the URL of the feed with older ones (RFC 5005; ``next_url`` in JSON Feed); its hubs."""

    entries: tuple[FeedEntry, ...] = ()
    next: str = ""
    links: HubLinks = NO_LINKS


def read_feed(body: bytes, *, url: str = "", max_entries: int = MAX_ENTRIES) -> FeedFile:
    """What the feed ``body`` at ``url`` lists. Works for any bytes; the result may be empty."""
    text = b"".join(unpacked(body, MAX_BYTES))
    if text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return _from_json(text, max_entries)
    events = _FeedEvents(max_entries, url)
    read_events([mended(text)], events)
    return FeedFile(tuple(events.entries), events.next, events.links)


def moment(date: str) -> float:
    """A date of a feed or sitemap in seconds since the epoch; 0 if it is not a date. Without a time zone it counts as UTC."""
    text = date.strip()
    try:
        if text[:4].isdigit() and len(text) >= 10:
            at = datetime.fromisoformat(text)
        else:
            at = parsedate_to_datetime(text)
        return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError, IndexError, TypeError):
        return 0.0


class _FeedEvents(EntryEvents):
    """Receives the events of an XML feed."""

    names = ("item", "entry")

    def __init__(self, limit: int, url: str) -> None:
        super().__init__(limit)
        self._url = url
        self._bases = [(0, "")]  # depth of the element, and resolved base, of each xml:base
        self._joins = _MAX_JOINS
        self.entries: list[FeedEntry] = []
        self.next = ""
        self.links = NO_LINKS

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        if self.depth > self.entry_depth + 1 > 1:
            return  # an element inside a child of the entry, such as its source
        while self._bases[-1][0] >= self.depth:
            self._bases.pop()
        if _BASE in attributes:
            base = self._joined(self._bases[-1][1] or self._url, attributes[_BASE])
            self._bases += [(self.depth, base)] if len(base) <= MAX_LENGTH else []
        if name == "link" and "href" in attributes:
            rel = attributes.get("rel", "alternate")
            href = self._joined(self._bases[-1][1], attributes["href"])
            if self.entry_depth and rel == "alternate":
                self.values.setdefault("link", href)
            elif not self.entry_depth and rel in ("next", "prev-archive") and len(href) <= MAX_LENGTH:
                self.next = href
            elif not self.entry_depth:
                self.links = self.links.with_link(rel, href.strip())
        if name == "guid" and attributes.get("isPermaLink", "true").lower() == "false":
            self.values["guid"] = ""

    def closed(self, name: str, text: str, depth: int) -> None:
        if depth == 1:
            self.values.setdefault(name, self._joined(self._bases[-1][1], text) if name == "link" else text)

    def _joined(self, base: str, href: str) -> str:
        if not base or not href or self._joins <= 0:
            return href
        self._joins -= 1
        try:
            return urljoin(base, href.strip())
        except ValueError:
            return href

    def add(self, name: str) -> bool:
        entry = _entry(self.values)
        if entry is not None:
            self.entries.append(entry)
        return entry is not None


def _entry(values: Mapping[str, Any]) -> FeedEntry | None:
    text_of = {name: value for name, value in values.items() if isinstance(value, str) and value}
    urls = [text_of[name] for name in _URLS if name in text_of]
    url = urls[0] if urls and (urls[0] == text_of.get("link") or urls[0].startswith(("http://", "https://"))) else ""
    if not url or len(url) > MAX_LENGTH:
        return None
    date = next((text_of[name] for name in _DATES if name in text_of), "")
    texts = [_plain(text_of.get(name, "")[: 4 * _MAX_TEXT]) for name in _TEXTS]
    return FeedEntry(url, printable(date[:40]), texts[0][:300], " ".join(filter(None, texts))[:_MAX_TEXT])


def _plain(text: str) -> str:
    """Text without the escaped markup that feeds put into it."""
    return printable(" ".join(html.unescape(_MARKUP.sub(" ", html.unescape(text))).split()))


def _from_json(body: bytes, limit: int) -> FeedFile:
    try:
        feed = orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return FeedFile()
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        return FeedFile()
    found = []
    for item in items[:limit]:
        if isinstance(item, dict):
            names = {
                "link": item.get("url"),
                "updated": item.get("date_modified"),
                "published": item.get("date_published"),
            }
            entry = _entry({**{name: item.get(name) for name in ("id", *_TEXTS)}, **names})
            if entry is not None:
                found.append(entry)
    older = feed.get("next_url")
    return FeedFile(tuple(found), older if isinstance(older, str) and len(older) <= MAX_LENGTH else "", _links(feed))


def _links(feed: Mapping[str, Any]) -> HubLinks:
    links = NO_LINKS
    hubs = feed.get("hubs")
    named = [hub.get("url") for hub in (hubs if isinstance(hubs, list) else ()) if isinstance(hub, dict)]
    for rel, url in (("self", feed.get("feed_url")), *(("hub", url) for url in named)):
        links = links.with_link(rel, url.strip()) if isinstance(url, str) else links
    return links
