"""PageRank (paper 002 section 2) of a finished graph and of a graph that grows during a crawl, and the ordering by it.

The ordering is that of paper 002 section 6, Figure 2, over the links seen so far. The PageRank of its site is a first
estimate for a page of which nothing else is known (paper 004 section 4.3).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import OrderingContext, PageArchive
from crawlproject.orderings.link_based import LinkBased
from crawlproject.orderings.link_graph import LinkGraph, Node, adjacency, archive_graph
from crawlproject.records import Page
from crawlproject.urls.hosts import domain_of

_CHOICES = {
    "links": ("all", "external"),
    "jumps": ("all", "seeds"),
    "ranks": ("crawl", "archive"),
    "first": ("page", "site"),
}

Ranks = npt.NDArray[np.float64]
DAMPING = 0.9  # paper 002 section 6, for IR(P) and IR'(P)


class PageRank(LinkBased):
    """``IR'(P) = (1 - damping) + damping * sum of IR'(T) / c`` over the fetched pages T that link to P, with c links each.

    ``damping`` is the paper's d, 0.9. The paper solves the equations after every page. Here they are solved when the number
    of fetched pages has grown by the share ``growth`` (0: after every page); until then, each fetched page passes its rank
    only to the pages it links to (see ``GrowingPageRank``). Pages without links pass nothing on; the paper's rule for them,
    a link to every page, multiplies all ranks by one factor and does not change the order.

    Variants of paper 004 sections 4.1 and 4.3: with ``links`` "external" only links between registrable domains count; with
    ``jumps`` "seeds" random jumps lead to the seeds as trusted pages (Cho and Schonfeld 2007), not to every page; with
    ``ranks`` "archive" a URL of the archive has its rank there, that of an earlier crawl; with ``first`` "site" a URL found
    after the last solution gets the random jumps to its site in place of those to itself: ``1 - damping`` times the
    PageRank of the site, whose mean over sites is 1. Raises ``BadSetting`` for other values and for a missing archive.
    """

    part = "pagerank"
    needs_extra = "learn"

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
        """The new ranks of waiting URLs, after a solution changed them."""
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


def pagerank(
    links: Any, *, damping: float = DAMPING, jumps: npt.ArrayLike | None = None, tolerance: float = 1e-6
) -> Ranks:
    """``IR(P)`` of each node, a vector of length n with the mean 1; a page without links links to every page.

    ``links`` is a sparse matrix of shape (n, n), as returned by ``LinkGraph.matrix``. ``jumps`` and ``tolerance`` are those
    of ``flow``.

    Pages without links spread their rank as random jumps do, which multiplies the solution of ``flow`` by a constant.
    The constant follows from the mean, which stays 1 because no rank is lost.
    """
    ranks = flow(links, damping=damping, jumps=jumps, tolerance=tolerance)
    return ranks / ranks.mean() if len(ranks) else ranks


def flow(
    links: Any,
    *,
    damping: float = DAMPING,
    jumps: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
) -> Ranks:
    """The solution of ``x(u) = (1 - d) j(u) + d * sum of x(v) / c(v)`` over the links v -> u: Figure 2 of paper 002.

    ``jumps`` is ``j``: how often a random jump leads to each page (default: 1 for all, as in the figure). ``c(v)`` is the
    number of links of v. A page without links passes nothing on. The order of the pages is that of ``pagerank``. Expanding
    a page never lowers a value, so a crawl in progress needs no scaling.

    Iterates from ``start`` (default: 1 for all pages) until the sum of all changes is at most ``tolerance`` of the sum of all
    values, or ``max_iterations`` times. Only pages with links take part in the iteration; the values of the others, nearly
    all of the frontier, are computed once from the result.
    """
    from scipy.sparse import diags_array

    nodes = links.shape[0]
    degrees = links.sum(axis=1)
    linking = np.flatnonzero(degrees)
    jumped = (1 - damping) * (np.ones(nodes) if jumps is None else np.asarray(jumps, np.float64))
    if not len(linking):
        return jumped
    received = (diags_array(damping / degrees[linking]) @ links[linking]).T.tocsr()
    among = received[linking]
    ranks = np.ones(len(linking)) if start is None else np.asarray(start, np.float64)[linking]
    for _ in range(max_iterations):
        before, ranks = ranks, among @ ranks + jumped[linking]
        if np.abs(ranks - before).sum() <= tolerance * ranks.sum():
            break
    return received @ ranks + jumped


class GrowingPageRank(Generic[Node]):
    """``IR'(P)`` over the links seen so far: solved at intervals, and estimated until the next solution.

    A fetched page immediately passes ``damping / c`` of its rank to each page it links to, so that new URLs and links count
    at once. Its effect on pages further away waits for the next solution of ``flow``, due when the number of fetched pages
    has grown by the share ``growth``; 0 solves after every page, as in paper 002. All solutions of a crawl together cost
    about ``1 / growth`` times the last one; each starts from the previous one.

    ``jump(node)`` is how often a random jump leads to a node (default: 1 for each).
    """

    def __init__(
        self,
        damping: float = DAMPING,
        growth: float = 0.05,
        tolerance: float = 1e-4,
        jump: Callable[[Node], float] = lambda node: 1.0,
    ) -> None:
        self.damping = damping
        self.growth = growth
        self.tolerance = tolerance
        self.graph: LinkGraph[Node] = LinkGraph()
        self._jump = jump
        self._jumps = array("d")
        self._ranks = array("d")
        self._due_at = 1.0

    @property
    def due(self) -> bool:
        """Whether the graph has grown enough for ``solve``."""
        return self.graph.expanded >= self._due_at

    def rank(self, node: Node) -> float:
        """The rank of a node; for an unknown node, the rank of a page without backlinks."""
        number = self.graph.find(node)
        if number is None or number >= len(self._ranks):
            return (1 - self.damping) * self._jump(node)
        return self._ranks[number]

    def expand(self, node: Node, targets: Iterable[Node]) -> Sequence[int]:
        """Add a fetched page; return the ids of its distinct targets, whose ranks have risen."""
        found = self.graph.add_page(node, targets)
        self._grow()
        if found:
            share = self.damping * self._ranks[self.graph.id_of(node)] / len(found)
            for target in found:
                self._ranks[target] += share
        return found

    def merge(self, node: Node, into: Node) -> int:
        """Record that ``node`` redirects to ``into``, which takes over its links; return their common id."""
        old = self.graph.id_of(node)
        new = self.graph.merge(node, into)
        self._grow()
        if new != old:
            jumps = self._jumps
            trust = max(jumps[old], jumps[new])
            self._ranks[new] += self._ranks[old] + (1 - self.damping) * (trust - jumps[old] - jumps[new])
            jumps[old], jumps[new] = 0.0, trust
            self._ranks[old] = 0.0
        return new

    def solve(self) -> list[int]:
        """Update all ranks; return the ids whose rank changed by more than the share ``tolerance``."""
        before = np.array(self._ranks)
        after = flow(
            self.graph.matrix(), damping=self.damping, jumps=self._jumps, start=before, tolerance=self.tolerance
        )
        self._ranks = array("d", after.tobytes())
        self._due_at = self.graph.expanded * (1 + self.growth) + 1e-9
        changed: list[int] = np.flatnonzero(np.abs(after - before) > self.tolerance * before).tolist()
        return changed

    def _grow(self) -> None:
        for node in self.graph.nodes[len(self._ranks) :]:
            self._jumps.append(self._jump(node))
            self._ranks.append((1 - self.damping) * self._jumps[-1])


class SiteRanks:
    """PageRank of registrable domains, with the mean 1; a domain links to another if any of its pages does.

    Memory: a set entry for each pair of linked domains.
    """

    def __init__(self, damping: float = DAMPING) -> None:
        self._damping = damping
        self._ids: dict[str, int] = {}
        self._links: set[tuple[int, int]] = set()
        self._ranks = np.ones(0)

    def add_page(self, url: str, targets: Iterable[str]) -> None:
        """Add the links of a fetched page; the next ``solve`` counts them."""
        own = self._id_of(url)
        self._links.update((own, target) for target in map(self._id_of, targets) if target != own)

    def solve(self) -> None:
        """Compute the ranks of all sites seen so far."""
        sources, targets = zip(*sorted(self._links), strict=True) if self._links else ((), ())
        self._ranks = pagerank(adjacency(sources, targets, len(self._ids)), damping=self._damping)

    def of(self, url: str) -> float:
        """The rank of the site of ``url`` at the last solution; 1 for a site that was not known then."""
        number = self._ids.get(domain_of(url), len(self._ranks))
        return float(self._ranks[number]) if number < len(self._ranks) else 1.0

    def _id_of(self, url: str) -> int:
        return self._ids.setdefault(domain_of(url), len(self._ids))
