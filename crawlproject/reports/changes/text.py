"""Changes to read on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from crawlproject.pages.text.printable import counted
from crawlproject.records import BACK, CHANGED, GONE, MISSING, MOVED
from crawlproject.reports.changes.select import KINDS, NEW, Changes
from crawlproject.reports.console import console_for
from crawlproject.reports.spans import moment
from crawlproject.settings import program
from crawlproject.storage.logs import RETIRED, PageChange

WIDEST = 80  # columns of a terminal that are used
PASSAGES = 4  # that are shown of what was added and of what was removed

_HEADINGS = {
    NEW: "New",
    CHANGED: "Changed",
    MOVED: "Moved",
    GONE: "Gone",
    MISSING: "Missing, to be confirmed by a second look",
    BACK: "Back",
    RETIRED: "Retired to make room (CRAWL_KEEP_PAGES)",
}


def print_changes(changes: Changes, name: str, since: float | None, stream: TextIO) -> None:
    """Print the changes of the crawl ``name`` by kind, the latest first. ``since`` is what was asked for."""
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
    """``reef: 3 changed, 1 new page since 2026-03-02 14:05 UTC``."""
    counts = [f"{len(changes.of(kind)):,} {kind}" for kind in KINDS if changes.of(kind)]
    span = f"since {moment(since)}" if since is not None else "since the first harvest"
    if counts:
        return f"{name}: {', '.join(counts)} {span}"
    if not changes.revisited and since is None:
        return f"{name}: no page was visited again yet; {program} revisit does a round"
    return f"{name}: nothing {span}"


def title_of(change: PageChange) -> str:
    """On one line."""
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
    """``seen 2026-03-02 14:05 UTC, relevance 0.41, version 3, 12% of the text``."""
    parts = [f"seen {moment(change.at)}", f"relevance {change.relevance:.2f}"]
    if change.change == CHANGED:
        parts += [f"version {change.version}", f"{change.novelty:.0%} of the text"]
    return ", ".join(parts)


def _shown(passages: Sequence[str]) -> Iterator[str]:
    yield from passages[:PASSAGES]
    if len(passages) > PASSAGES:
        yield f"... and {counted(len(passages) - PASSAGES, 'passage')} more"


def _hanging(mark: str, text: str, style: str, width: int) -> Text:
    """A marked passage whose further lines begin below its first word."""
    wrapped = Text(text, style=style).wrap(Console(width=width), max(width - 6, 20))
    shown = Text(f"{mark} ", style=style)
    for number, line in enumerate(wrapped):
        shown.append(("\n  " if number else "") + line.plain.rstrip())
    return shown
