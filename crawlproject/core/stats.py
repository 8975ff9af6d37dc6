"""The numbers of a running crawl, for the progress display, the metrics and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from crawlproject.core.connections import Connections
from crawlproject.core.parts import Parts
from crawlproject.frontier.base import Frontier
from crawlproject.pages.reader import Reader
from crawlproject.records import (
    FIRST,
    OVER_BUDGET,
    REDUNDANT,
    REPETITIVE,
    REREADS,
    REVISITS,
    UNINFORMATIVE,
    WASTE,
    CrawlUrl,
)
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.logs import NOFOLLOW

_LAST = {
    OVER_BUDGET: "sites over their budget",
    **dict.fromkeys((UNINFORMATIVE, REPETITIVE, REDUNDANT), "pages that say nothing new"),
    WASTE: "sites that waste time",
}
_LASTING = 30.0  # seconds without any other fetch: a better host would have ended its rest by then
_MOST = 100_000  # groups of waiting URLs that are examined when URLs are counted by class


class CrawlStats:
    """All are O(1) except ``best_waiting``, which may examine every host in memory, and ``waiting_by_class``.

    ``is_endless``: neither a budget nor saturation ends the crawl.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        frontier: Frontier,
        parts: Parts,
        reader: Reader,
        connections: Connections,
        max_pages: int = 0,
        *,
        is_endless: bool = False,
    ) -> None:
        self.is_endless = is_endless
        self._late = 0  # the class of the latest fetch, if a guard has put it behind all else
        self._late_since = self._taken_at = 0.0
        self.taken_last = ""
        self._doubting = parts.bound("is_doubted")
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
        """Fetches finished, over all resumes, visits to known pages included."""
        return self._folder.history.lines

    @property
    def errors(self) -> int:
        return self._folder.history.errors

    @property
    def refused(self) -> int:
        return self._folder.refusals.counts.total()

    @property
    def unfollowed(self) -> int:
        """Links on pages that ask for none of their links to be followed."""
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
    def all_that_is_left(self) -> str:
        """What is fetched, if for a while it was only what a guard has put behind all else; otherwise empty."""
        return _LAST[self._late] if self._late and self._taken_at - self._late_since >= _LASTING else ""

    def taken(self, url: CrawlUrl, now: float, is_postponed: Callable[[str], bool]) -> None:
        """A URL is fetched. ``is_postponed`` says whether the host of a URL is. A trial of a doubted URL counts as doubted."""
        late, self.taken_last = url.precedence, url.url
        if FIRST < late < OVER_BUDGET:
            if is_postponed(url.url):
                late = OVER_BUDGET
            elif any(is_doubted(url.url) for is_doubted in self._doubting):
                late = UNINFORMATIVE
        if late < OVER_BUDGET:
            self._late = 0
            return
        if not self._late:
            self._late_since = now
        self._late, self._taken_at = late, now

    def waiting_by_class(self, now: float, is_postponed: Callable[[str], bool]) -> dict[str, int]:
        """The number of waiting URLs by ``waiting/why`` (``reports/report.py`` explains the reasons).

        ``is_postponed`` says whether the host of a URL is. With very many hosts, only the first ones are examined; the URLs of
        the others count as ``waiting/not_counted``.
        """
        counts: Counter[str] = Counter()
        for url, number in islice(self._frontier.waiting_groups(now), _MOST):
            counts[f"waiting/{_why_waits(url, now, is_postponed)}"] += number
        if (rest := len(self._frontier) - counts.total()) > 0:
            counts["waiting/not_counted"] = rest
        return dict(counts)

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


def _why_waits(url: CrawlUrl, now: float, is_postponed: Callable[[str], bool]) -> str:
    if url.precedence in (REREADS, REVISITS):
        return "again"
    if UNINFORMATIVE <= url.precedence <= REDUNDANT:
        return "uninformative"
    if url.precedence >= OVER_BUDGET or (url.precedence > FIRST and is_postponed(url.url)):
        return "over_budget"
    return "held" if url.not_before > now else "in_turn"
