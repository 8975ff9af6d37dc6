"""The DOM crawler (paper 003 section 4.4): page and aggregation-node context, weighed."""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import CrawlUrl, Link, Page


class Dom(BaseOrdering):
    """``alpha * page + (1 - alpha) * context``, both cosines with the keywords.

    ``alpha`` is 0.25 in the paper; 1 makes it naive best-first. The aggregation node is set for the whole crawl with
    ``ORDERING_AGGREGATION_LEVEL``.
    """

    def __init__(self, context: OrderingContext, *, alpha: float = 0.25) -> None:
        super().__init__(context)
        self.alpha = alpha

    def score(self, page: Page, link: Link) -> float:
        return self.alpha * page.relevance + (1 - self.alpha) * link.context_score

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        if url.parent is None:
            return {}
        context = (1 - self.alpha) * url.context_score
        return {"context": context, "page": url.score - context}
