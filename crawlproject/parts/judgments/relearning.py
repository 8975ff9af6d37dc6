"""A running crawl learns from judgments: a new ordering reads the history with them, and takes the place of the old one.

No ordering can forget a page. So the new one learns what a resumed crawl would, while the old one goes on; when it has caught
up, waiting URLs get the scores that a resume would give them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from crawlproject.core.link_replay import LinkReplay
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.replay import read_events
from crawlproject.core.services import Services
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import FetchEvent


class Relearning:
    """``ordering`` is new, and learns what the crawl of ``services`` has learned, but with the ``judgments``.

    Pages that are fetched meanwhile are kept in memory until it has come to them. Raises ``BadCrawlDir`` for a damaged folder.
    """

    def __init__(self, services: Services, ordering: BaseOrdering, judgments: Mapping[str, bool]) -> None:
        self._services = services
        self._feed = OrderingFeed(ordering, judgments)
        self._links = LinkReplay(services, self._feed, rescores=True)
        self._fresh: deque[FetchEvent] = deque()
        history = services.folder.history
        self._events = len(history) + history.revisits
        self._done = 0
        stored = read_events(services, self._links.linked, float("inf"), services.steps.uncounted())
        self._stored = islice(stored, self._events)

    def fetched(self, event: FetchEvent) -> None:
        """A fetch has ended since."""
        self._fresh.append(event)

    @property
    def share(self) -> float:
        """How much of the history is learned, 0 to 1."""
        return self._done / max(1, self._events + len(self._fresh))

    def step(self) -> bool:
        """Learn from one fetch; at last take the place of the old ordering. Whether that is done."""
        event = next(self._stored, None) or self._next_fresh()
        if event is None:
            self._take_over()
            return True
        self._done += 1
        if event.visit.number == 1:
            self._feed.learn(event)
            self._links.follow(event)
        return False

    def _next_fresh(self) -> FetchEvent | None:
        """A fetch that has ended since, whose page has inherited what the new ordering hands down."""
        if not self._fresh:
            return None
        event = self._fresh.popleft()
        page = event.page()
        if page is None:
            return event
        own = self._links.linked.get(page.url, ()) if page.parent else ()
        page = replace(page, inherited=own)
        return replace(event, page=lambda: page)

    def _take_over(self) -> None:
        with self._services.frontier.batch():
            self._services.feed.replace(self._feed.ordering, self._feed.judgments)
            self._links.pass_on()
