"""``links.jsonl``: one line per link of a fetched page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from crawlproject.records import Page
from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.history import History


class LinkLog:
    """Writes lines ``{"source", "target", "anchor", "context_score"}``, in page order and link order."""

    def __init__(self, path: Path, history: History) -> None:
        self._log = AppendLog(path)
        self.trim(history)

    def append(self, page: Page) -> None:
        """Write the links of a page, all or none. Raises ``StorageFailed``."""
        self._log.append(*link_lines(page))

    def trim(self, history: History) -> None:
        """Remove the last lines whose page is not in the history."""
        self._log.trim(lambda line: history.has_line(line["source"]))

    def count(self) -> int:
        """The number of lines."""
        return self._log.count()

    def replace_all(self, steps: Iterable[Sequence[dict[str, Any]]]) -> None:
        """Replace all lines. Raises ``StorageFailed``; then the file is as before."""
        self._log.replace_all(steps)

    def close(self) -> None:
        self._log.close()


def link_lines(page: Page) -> list[dict[str, Any]]:
    """The lines of a page, one for each link."""
    return [
        {"source": page.url, "target": link.url, "anchor": link.anchor, "context_score": link.context_score}
        for link in page.links
    ]
