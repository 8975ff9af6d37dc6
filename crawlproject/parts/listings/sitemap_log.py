"""``sitemaps.jsonl``: one line per sitemap or feed that was read, with the last modification of each page.

It is used for later visits of the pages, and when a crawl resumes and its ordering learns the links again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from crawlproject.storage.append_log import AppendLog, read_lines
from crawlproject.storage.history import History

NAME = "sitemaps.jsonl"


class SitemapLog:
    """Writes lines ``{"sitemap", "at", "pages": [[URL, lastmod], ...]}`` in the order of the history; pages of a
    feed also have a title and a text. The file is created
    with the first line."""

    def __init__(self, path: Path, history: History) -> None:
        self._path = path
        self._log: AppendLog | None = None
        if path.exists():
            self._log = AppendLog(path)
            self.trim(history)

    def append(self, url: str, at: float, pages: Sequence[Sequence[str]]) -> None:
        """Write the pages of a sitemap; ``at`` is in seconds since the epoch. Raises ``StorageFailed``."""
        if self._log is None:
            self._log = AppendLog(self._path)
        self._log.append({"sitemap": url, "at": at, "pages": pages})

    def trim(self, history: History) -> None:
        """Remove the last lines whose sitemap is not in the history."""
        if self._log is not None:
            self._log.trim(lambda line: line["sitemap"] in history)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()


def read_sitemap_lines(folder: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """The sitemaps and feeds of a crawl folder, in the order of the history, each with its pages."""
    for line in read_lines(folder / NAME):
        yield line["sitemap"], line["pages"]
