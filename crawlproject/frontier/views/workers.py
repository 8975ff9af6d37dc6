"""The frontiers of the workers of a crawl, viewed as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest

from crawlproject.frontier.base import UrlState
from crawlproject.frontier.views.view import Counts, FrontierView, best_waiting, order_of
from crawlproject.records import CrawlUrl


class WorkersView:
    """A ``FrontierView`` of ``views``, each with its own hosts."""

    kind = "redis"

    def __init__(self, views: Sequence[FrontierView]) -> None:
        self._views = views

    def counts(self) -> Counts:
        return Counts(*map(sum, zip(*(view.counts() for view in self._views), strict=True)))

    def waiting(self) -> Iterator[CrawlUrl]:
        for view in self._views:
            yield from view.waiting()

    def leased(self) -> Iterator[CrawlUrl]:
        for view in self._views:
            yield from view.leased()

    def best(self, n: int) -> list[CrawlUrl]:
        """As in ``RankedView``."""
        every = (record for view in self._views for record in best_waiting(view, n))
        return nsmallest(n, every, key=order_of)

    def find(self, url: str) -> tuple[UrlState, CrawlUrl | None]:
        found = [view.find(url) for view in self._views]
        return next(((state, record) for state, record in found if state), ("", None))

    def rests(self) -> Mapping[str, float]:
        return {host: until for view in self._views for host, until in view.rests().items()}

    def blocks(self) -> Mapping[str, float]:
        return {host: until for view in self._views for host, until in view.blocks().items()}

    def crawl_delays(self) -> Mapping[str, float]:
        return {host: seconds for view in self._views for host, seconds in view.crawl_delays().items()}
