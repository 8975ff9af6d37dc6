"""Base class of orderings that score a URL by the links seen so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from crawlproject.orderings.base import SEEDS_FIRST, BaseOrdering, OrderingContext
from crawlproject.records import CrawlUrl, Link, Page


class LinkBased(BaseOrdering):
    """The score of a URL is its ``worth``, whichever page links to it.

    Each new link is scored with the present worth of the URL, and the frontier keeps the higher of two scores. So a worth
    that only grows with links is always up to date; after a redirect, which moves the links of one URL to another, scores
    are revised. Seeds come first and keep their score, however few links lead to them.

    ``part`` names what is counted. ``seeds`` are the seeds of the topic and the pages they redirect to.
    """

    learns = True
    part: ClassVar[str]

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self.seeds = set(context.topic.seeds)
        self._targets: dict[str, None] = {}  # of redirects, since the last revision

    def worth(self, url: str) -> float:
        """The score of a URL from the links seen so far."""
        raise NotImplementedError

    def score(self, page: Page, link: Link) -> float:
        return self.worth(link.url)

    def seed_score(self, url: str) -> float:
        return SEEDS_FIRST

    def redirected(self, url: str, target: str) -> None:
        if url in self.seeds:
            self.seeds.add(target)
        self._targets[target] = None

    def revise(self) -> Iterable[tuple[str, float]]:
        targets, self._targets = self._targets, {}
        return [(url, self.worth(url)) for url in targets if url not in self.seeds]

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        return {} if url.parent is None else {self.part: url.score}
