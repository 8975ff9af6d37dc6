"""Shark search (paper 000 section 3.2, eq. 2-5; Hersovici et al. 1998, reference [15], for the constants)."""

from __future__ import annotations

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import Link, Page


class SharkSearch(BaseOrdering):
    """``gamma * inherited + (1 - gamma) * neighborhood`` (eq. 2).

    ``inherited`` is ``delta * sim`` of the page when that is above 0, else ``delta`` times what the page itself inherited
    (eq. 3). ``neighborhood`` is ``beta * anchor + (1 - beta) * context`` (eq. 5), where the context counts as 1 as soon as the
    anchor matches (eq. 4); the augmented context is the text under the aggregation node. As in fish search, a path ends
    after ``depth`` pages in a row without any similarity. Defaults: gamma 0.5, delta 0.5, beta 0.8, depth 3. A seed inherits 0.
    """

    def __init__(
        self, context: OrderingContext, *, gamma: float = 0.5, delta: float = 0.5, beta: float = 0.8, depth: int = 3
    ) -> None:
        super().__init__(context)
        self.gamma = gamma
        self.delta = delta
        self.beta = beta
        self.depth = depth

    def score(self, page: Page, link: Link) -> float | None:
        inherited, depth_left = self.inherited_for_links(page)
        if depth_left <= 0:
            return None
        anchor = self.context.judge.span_score(page.terms, link.anchor_span)
        context = 1.0 if anchor > 0 else link.context_score
        neighborhood = self.beta * anchor + (1 - self.beta) * context
        return self.gamma * inherited + (1 - self.gamma) * neighborhood

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """What the children inherit: the score of eq. 3, and the depth left to them."""
        if page.relevance > 0:
            return self.delta * page.relevance, self.depth
        inherited, depth_left = page.inherited or (0.0, self.depth)
        return self.delta * inherited, depth_left - 1
