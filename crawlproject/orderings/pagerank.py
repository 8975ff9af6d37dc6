"""PageRank as an ordering (paper 002 section 6, Figure 2), over the links seen so far."""

from __future__ import annotations

from collections.abc import Iterable

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.graph.pagerank import DAMPING, GrowingPageRank
from crawlproject.orderings.link_based import LinkBased
from crawlproject.records import Page


class PageRank(LinkBased):
    """``IR'(P) = (1 - damping) + damping * sum of IR'(T) / c`` over the fetched pages T that link to P, with c links each.

    ``damping`` is the paper's d, 0.9. The paper solves the equations after every page. Here they are solved when the number
    of fetched pages has grown by the share ``growth`` (0: after every page); in between, each fetched page passes its rank
    one step on (see ``GrowingPageRank``). Pages without links pass nothing on; the paper's rule for them, a link to every
    page, multiplies all ranks by one factor and does not change the order.
    """

    part = "pagerank"

    def __init__(self, context: OrderingContext, *, damping: float = DAMPING, growth: float = 0.05) -> None:
        super().__init__(context)
        self.damping = damping
        self.growth = growth
        self._ranks: GrowingPageRank[str] = GrowingPageRank(damping, growth)
        self._failed: set[str] = set()
        self._changed: list[int] = []

    def worth(self, url: str) -> float:
        return self._ranks.rank(url)

    def observe(self, page: Page) -> None:
        self._ranks.expand(page.url, (link.url for link in page.links))
        if self._ranks.due:
            self._changed = self._ranks.solve()

    def redirected(self, url: str, target: str) -> None:
        super().redirected(url, target)
        self._ranks.merge(url, target)

    def failed(self, url: str) -> None:
        self._failed.add(url)

    def revise(self) -> Iterable[tuple[str, float]]:
        """After a solution: the ranks that changed, of URLs that were not fetched yet."""
        yield from super().revise()
        changed, self._changed = self._changed, []
        graph = self._ranks.graph
        for number in changed:
            url = graph.nodes[number]
            if not graph.is_expanded(number) and url not in self._failed and url not in self.seeds:
                yield url, self._ranks.rank_of(number)
