"""``sitemaps.jsonl``: one line per sitemap or feed that was read, with the last modification of each page.

It is used for later visits of the pages, and when a crawl resumes and its ordering learns the links again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crawlproject.storage.append_log import AppendLog, read_lines
from crawlproject.storage.crawl_files import SITEMAPS as NAME
from crawlproject.storage.history import History


class ListingLog:
    """Lines ``{"sitemap", "at", "pages": [[URL, lastmod], ...]}`` in the order of the history; pages of a feed also have a
    title and a text.

    The file is created with the first line. ``keeps`` is False in rehearsals, which write none.
    """

    def __init__(self, folder: Path, history: History, *, keeps: bool) -> None:
        self._path = folder / NAME
        self._keeps = keeps
        self._log: AppendLog | None = None
        if keeps and self._path.exists():
            self._log = AppendLog(self._path)
            self._log.trim(lambda line: line["sitemap"] in history)
        self._lines = read_lines(self._path)
        self._next: dict[str, Sequence[Sequence[str]]] = {}

    def append(self, url: str, at: float, pages: Sequence[Sequence[str]]) -> None:
        """Write the pages of a listing; ``at`` is in seconds since the epoch. Raises ``StorageFailed``."""
        if not self._keeps:
            return
        if self._log is None:
            self._log = AppendLog(self._path)
        self._log.append({"sitemap": url, "at": at, "pages": pages})

    def stored(self, url: str) -> Sequence[Sequence[str]]:
        """The pages of a listing that was read before this run; none when its line is gone.

        Asked in the order of the history: what is passed over is kept until it is asked for.
        """
        while url not in self._next:
            line = next(self._lines, None)
            if line is None:
                return ()
            self._next[line["sitemap"]] = line["pages"]
        return self._next.pop(url)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
