"""Prints search results on a terminal: title, URL and snippet of each page."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol, TextIO

from rich.padding import Padding
from rich.text import Text

from crawlproject.pages.text.printable import counted, printable
from crawlproject.reports.console import console_for

_MARKED = re.compile("<b>(.*?)</b>", re.DOTALL)


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
    """The snippet without its markup, with matches in bold."""
    shown = Text()
    for number, part in enumerate(_MARKED.split(snippet)):
        shown.append(printable(html.unescape(part)), style="bold yellow" if number % 2 else "")
    return shown
