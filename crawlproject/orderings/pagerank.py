"""PageRank as an ordering (paper 002 section 6, Figure 2), over the links seen so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import OrderingContext, PageArchive
from crawlproject.orderings.graph.archive_graph import archive_graph
from crawlproject.orderings.graph.pagerank import DAMPING, GrowingPageRank, flow
from crawlproject.orderings.graph.site_ranks import SiteRanks
from crawlproject.orderings.link_based import LinkBased
from crawlproject.records import Page
from crawlproject.urls.domains import domain_of

_CHOICES = {
    "links": ("all", "external"),
    "jumps": ("all", "seeds"),
    "ranks": ("crawl", "archive"),
    "first": ("page", "site"),
}


class PageRank(LinkBased):
    """``IR'(P) = (1 - damping) + damping * sum of IR'(T) / c`` over the fetched pages T that link to P, with c links each.

    ``damping`` is the paper's d, 0.9. The paper solves the equations after every page. Here they are solved when the number
    of fetched pages has grown by the share ``growth`` (0: after every page); in between, each fetched page passes its rank
    one step on (see ``GrowingPageRank``). Pages without links pass nothing on; the paper's rule for them, a link to every
    page, multiplies all ranks by one factor and does not change the order.

    Variants of paper 004 sections 4.1 and 4.3: with ``links`` "external" only links between registrable domains count; with
    ``jumps`` "seeds" the random jumps lead to the seeds, as the trusted pages (Cho and Schonfeld 2007), not to every page; with
    ``ranks`` "archive" a URL that the archive knows has its rank there, as in an earlier crawl; with ``first`` "site" a
    URL that was found after the last solution has, in place of the random jumps to it, those to its site: ``1 - damping``
    times the site's own PageRank, of mean 1. Other values, and no archive where one is needed, raise ``BadSetting``.
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
        ranks: str = "crawl",
        first: str = "page",
    ) -> None:
        super().__init__(context)
        for (name, allowed), value in zip(_CHOICES.items(), (links, jumps, ranks, first), strict=True):
            if value not in allowed:
                raise BadSetting(f"setting ORDERING_{name.upper()}", f"expected {' or '.join(allowed)}, not {value!r}")
        self.links = links
        self.jumps = jumps
        self.ranks = ranks
        self.first = first
        self.damping = damping
        self.growth = growth
        self._ranks: GrowingPageRank[str] = GrowingPageRank(damping, growth, jump=self._jump)
        self._sites = SiteRanks(damping) if first == "site" else None
        self._solved = 0  # nodes of the graph at the last solution
        self._earlier = self._ranks_in(context.archive) if ranks == "archive" else {}
        self._failed: set[str] = set()
        self._changed: Iterable[int] = ()

    def worth(self, url: str) -> float:
        if (earlier := self._earlier.get(url)) is not None:
            return earlier
        rank = self._ranks.rank(url)
        number = self._ranks.graph.find(url)
        if self._sites is None or (number is not None and number < self._solved):
            return rank
        return rank + (1 - self.damping) * (self._sites.of(url) - self._jump(url))

    def observe(self, page: Page) -> None:
        targets = [link.url for link in page.links]
        self._ranks.expand(page.url, self._counted(page.url, targets))
        if self._sites is not None:
            self._sites.add_page(page.url, targets)
        if self._ranks.due:
            self._solve()

    def redirected(self, url: str, target: str) -> None:
        super().redirected(url, target)
        self._ranks.merge(url, target)

    def failed(self, url: str) -> None:
        self._failed.add(url)

    def revise(self) -> Iterable[tuple[str, float]]:
        """After a solution: the ranks that changed, of URLs that were not fetched yet."""
        yield from super().revise()
        changed, self._changed = self._changed, ()
        graph = self._ranks.graph
        for number in changed:
            url = graph.nodes[number]
            if not graph.is_expanded(number) and url not in self._failed and url not in self.seeds:
                yield url, self.worth(url)

    def _solve(self) -> None:
        self._changed = self._ranks.solve()
        if self._sites is not None:
            self._sites.solve()
            first_estimates = range(self._solved, len(self._ranks.graph))
            self._changed = sorted({*self._changed, *first_estimates})
            self._solved = len(self._ranks.graph)

    def _counted(self, url: str, targets: Sequence[str]) -> Iterable[str]:
        """The links of a page that count."""
        if self.links == "all":
            return targets
        own = domain_of(url)
        return [target for target in targets if domain_of(target) != own]

    def _jump(self, url: str) -> float:
        return 1.0 if self.jumps == "all" or url in self.seeds else 0.0

    def _ranks_in(self, archive: PageArchive | None) -> dict[str, float]:
        """The rank of each URL in the archive."""
        if archive is None:
            raise BadSetting(
                "setting ORDERING_RANKS", "archive: expected ORDERING_ARCHIVE, the folder of an earlier crawl"
            )
        graph = archive_graph(archive, self._counted)
        found = flow(graph.matrix(), damping=self.damping, jumps=[self._jump(url) for url in graph.nodes]).tolist()
        return {url: found[number] for url in graph.names if (number := graph.find(url)) is not None}
