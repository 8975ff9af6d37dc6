"""PageRank (paper 002 section 2) of a finished graph, and of a graph that grows while it is crawled."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.graph.linkgraph import LinkGraph, Node

Ranks = npt.NDArray[np.float64]

DAMPING = 0.9  # paper 002 section 6, for IR(P) and IR'(P)


def pagerank(
    links: Any,
    *,
    damping: float = DAMPING,
    jumps: npt.ArrayLike | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
) -> Ranks:
    """``IR(P)`` of each node, a vector of length n with the mean 1; a page without links links to every page.

    ``links`` is a sparse matrix of shape (n, n) as ``LinkGraph.matrix`` makes it. ``jumps``, ``tolerance`` and
    ``max_iterations`` are those of ``flow``.

    Pages without links spread their rank as random jumps do, which multiplies the solution of ``flow`` by a constant.
    The constant follows from the mean, which stays 1 because no rank is lost.
    """
    ranks = flow(links, damping=damping, jumps=jumps, tolerance=tolerance, max_iterations=max_iterations)
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

    ``jumps`` are ``j``, how often a random jump leads to each page (default: 1 for all, as in the figure). ``c(v)`` is the
    number of links of v. A page without links passes on nothing. The order of the pages is that of ``pagerank``, and an
    additional link never lowers a value, so that a crawl in progress needs no scaling.

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
    """``IR'(P)`` over the links seen so far: solved at intervals, estimated in between.

    A fetched page immediately passes ``damping / c`` of its rank to each page it links to, so that new URLs and links count
    at once. Its effect on pages further away waits for the next solution of ``flow``, due when the number of fetched pages
    has grown by the share ``growth``; 0 solves after every page, as in paper 002. All solutions of a crawl together cost
    about ``1 / growth`` times the last one, and each starts from the one before.

    ``jump`` says how often a random jump leads to a node (default: 1 for each).
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
        """The rank of a node; for an unknown node that of a page without backlinks."""
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

    def rank_of(self, number: int) -> float:
        """The rank of the node with this id."""
        return self._ranks[number]

    def merge(self, node: Node, into: Node) -> int:
        """``node`` redirects to ``into``, which takes over its links; return the id of both."""
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
