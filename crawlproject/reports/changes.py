"""Reports the pages of a crawl that are new, changed, moved or gone since some time, on a terminal and as an Atom feed.

The changes come from the history and the change log. The feed follows RFC 4287; its ids are tag URIs (RFC 4151) of the host
of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from crawlproject.configuration import program
from crawlproject.pages.text.printable import counted, printable
from crawlproject.records import BACK, CHANGED, GONE, MISSING, MOVED
from crawlproject.reports.console import console_for, moment
from crawlproject.storage.logs import RETIRED, PageChange, read_changes
from crawlproject.storage.read import CrawlInfo, read_visits
from crawlproject.urls.hosts import host_of, page_name

WIDEST = 80  # most columns of a terminal that are used
PASSAGES = 4  # most added, and most removed, passages that are shown
NEW = "new"  # the page was stored for the first time, after the first harvest
KINDS = (NEW, CHANGED, MOVED, GONE, MISSING, BACK, RETIRED)  # in the order in which they are shown

_HEADINGS = {
    NEW: "New",
    CHANGED: "Changed",
    MOVED: "Moved",
    GONE: "Gone",
    MISSING: "Missing, to be confirmed by a second look",
    BACK: "Back",
    RETIRED: "Retired to make room (CRAWL_KEEP_PAGES)",
}
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NOT_XML = re.compile("[\ufffe\uffff]")  # in addition to the characters that ``printable`` removes
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]+")


def print_changes(changes: Changes, name: str, since: float | None, stream: TextIO) -> None:
    """Print the changes of the crawl ``name`` by kind, the latest first. ``since`` is the requested time, if any."""
    console = console_for(stream)
    if stream.isatty():
        console.width = min(console.width, WIDEST)
    console.print(Text(headline(changes, name, since), style="bold"))
    for kind in KINDS:
        found = changes.of(kind)
        if found:
            console.print(Text(f"\n{_HEADINGS[kind]} ({len(found):,})", style="bold"))
        for change in found:
            _print(change, console)


def headline(changes: Changes, name: str, since: float | None) -> str:
    """Return ``reef: 1 new, 3 changed since 2026-03-02 14:05 UTC``, with the counts of stored pages that are not new."""
    counts = [f"{len(changes.of(kind)):,} {kind}" for kind in KINDS if changes.of(kind)]
    span = f"since {moment(since)}" if since is not None else "since the first harvest"
    if counts:
        others = [(changes.copies, "copies of other pages"), (changes.passing, "retired at once")]
        parts = [f"{number:,} {what}" for number, what in others if number]
        of_all = f" ({changes.stored:,} stored: {len(changes.of(NEW)):,} new, {', '.join(parts)})" if parts else ""
        return f"{name}: {', '.join(counts)} {span}{of_all}"
    if not changes.revisited and since is None:
        return f"{name}: no page was visited again yet; {program} revisit does a round"
    return f"{name}: nothing {span}"


def title_of(change: PageChange) -> str:
    """Return the title in one line, or else the URL."""
    return " ".join(change.title.split()) or change.url


def _indented(console: Console, text: Text, columns: int) -> None:
    console.print(Padding(text, (0, 0, 0, columns), expand=False))


def _print(change: PageChange, console: Console) -> None:
    title = Text(title_of(change), style="bold cyan" if change.title else "cyan")
    _indented(console, title, 2)
    lines = [Text(change.url, style="dim", overflow="fold")] if change.title.strip() else []
    if change.target:
        lines.append(Text(f"to {change.target}", overflow="fold"))
    for line in (*lines, Text(facts(change), style="dim")):
        _indented(console, line, 4)
    for mark, style, passages in (("+", "green", change.added), ("-", "red", change.removed)):
        for text in _shown(passages):
            _indented(console, _hanging(mark, text, style, console.width), 4)


def facts(change: PageChange) -> str:
    """Return ``seen 2026-03-02 14:05 UTC, relevance 0.41, version 3, 12% of the text``."""
    parts = [f"seen {moment(change.at)}", f"relevance {change.relevance:.2f}"]
    if change.change == CHANGED:
        parts += [f"version {change.version}", f"{change.novelty:.0%} of the text"]
    return ", ".join(parts)


def _shown(passages: Sequence[str]) -> Iterator[str]:
    yield from passages[:PASSAGES]
    if len(passages) > PASSAGES:
        yield f"... and {counted(len(passages) - PASSAGES, 'passage')} more"


def _hanging(mark: str, text: str, style: str, width: int) -> Text:
    """Return a passage with a mark and a hanging indent: further lines begin below its first word."""
    wrapped = Text(text, style=style).wrap(Console(width=width), max(width - 6, 20))
    shown = Text(f"{mark} ", style=style)
    for number, line in enumerate(wrapped):
        shown.append(("\n  " if number else "") + line.plain.rstrip())
    return shown


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes ``found``, in the order in which they were seen. ``revisited``: whether any page was ever revisited.

    The pages ``stored`` for the first time are new, ``copies`` of other pages, or ``passing``: retired at once, since other
    pages were better.
    """

    found: tuple[PageChange, ...]
    revisited: bool
    copies: int = 0
    passing: int = 0

    @property
    def stored(self) -> int:
        return len(self.of(NEW)) + self.copies + self.passing

    def of(self, kind: str) -> list[PageChange]:
        """Return the changes of one of ``KINDS``, the latest first."""
        return [change for change in reversed(self.found) if change.change == kind]


def select_changes(folder: Path, since: float | None = None, *, harvest: int = 0) -> Changes:
    """Return the changes seen at ``since`` (seconds since the epoch) or later; by default, since the first harvest.

    The first harvest ends with the first revisit, or with the last of its ``harvest`` pages (0: no limit). Copies of other
    pages, and pages retired in the same time, are not new. Raises ``BadCrawlDir``.
    """
    logged = _logged(folder, since or 0.0)
    titles = {change.url: "" for change in logged if not change.title}
    revisited = False
    pages = copies = 0
    found: list[PageChange] = []
    for visit in read_visits(folder):
        if visit.title and visit.url in titles:
            titles[visit.url] = visit.title
        revisited = revisited or visit.number > 1
        is_stored = visit.number == 1 and bool(visit.md5)
        pages += is_stored
        is_late = revisited or 0 < harvest < pages if since is None else visit.at >= since
        if is_stored and is_late and visit.is_left_out:
            copies += 1
        elif is_stored and is_late:
            found.append(PageChange(visit.url, NEW, visit.at, 0.0, 1, 1, title=visit.title, relevance=visit.relevance))
    # A new page that was retired at once has not become part of the collection.
    retired = {change.url for change in logged if change.change == RETIRED}
    passing = {change.url for change in found} & retired
    found = [change for change in found if change.url not in passing]
    logged = [change for change in logged if change.url not in passing]
    found += (change if change.title else replace(change, title=titles[change.url]) for change in logged)
    return Changes(tuple(sorted(found, key=lambda change: change.at)), revisited, copies, len(passing))


def _logged(folder: Path, since: float) -> list[PageChange]:
    """Return the last line of each visit since then: a killed crawl may have written a line twice."""
    last: dict[tuple[str, int, bool], PageChange] = {}
    for change in read_changes(folder):
        if change.at >= since:
            last[change.url, change.number, change.change == RETIRED] = change
    return list(last.values())


def atom_feed(changes: Iterable[PageChange], info: CrawlInfo) -> bytes:
    """Return the feed, the latest entry first. A feed without changes has the date of the start of the crawl."""
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
    kind = change.change.capitalize() if change.change in KINDS else change.change
    _add(entry, "id", _tag(host_of(change.url), change.at, number))
    _add(entry, "title", f"{kind}: {title_of(change)}")
    _add(entry, "updated", _time(change.at))
    SubElement(entry, "link", rel="alternate", href=_text(change.target or change.url))
    SubElement(entry, "category", term=_text(change.change))
    _add(entry, "content", _html(change)).set("type", "html")


def _html(change: PageChange) -> str:
    """Return the difference as HTML. All text is untrusted, so it is escaped here, and once more as XML."""
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
