"""Fish search (De Bra and Post 1994, reference [12] of paper 000; the algorithm as restated by Hersovici et al. 1998).

A school of fish thrives on relevant pages and weakens on others; after ``depth`` irrelevant pages in a row it dies.
"""

from __future__ import annotations

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import Link, Page


class FishSearch(BaseOrdering):
    """Potential scores 1, 0.5 or 0.

    The first ``factor * width`` links of a relevant page (relevance above ``threshold``) score 1, the first ``width`` links of
    another page 0.5, the rest 0. A link inherits the full ``depth`` from a relevant page, one less from another; at 0 it
    is not followed. Defaults: depth 3, width 5, factor 1.5 (the constant a > 1 of the algorithm), threshold 0.
    """

    def __init__(
        self, context: OrderingContext, *, depth: int = 3, width: int = 5, factor: float = 1.5, threshold: float = 0.0
    ) -> None:
        super().__init__(context)
        self.depth = depth
        self.width = width
        self.factor = factor
        self.threshold = threshold
        self._page = ""
        self._rank: dict[str, int] = {}

    def score(self, page: Page, link: Link) -> float | None:
        if self._depth_left(page) <= 0:
            return None
        if page.url != self._page:
            self.observe(page)
        rank = self._rank[link.url]
        if page.relevance > self.threshold:
            return 1.0 if rank < self.factor * self.width else 0.0
        return 0.5 if rank < self.width else 0.0

    def observe(self, page: Page) -> None:
        """Number the distinct links of the page in document order."""
        self._page = page.url
        self._rank = {}
        for link in page.links:
            self._rank.setdefault(link.url, len(self._rank))

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """The depth inherited by the links."""
        return (self._depth_left(page),)

    def _depth_left(self, page: Page) -> int:
        if page.relevance > self.threshold:
            return self.depth
        own = int(page.inherited[0]) if page.inherited else self.depth
        return own - 1
