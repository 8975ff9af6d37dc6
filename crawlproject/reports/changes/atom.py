"""Changes as an Atom feed (RFC 4287). Ids are tag URIs (RFC 4151) of the host that a page is on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from crawlproject.pages.text.printable import printable
from crawlproject.records import BACK, CHANGED, GONE, MISSING, MOVED
from crawlproject.reports.changes.select import NEW
from crawlproject.reports.changes.text import facts, title_of
from crawlproject.storage.logs import RETIRED, PageChange
from crawlproject.storage.read import CrawlInfo
from crawlproject.urls.hosts import host_of
from crawlproject.urls.naming import page_name

_NAMESPACE = "http://www.w3.org/2005/Atom"
_NOT_XML = re.compile("[\ufffe\uffff]")  # besides what is not printable
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]+")
_WORDS = {
    NEW: "New",
    CHANGED: "Changed",
    MOVED: "Moved",
    GONE: "Gone",
    MISSING: "Missing",
    BACK: "Back",
    RETIRED: "Retired",
}


def atom_feed(changes: Iterable[PageChange], info: CrawlInfo) -> bytes:
    """The feed, its entries the latest first. A feed without changes is as old as the crawl."""
    latest_first = sorted(changes, key=lambda change: -change.at)
    began = info.started or 0.0
    feed = Element("feed", {"xmlns": _NAMESPACE})
    _add(feed, "id", _tag(host_of(info.seeds[0]) if info.seeds else "", began, f"crawl/{page_name(info.topic)}"))
    _add(feed, "title", f"{info.topic}: changes")
    _add(feed, "updated", _time(latest_first[0].at if latest_first else began))
    _add(SubElement(feed, "author"), "name", "topical-crawler")
    _add(feed, "generator", "topical-crawler")
    for change in latest_first:
        _entry(feed, change)
    return ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True) + b"\n"


def _entry(feed: Element, change: PageChange) -> None:
    entry = SubElement(feed, "entry")
    number = f"{page_name(change.url)}/{change.number}/{change.change}"
    _add(entry, "id", _tag(host_of(change.url), change.at, number))
    _add(entry, "title", f"{_WORDS.get(change.change, change.change)}: {title_of(change)}")
    _add(entry, "updated", _time(change.at))
    SubElement(entry, "link", rel="alternate", href=_text(change.target or change.url))
    SubElement(entry, "category", term=_text(change.change))
    _add(entry, "content", _html(change)).set("type", "html")


def _html(change: PageChange) -> str:
    """The difference as HTML. All text is that of strangers, so it is escaped here, and once more as XML."""
    parts = [f'<p><a href="{escape(change.url)}">{escape(change.url)}</a>']
    if change.target:
        parts.append(f' to <a href="{escape(change.target)}">{escape(change.target)}</a>')
    parts.append(f"<br>{escape(facts(change))}</p>")
    for element, passages in (("ins", change.added), ("del", change.removed)):
        parts += [f"<p><{element}>{escape(passage)}</{element}></p>" for passage in passages]
    return "".join(parts)


def _tag(host: str, at: float, name: str) -> str:
    authority = _NOT_IN_NAMES.sub("-", host.lower()).strip("-.") or "crawl.invalid"
    return f"tag:{authority},{datetime.fromtimestamp(at, UTC):%Y-%m-%d}:{name}"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _add(parent: Element, name: str, text: str) -> Element:
    element = SubElement(parent, name)
    element.text = _text(text)
    return element


def _text(text: str) -> str:
    return _NOT_XML.sub("", printable(text))
