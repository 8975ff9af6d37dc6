"""PageRank as an ordering (paper 002 section 6, Figure 2), over the links seen so far."""

from __future__ import annotations

from collections.abc import Iterable

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.graph.pagerank import DAMPING, GrowingPageRank
from crawlproject.orderings.link_based import LinkBased
from crawlproject.records import Page
from crawlproject.urls.domains import domain_of


class PageRank(LinkBased):
    """``IR'(P) = (1 - damping) + damping * sum of IR'(T) / c`` over the fetched pages T that link to P, with c links each.

    ``damping`` is the paper's d, 0.9. The paper solves the equations after every page. Here they are solved when the number
    of fetched pages has grown by the share ``growth`` (0: after every page); in between, each fetched page passes its rank
    one step on (see ``GrowingPageRank``). Pages without links pass nothing on; the paper's rule for them, a link to every
    page, multiplies all ranks by one factor and does not change the order.

    Variants of paper 004 section 4.1: with ``links`` "external" only links between registrable domains count; with ``jumps``
    "seeds" the random jumps lead to the seeds, as the trusted pages (Cho and Schonfeld 2007), not to every page. Other
    values raise ``BadSetting``.
    """

    part = "pagerank"

    def __init__(
        self,
        context: OrderingContext,
        *,
        damping: float = DAMPING,
        growth: float = 0.05,
        links: str = "all",
        jumps: str = "all",
    ) -> None:
        super().__init__(context)
        for name, value, other in (("LINKS", links, "external"), ("JUMPS", jumps, "seeds")):
            if value not in ("all", other):
                raise BadSetting(f"setting ORDERING_{name}", f"expected all or {other}, not {value!r}")
        self.links = links
        self.jumps = jumps
        self.damping = damping
        self.growth = growth
        self._ranks: GrowingPageRank[str] = GrowingPageRank(damping, growth, jump=self._jump)
        self._failed: set[str] = set()
        self._changed: list[int] = []

    def worth(self, url: str) -> float:
        return self._ranks.rank(url)

    def observe(self, page: Page) -> None:
        targets = (link.url for link in page.links)
        if self.links == "external":
            own = domain_of(page.url)
            targets = (target for target in targets if domain_of(target) != own)
        self._ranks.expand(page.url, targets)
        if self._ranks.due:
            self._changed = self._ranks.solve()

    def _jump(self, url: str) -> float:
        return 1.0 if self.jumps == "all" or url in self.seeds else 0.0

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
