"""A running crawl learns from judgments: a new ordering reads the history with them, and takes the place of the old one.

No ordering can forget a page. So the new one learns what a resumed crawl would, while the old one goes on; when it has caught
up, waiting URLs get the scores that a resume would give them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from crawlproject.core.crawl import Crawl
from crawlproject.core.link_replay import LinkReplay
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.replay import read_events
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.parts.judgments.judgments import read_judgments
from crawlproject.records import FetchEvent


def relearn(crawl: Crawl) -> Relearning | None:
    """Begin to learn from the judgments in the crawl folder; None when they are known. Raises ``BadCrawlDir``."""
    assert crawl.new_ordering is not None, "can_relearn was asked"
    judgments = read_judgments(crawl.folder.path)
    if judgments == crawl.ordering_feed.judgments:
        return None
    return Relearning(crawl, crawl.new_ordering(), judgments)


def can_relearn(crawl: Crawl) -> bool:
    """Whether judgments matter to its ordering, which is one topic's.

    Workers of a shared frontier learned from others, whose pages are not here.
    """
    own = crawl.new_ordering is not None and not isinstance(crawl.frontier, SharedFrontier)
    return own and crawl.options.ordering not in UNJUDGED


class Relearning:
    """``ordering`` is new, and learns from ``crawl`` with the ``judgments``; one at a time.

    Pages that are fetched meanwhile are kept in memory until it has come to them. Raises ``BadCrawlDir`` for a damaged folder.
    """

    def __init__(self, crawl: Crawl, ordering: BaseOrdering, judgments: Mapping[str, bool]) -> None:
        if crawl.relearning is not None:
            crawl.relearning.abandon()
        crawl.relearning = self
        self._crawl = crawl
        self._feed = OrderingFeed(ordering)
        self._feed.judgments = judgments
        self._links = LinkReplay(crawl, self._feed, rescores=True)
        self._fresh: deque[FetchEvent] = deque()
        history = crawl.folder.history
        self._events = len(history) + history.revisits
        self._done = 0
        stored = read_events(crawl, self._links.linked, float("inf"), crawl.steps.uncounted())
        self._stored = islice(stored, self._events)
        crawl.ordering_feed.told = self._fresh.append

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
            self._feed.apply(event)
            self._links.follow(event)
        return False

    def abandon(self) -> None:
        """Something else is to be learned, or nothing: the old ordering stays."""
        self._crawl.ordering_feed.told = None
        self._crawl.relearning = None

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
        self.abandon()
        with self._crawl.frontier.batch():
            self._crawl.ordering_feed.replace(self._feed.ordering, self._feed.judgments)
            self._links.pass_on()
