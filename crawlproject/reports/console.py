"""Consoles, tables and search results for terminals, without colours or frames in a pipe; and times and time spans in
readable form.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol, TextIO

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawlproject.errors import BadInput
from crawlproject.pages.text.printable import counted, printable

_PIPE_WIDTH = 10_000  # columns, so that lines do not wrap in a pipe
_MARKED = re.compile("<b>(.*?)</b>", re.DOTALL)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_NAMES = {"d": "day", "h": "hour", "m": "minute", "s": "second"}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


def console_for(stream: TextIO, pipe_width: int = _PIPE_WIDTH) -> Console:
    """Return a console on ``stream``; ``pipe_width`` is its width in columns if the stream is not a terminal."""
    terminal = stream.isatty()
    no_color = None if terminal else True  # None: NO_COLOR and TERM decide
    return Console(file=stream, width=None if terminal else pipe_width, highlight=False, no_color=no_color)


def framed_table(stream: TextIO) -> Table:
    """Return an empty table with bold headings, framed on a terminal."""
    frame = box.SIMPLE_HEAD if stream.isatty() else None
    return Table(box=frame, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO, right: Sequence[int] = ()
) -> None:
    """Print rows below ``headings``; the columns numbered in ``right`` are right-aligned. Without headings, no frame."""
    table = framed_table(stream)
    if not any(headings):
        table.box, table.show_header = None, False
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console_for(stream).print(table)


class ShownHit(Protocol):
    """The fields of a search result that are shown."""

    @property
    def url(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def snippet(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def relevance(self) -> float: ...
    @property
    def at(self) -> float: ...
    @property
    def published(self) -> str: ...


def print_hits(hits: Sequence[ShownHit], total: int, first: int, stream: TextIO) -> None:
    """Print the hits, numbered from ``first``, and the ``total``; matches are bold on a terminal."""
    console = console_for(stream)
    for number, hit in enumerate(hits, start=first):
        console.print(Text(f"{number}. {printable(hit.title) or '(no title)'}", style="bold"))
        console.print(Text(f"   {printable(hit.url)}", style="blue"), soft_wrap=True)
        console.print(Padding(_marked(hit.snippet), (0, 0, 0, 3), expand=False))
        console.print(Text(f"   {_facts(hit)}", style="dim"))
        console.print()
    shown = f"{first:,} to {first + len(hits) - 1:,} of " if hits else ""
    console.print(Text(f"{shown}{counted(total, 'page')}"))


def _facts(hit: ShownHit) -> str:
    fetched = datetime.fromtimestamp(hit.at, UTC).date()
    published = f", published {hit.published}" if hit.published else ""
    return f"score {hit.score:.2f}, relevance {hit.relevance:.3f}, fetched {fetched}{published}"


def _marked(snippet: str) -> Text:
    """Return the snippet without its markup, with matches in bold."""
    shown = Text()
    for number, part in enumerate(_MARKED.split(snippet)):
        shown.append(printable(html.unescape(part)), style="bold yellow" if number % 2 else "")
    return shown


def moment(at: float) -> str:
    """Return a time such as ``2026-03-02 14:05 UTC``."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def in_words(seconds: float) -> str:
    """Return a span in its largest unit, rounded: ``3 days``, ``2 hours``."""
    for unit, name in _NAMES.items():
        number = round(seconds / _UNITS[unit])
        if number > 1 or (number == 1 and seconds >= _UNITS[unit]) or unit == "s":
            return f"{number:,} {name}{'' if number == 1 else 's'}"
    raise AssertionError


def read_moment(text: str, now: float) -> float:
    """Return the time that ``text`` names in seconds since the epoch: a span before ``now`` (``7d``), or a date.

    A date without a time zone is in UTC. Raises ``BadInput``.
    """
    span = _SPAN.fullmatch(text.strip())
    try:
        if span:
            return datetime.fromtimestamp(now - float(span[1]) * _UNITS[span[2]], UTC).timestamp()
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):  # also a span that began before the year 1
        wish = "expected a date such as 2026-03-02 or 2026-03-02T14:00, or a span such as 12h, 7d, 2w"
        raise BadInput(f"time {text!r}", wish) from None
