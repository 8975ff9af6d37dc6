"""The numbers of a running crawl, for the progress display, the metrics and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawlproject.core.connections import Connections
from crawlproject.core.part import Parts
from crawlproject.frontier.base import Frontier
from crawlproject.pages.reader import Reader
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.logs import NOFOLLOW


class CrawlStats:
    """All are O(1) but ``best_waiting``, which is O(log n) on average."""

    def __init__(
        self,
        folder: CrawlFolder,
        frontier: Frontier,
        parts: Parts,
        reader: Reader,
        connections: Connections,
        max_pages: int = 0,
    ) -> None:
        self.max_pages = max_pages  # the budget; 0: none
        self._connections = connections
        self._folder = folder
        self._frontier = frontier
        self._reader = reader
        self._parts = parts

    @property
    def pages(self) -> int:
        """Pages stored, over all resumes."""
        return self._folder.history.pages

    @property
    def fetches(self) -> int:
        """Fetches finished, over all resumes."""
        return len(self._folder.history)

    @property
    def errors(self) -> int:
        return self._folder.history.errors

    @property
    def refused(self) -> int:
        return self._folder.refusals.counts.total()

    @property
    def unfollowed(self) -> int:
        """Links of pages that ask that none of theirs is followed."""
        return self._folder.refusals.counts[NOFOLLOW]

    @property
    def frontier_size(self) -> int:
        return len(self._frontier)

    @property
    def hosts_waiting(self) -> int:
        return self._frontier.hosts()

    @property
    def best_waiting(self) -> float | None:
        return self._frontier.best()

    @property
    def report_path(self) -> Path | None:
        return self._folder.path / "report.html"

    def recent_relevance(self) -> float:
        return self._folder.history.recent_relevance()

    def counters(self) -> dict[str, Any]:
        """Counters of the whole crawl, as ``component/event/reason``."""
        refused = {f"refused/{reason}": n for reason, n in self._folder.refusals.counts.items()}
        read = {f"reader/{event}": n for event, n in self._reader.counters.items()}
        return {
            "frontier/waiting": len(self._frontier),
            "frontier/hosts": self._frontier.hosts(),
            "frontier/leases": self._frontier.leases(),
            "frontier/evicted": self._frontier.evicted(),
            "history/pages": self.pages,
            "history/fetches": self.fetches,
            "history/errors": self.errors,
            **({"outages": self._connections.outages} if self._connections.outages else {}),
            **{name: n for part in self._parts for name, n in part.counters().items()},
            **refused,
            **read,
        }
