"""``links.jsonl``: one line per link of a fetched page."""

from __future__ import annotations

from pathlib import Path

import orjson

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
        lines = [
            orjson.dumps(
                {"source": page.url, "target": link.url, "anchor": link.anchor, "context_score": link.context_score},
                option=orjson.OPT_APPEND_NEWLINE,
            )
            for link in page.links
        ]
        if lines:
            self._log.append_lines(b"".join(lines))

    def trim(self, history: History) -> None:
        """Remove the last lines whose page is not in the history."""
        self._log.trim(lambda line: line["source"] in history)

    def close(self) -> None:
        self._log.close()
