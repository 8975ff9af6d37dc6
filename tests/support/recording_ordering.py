"""An ordering that records the events of a crawl."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import Link, Page


class RecordingOrdering(BaseOrdering):
    """Records pages, links, redirects, failures and refusals in ``events``, in order. Every link scores 0.5."""

    learns = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self.events: list[tuple[Any, ...]] = []

    def observe(self, page: Page) -> None:
        self.events.append(("page", page.url, page.depth, page.parent, page.relevance, page.inherited, page.counts))

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        return (*page.inherited, page.relevance)[-3:]

    def score(self, page: Page, link: Link) -> float:
        self.events.append(("link", page.url, link.url, link.anchor, link.context_score, *self.of_link(link)))
        return 0.5

    def of_link(self, link: Link) -> tuple[Any, ...]:
        """Additional facts to record of a link."""
        return (link.tag_path,)

    def redirected(self, url: str, target: str) -> None:
        self.events.append(("redirect", url, target))

    def failed(self, url: str) -> None:
        self.events.append(("failure", url))

    def refused(self, url: str) -> None:
        self.events.append(("refusal", url))

    def revise(self) -> Iterable[tuple[str, float]]:
        return ()
