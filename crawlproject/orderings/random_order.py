"""Random: every known URL is equally likely to be next. The lower bound of every comparison (paper 002 section 5)."""

from __future__ import annotations

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning.seeded_random import SeededDraw
from crawlproject.records import Link, Page


class RandomOrder(BaseOrdering):
    """A uniform score in [0, 1) that is a fixed function of the URL and the crawl's seed number."""

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._draw = SeededDraw(context.random)

    def score(self, page: Page, link: Link) -> float:
        return self._draw(link.url)

    def seed_score(self, url: str) -> float:
        return 1.0 + self._draw(url)
