"""What a person said of stored pages: the ordering learns from it, at a resume or while the crawl runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawlproject.core.kinds.handler import Handler
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Services
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.parts.judgments.judgments import read_judgments
from crawlproject.parts.judgments.relearning import Relearning
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
            self._learning.fetched(event)

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
