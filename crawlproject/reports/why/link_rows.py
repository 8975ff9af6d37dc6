"""Links as rows of a terminal: no URL is broken, so that each can be copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

_GAP = "  "


@dataclass(frozen=True, slots=True)
class LinkRows:
    """``rows``: what comes before a URL, all of one width; the URL; the words of the link, or nothing.

    The words stand beside the URLs where all rows fit into the terminal, otherwise each below its URL.
    """

    rows: Sequence[tuple[str, str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        widest = max((cell_len(url) for _, url, _ in self.rows), default=0)
        beside = [f"{lead}{_GAP}{url}{' ' * (widest - cell_len(url))}{_GAP}{words}" for lead, url, words in self.rows]
        if all(cell_len(line.rstrip()) <= console.width for line in beside):
            yield from (Text(line.rstrip()) for line in beside)
            return
        for lead, url, words in self.rows:
            yield Text(f"{lead}{_GAP}{url}")
            if words:
                yield Text(f"{' ' * len(lead)}{_GAP}{words}")
