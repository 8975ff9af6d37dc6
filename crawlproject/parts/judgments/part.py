"""Judgments of stored pages by a person: the ordering learns from them, at a resume or while the crawl runs.

No ordering can forget a page. So a new ordering learns from the history and the judgments, as in a resumed crawl, while the
old one stays in use. When the new one has caught up, it takes over, and waiting URLs get the scores that a resume would give.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from crawlproject.core.link_replay import LinkReplay
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.part import Part, Setup
from crawlproject.core.replay import read_events
from crawlproject.core.services import Handler, Services
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.parts.judgments.judgments import read_judgments
from crawlproject.records import FetchEvent


class Judgments(Part):
    """The part of a crawl of one topic whose ordering depends on judgments.

    Workers of a shared frontier do not have it: they have learned from other workers, whose pages are not stored here.
    """

    name = "judgments"
    _services: Services

    def __init__(self, setup: Setup) -> None:
        self.folder = setup.folder.path
        self._new_ordering = setup.new_ordering
        self._learning: Relearning | None = None

    @classmethod
    def make(cls, setup: Setup) -> Judgments | None:
        own = setup.new_ordering is not None and not setup.peers.has_server and not setup.rehearsal
        return cls(setup) if own and setup.options.ordering not in UNJUDGED else None

    @classmethod
    def judgments(cls, folder: Path) -> Mapping[str, bool]:
        return read_judgments(folder)

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {}

    def learn(self, event: FetchEvent) -> None:
        if self._learning is not None:
            self._learning.fresh.append(event)

    def learned(self) -> Any:
        """Nothing to store: the part keeps events only while a new ordering learns."""
        return ()

    def set_learned(self, learned: Any) -> None:
        return None

    @property
    def share(self) -> float | None:
        """The share of the history that the new ordering has learned, 0 to 1; None if there is no new ordering."""
        return self._learning.share if self._learning is not None else None

    def status(self) -> Mapping[str, Any]:
        return {"learns": True, "learning": self.share}

    def relearn(self) -> bool:
        """Begin to learn from the judgments in the crawl folder, and drop any unfinished learning. False if they are known.

        Raises ``BadCrawlDir``.
        """
        assert self._new_ordering is not None, "the part is not made without"
        judgments = read_judgments(self.folder)
        if judgments == self._services.feed.judgments:
            self._learning = None
        else:
            self._learning = Relearning(self._services, self._new_ordering(), judgments)
        return self._learning is not None

    def step(self) -> bool:
        """Learn from one fetch; after the last, replace the old ordering. Returns whether that is done."""
        if self._learning is None or self._learning.step():
            self._learning = None
        return self._learning is None


class Relearning:
    """Lets the new ``ordering`` learn what the crawl of ``services`` has learned, but with the ``judgments``.

    Pages fetched meanwhile are kept in memory until the ordering reaches them. Raises ``BadCrawlDir`` for a damaged folder.
    """

    def __init__(self, services: Services, ordering: BaseOrdering, judgments: Mapping[str, bool]) -> None:
        self._services = services
        self._feed = OrderingFeed(ordering, judgments, services.parts)
        self._links = LinkReplay(services, self._feed, rescores=True)
        self.fresh: deque[FetchEvent] = deque()  # fetches that have ended meanwhile
        history = services.folder.history
        self._events = len(history) + history.revisits
        self._done = 0
        stored = read_events(services, self._links.linked, float("inf"), services.steps.uncounted())
        self._stored = islice(stored, self._events)

    @property
    def share(self) -> float:
        """The share of the history that is learned, 0 to 1."""
        return self._done / max(1, self._events + len(self.fresh))

    def step(self) -> bool:
        """Learn from one fetch; after the last, replace the old ordering. Returns whether that is done."""
        event = next(self._stored, None) or self._next_fresh()
        if event is None:
            with self._services.frontier.batch():
                self._services.feed.replace(self._feed.ordering, self._feed.judgments)
                self._links.pass_on()
            return True
        self._done += 1
        if event.visit.number == 1:
            self._feed.learn(event)
            self._links.follow(event)
        return False

    def _next_fresh(self) -> FetchEvent | None:
        """The next fetch that has ended meanwhile; its page inherits what the new ordering hands down."""
        if not self.fresh:
            return None
        event = self.fresh.popleft()
        page = event.page()
        if page is None:
            return event
        own = self._links.linked.get(page.url, ()) if page.parent else ()
        page = replace(page, inherited=own)
        return replace(event, page=lambda: page)
