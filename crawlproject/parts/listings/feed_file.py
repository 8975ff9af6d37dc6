"""A feed taken apart: RSS 0.9 to 2.0 (https://www.rssboard.org/rss-specification), Atom (RFC 4287) and JSON Feed
(https://www.jsonfeed.org/version/1.1/), packed with gzip or not. Read as ``safe_xml`` reads."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import orjson

from crawlproject.pages.text.printable import printable
from crawlproject.parts.listings.hub_links import NO_LINKS, HubLinks
from crawlproject.parts.listings.safe_xml import EntryEvents, chained, read_events, unpacked

MAX_ENTRIES = 1_000  # of a feed that are looked at: most have ten to fifty
_MAX_LENGTH = 2_048  # characters of a URL
_MAX_TEXT = 1_000  # characters of an entry's title and summary together
_URLS = ("link", "guid", "id")  # the first that is one
_DATES = ("updated", "modified", "pubdate", "published", "date", "issued")  # the latest event first
_TEXTS = ("title", "description", "summary", "content_text")
_MARKUP = re.compile(r"<[^<>]*>")


class FeedEntry(NamedTuple):
    """A URL as written, its date as written (empty: none), its title, and the words of its title and summary."""

    url: str
    date: str = ""
    title: str = ""
    text: str = ""


class FeedFile(NamedTuple):
    """The entries of a feed in its order, the feed with older ones (RFC 5005; ``next_url`` of JSON Feed), or empty, and hubs."""

    entries: tuple[FeedEntry, ...] = ()
    next: str = ""
    links: HubLinks = NO_LINKS


def read_feed(body: bytes, *, max_entries: int = MAX_ENTRIES) -> FeedFile:
    """What ``body`` lists. Any bytes give an answer, if an empty one."""
    chunks = unpacked(body)
    first = next(chunks, b"")
    if first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return _from_json(b"".join(chained(first, chunks)), max_entries)
    events = _FeedEvents(max_entries)
    read_events(chained(first, chunks), events)
    return FeedFile(tuple(events.entries), events.next, events.links)


def moment(date: str) -> float:
    """A date of a feed or sitemap in seconds since the epoch; 0 when it is none. Without a zone it counts as UTC."""
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

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.entries: list[FeedEntry] = []
        self.next = ""
        self.links = NO_LINKS

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        if name == "link" and "href" in attributes:
            rel = attributes.get("rel", "alternate")
            if self.entry_depth and rel == "alternate":
                self.values.setdefault("link", attributes["href"])
            elif not self.entry_depth and rel in ("next", "prev-archive") and len(attributes["href"]) <= _MAX_LENGTH:
                self.next = attributes["href"]
            elif not self.entry_depth:
                self.links = self.links.with_link(rel, attributes["href"].strip())
        if name == "guid" and attributes.get("isPermaLink", "true").lower() == "false":
            self.values["guid"] = ""

    def closed(self, name: str, text: str, depth: int) -> None:
        if depth == 1:
            self.values.setdefault(name, text)

    def add(self, name: str) -> bool:
        entry = _entry(self.values)
        if entry is not None:
            self.entries.append(entry)
        return entry is not None


def _entry(values: Mapping[str, Any]) -> FeedEntry | None:
    text_of = {name: value for name, value in values.items() if isinstance(value, str) and value}
    urls = [text_of[name] for name in _URLS if name in text_of]
    url = urls[0] if urls and (urls[0] == text_of.get("link") or urls[0].startswith(("http://", "https://"))) else ""
    if not url or len(url) > _MAX_LENGTH:
        return None
    date = next((text_of[name] for name in _DATES if name in text_of), "")
    texts = [_plain(text_of.get(name, "")[: 4 * _MAX_TEXT]) for name in _TEXTS]
    return FeedEntry(url, printable(date[:40]), texts[0][:300], " ".join(filter(None, texts))[:_MAX_TEXT])


def _plain(text: str) -> str:
    """Text without the markup that feeds escape into it."""
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
    return FeedFile(tuple(found), older if isinstance(older, str) and len(older) <= _MAX_LENGTH else "", _links(feed))


def _links(feed: Mapping[str, Any]) -> HubLinks:
    links = NO_LINKS
    hubs = feed.get("hubs")
    named = [hub.get("url") for hub in (hubs if isinstance(hubs, list) else ()) if isinstance(hub, dict)]
    for rel, url in (("self", feed.get("feed_url")), *(("hub", url) for url in named)):
        links = links.with_link(rel, url.strip()) if isinstance(url, str) else links
    return links
