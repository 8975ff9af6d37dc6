"""The search box: brings the index of a crawl folder up to date and asks it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from crawlproject.errors import BadCrawlDir
from crawlproject.reports.html import clip, is_web

REFRESH = 5.0  # seconds for which an index counts as up to date


class SearchBox:
    """Searches crawl folders; for threads, since indexing takes a while and most of it leaves Python's lock free."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._one_at_a_time = Lock()
        self._updated: dict[Path, float] = {}

    def search(self, folder: Path, query: str, limit: int, offset: int) -> dict[str, Any]:
        """The hits of a page of results. A snippet is text with ``<b>`` marks, everything else in it escaped.

        Raises ``BadCrawlDir`` for a damaged folder, and ``StorageFailed``.
        """
        if not query.strip():
            return {"total": 0, "hits": []}
        from crawlproject.exporting.index import search

        self._bring_up_to_date(folder)
        found = search(folder, query, limit=limit, offset=offset)
        return {
            "total": found.total,
            "hits": [
                {"url": clip(hit.url, 500), "web": is_web(hit.url) and len(hit.url) <= 500, "title": clip(hit.title, 200),
                 "snippet": hit.snippet, "score": hit.score, "relevance": hit.relevance}
                for hit in found.hits
            ],
        }  # fmt: skip

    def _bring_up_to_date(self, folder: Path) -> None:
        from crawlproject.exporting.index import update

        with self._one_at_a_time:
            if self._clock() - self._updated.get(folder, float("-inf")) < REFRESH:
                return
            # Another process may be adding to it, and then what is there already can be searched; when it cannot, the
            # search says why.
            with suppress(BadCrawlDir):
                update(folder)
            self._updated[folder] = self._clock()
