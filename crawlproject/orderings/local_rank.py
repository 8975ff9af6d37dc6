"""Best-N-First by local rank, which paper 001 section 7 names as future work."""

from __future__ import annotations

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.best_first import BestNFirst
from crawlproject.orderings.pagerank import GrowingPageRank
from crawlproject.records import Link, Page


class LocalRank(BestNFirst):
    """The score of a link is ``rank_KW,PR`` of its page (001 section 4.2): first by keywords on the page, then by PageRank.

    The rank is local: PageRank is computed over the graph seen so far, and a waiting URL keeps the rank that its page had.
    The score is ``(k + r / (1 + r)) / (all keywords + 1)`` for a page with k of the keyword terms and the PageRank r. ``n``
    is that of ``best_n_first``; ranks are solved when the number of pages has grown by the share ``growth``.
    """

    learns = True
    needs_extra = "learn"

    def __init__(self, context: OrderingContext, *, n: int = 256, growth: float = 0.05) -> None:
        super().__init__(context, n=n)
        self.growth = growth
        self._keywords = frozenset(context.judge.analyzer.terms(" ".join(context.topic.keywords)))
        self._ranks: GrowingPageRank[str] = GrowingPageRank(growth=growth)

    def observe(self, page: Page) -> None:
        self._ranks.expand(page.url, [link.url for link in page.links])
        if self._ranks.due:
            self._ranks.solve()

    def redirected(self, url: str, target: str) -> None:
        self._ranks.merge(url, target)

    def score(self, page: Page, link: Link) -> float:
        rank = self._ranks.rank(page.url)
        found = sum(term in page.counts for term in self._keywords)
        return (found + rank / (1 + rank)) / (len(self._keywords) + 1)
