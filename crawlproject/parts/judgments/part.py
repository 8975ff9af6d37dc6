"""What a person said of stored pages: the ordering learns from it, at a resume or while the crawl runs.

No ordering can forget a page. So a new one reads the history with the judgments, and learns what a resumed crawl would,
while the old one goes on; when it has caught up, waiting URLs get the scores that a resume would give them.
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
    """There where judgments matter to the ordering, which is one topic's.

    Workers of a shared frontier have learned from others, whose pages are not here.
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
        """Nothing: it only collects what comes while it learns anew."""
        return ()

    def set_learned(self, learned: Any) -> None:
        return None

    @property
    def share(self) -> float | None:
        """How much of the history is learned anew, 0 to 1; None while nothing is."""
        return self._learning.share if self._learning is not None else None

    def status(self) -> Mapping[str, Any]:
        return {"learns": True, "learning": self.share}

    def relearn(self) -> bool:
        """Begin to learn from the judgments in the crawl folder, in place of what is learned just now. False: they are known.

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
        """Learn from one fetch; at last take the place of the old ordering. Whether that is done."""
        if self._learning is None or self._learning.step():
            self._learning = None
        return self._learning is None


class Relearning:
    """``ordering`` is new, and learns what the crawl of ``services`` has learned, but with the ``judgments``.

    Pages that are fetched meanwhile are kept in memory until it has come to them. Raises ``BadCrawlDir`` for a damaged folder.
    """

    def __init__(self, services: Services, ordering: BaseOrdering, judgments: Mapping[str, bool]) -> None:
        self._services = services
        self._feed = OrderingFeed(ordering, judgments, services.parts)
        self._links = LinkReplay(services, self._feed, rescores=True)
        self.fresh: deque[FetchEvent] = deque()  # fetches that have ended since
        history = services.folder.history
        self._events = len(history) + history.revisits
        self._done = 0
        stored = read_events(services, self._links.linked, float("inf"), services.steps.uncounted())
        self._stored = islice(stored, self._events)

    @property
    def share(self) -> float:
        """How much of the history is learned, 0 to 1."""
        return self._done / max(1, self._events + len(self.fresh))

    def step(self) -> bool:
        """Learn from one fetch; at last take the place of the old ordering. Whether that is done."""
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
        """A fetch that has ended since, whose page has inherited what the new ordering hands down."""
        if not self.fresh:
            return None
        event = self.fresh.popleft()
        page = event.page()
        if page is None:
            return event
        own = self._links.linked.get(page.url, ()) if page.parent else ()
        page = replace(page, inherited=own)
        return replace(event, page=lambda: page)
