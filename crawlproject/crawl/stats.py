"""How a crawl goes, in figures: what the progress display, the metrics and the report ask of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawlproject.frontier.base import Frontier
from crawlproject.inspection.probes.probes import Probes
from crawlproject.inspection.sites.tracker import SiteTracker
from crawlproject.pages.reader import Reader
from crawlproject.storage.crawl_folder import CrawlFolder


class CrawlStats:
    """The figures of a crawl with these parts. All are O(1) but ``best_waiting``, which is O(log n) on average."""

    folder: CrawlFolder
    frontier: Frontier
    reader: Reader
    conduct: SiteTracker
    probes: Probes

    @property
    def pages(self) -> int:
        """Pages stored, over all resumes."""
        return self.folder.history.pages

    @property
    def fetches(self) -> int:
        """Fetches finished, over all resumes."""
        return len(self.folder.history)

    @property
    def errors(self) -> int:
        return self.folder.history.errors

    @property
    def refused(self) -> int:
        return self.folder.refusals.counts.total()

    @property
    def frontier_size(self) -> int:
        return len(self.frontier)

    @property
    def hosts_waiting(self) -> int:
        return self.frontier.hosts()

    @property
    def best_waiting(self) -> float | None:
        return self.frontier.best()

    @property
    def report_path(self) -> Path | None:
        return self.folder.path / "report.html"

    def recent_relevance(self) -> float:
        return self.folder.history.recent_relevance()

    def stats(self) -> dict[str, Any]:
        """Counters of the whole crawl, as ``component/event/reason``."""
        refused = {f"refused/{reason}": n for reason, n in self.folder.refusals.counts.items()}
        read = {f"reader/{event}": n for event, n in self.reader.counters.items()}
        return {
            "frontier/waiting": len(self.frontier),
            "frontier/hosts": self.frontier.hosts(),
            "frontier/leases": self.frontier.leases(),
            "frontier/evicted": self.frontier.evicted(),
            "history/pages": self.pages,
            "history/fetches": self.fetches,
            "history/errors": self.errors,
            **self.conduct.stats(),
            **self.probes.stats(),
            **refused,
            **read,
        }
