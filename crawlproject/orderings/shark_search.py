"""Fish search and shark search: paths thrive on relevant pages and die after a few others.

Fish search (De Bra and Post 1994, reference [12] of paper 000) is implemented as restated by Hersovici et al. 1998: a school
of fish weakens on irrelevant pages. Shark search is that of paper 000 section 3.2, eq. 2-5, with the constants of Hersovici
et al. 1998, reference [15].
"""

from __future__ import annotations

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import Link, Page


class FishSearch(BaseOrdering):
    """Potential scores 1, 0.5 or 0.

    The first ``factor * width`` links (rounded up) of a relevant page, one with a relevance above ``threshold``, score 1;
    the first ``width`` links of any other page score 0.5; the rest score 0. A link inherits the full ``depth`` from a
    relevant page, and one less than its page inherited from any other. A page with depth 0 is fetched, but its links are
    followed only if it is relevant. Defaults: depth 3, width 5, factor 1.5 (the constant a > 1 of the algorithm), threshold
    0.
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
        if self._depth_left(page) < 0:
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
        self.implied(page)

    def implied(self, page: Page) -> None:
        """Number implied links after those of the page."""
        for link in page.links:
            self._rank.setdefault(link.url, len(self._rank))

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """The depth that the links inherit."""
        return (self._depth_left(page),)

    def _depth_left(self, page: Page) -> int:
        if page.relevance > self.threshold:
            return self.depth
        own = int(page.inherited[0]) if page.inherited else self.depth
        return own - 1


class SharkSearch(BaseOrdering):
    """``gamma * inherited + (1 - gamma) * neighborhood`` (eq. 2).

    ``inherited`` is ``delta * sim`` of the page when that is above 0, else ``delta`` times what the page itself inherited
    (eq. 3). ``neighborhood`` is ``beta * anchor + (1 - beta) * context`` (eq. 5), where ``context`` is 1 if the anchor
    matches at all (eq. 4); the augmented context is the text under the aggregation node. As in fish search, a path ends
    after ``depth + 1`` pages in a row without any similarity. Defaults: gamma 0.5, delta 0.5, beta 0.8, depth 3. A seed
    inherits 0.
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
        if depth_left < 0:
            return None
        anchor = self.context.judge.span_score(page.terms, link.anchor_span)
        context = 1.0 if anchor > 0 else link.context_score
        neighborhood = self.beta * anchor + (1 - self.beta) * context
        return self.gamma * inherited + (1 - self.gamma) * neighborhood

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """The values that the links inherit: the score of eq. 3, and the depth left."""
        if page.relevance > 0:
            return self.delta * page.relevance, self.depth
        inherited, depth_left = page.inherited or (0.0, self.depth)
        return self.delta * inherited, depth_left - 1
