"""The virtual crawler of paper 002 Figure 1, over a graph of integers, and the estimates that can order its queue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.crawl_and_stop import LimitedBuffer
from crawlproject.frontier.host_queue import LazyHeap
from crawlproject.orderings.link_based import OpicCash
from crawlproject.orderings.link_graph import adjacency
from crawlproject.orderings.pagerank import GrowingPageRank

HOT = 1e6  # above any estimate


class Web:
    """The part of a graph that is reachable from a start node; nodes are renumbered, and the start is 0.

    ``nodes`` holds their original numbers in the graph.
    """

    def __init__(self, sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32], start: int) -> None:
        from scipy.sparse.csgraph import breadth_first_order

        links = adjacency(sources, targets, int(max(sources.max(), targets.max())) + 1)
        links.data[:] = 1
        reached = breadth_first_order(links, start, return_predecessors=False)
        self.nodes = reached
        self.links = links[reached][:, reached].tocsr()
        self.links.sort_indices()
        self._targets: list[int] = self.links.indices.tolist()
        self._starts: list[int] = self.links.indptr.tolist()

    def __len__(self) -> int:
        return self.links.shape[0]

    def __getitem__(self, node: int) -> list[int]:
        """The nodes that ``node`` links to."""
        return self._targets[self._starts[node] : self._starts[node + 1]]


class Estimate(Protocol):
    """A crawler's estimate of the importance of pages; it never falls."""

    def visit(self, node: int, targets: Sequence[int]) -> bool:
        """Record that a page was fetched. Return True if the estimates of nodes other than its targets may have risen too."""
        ...

    def __call__(self, node: int) -> float:
        """``I'(P)``."""
        ...


class Nothing:
    """No estimate: breadth-first."""

    def visit(self, node: int, targets: Sequence[int]) -> bool:
        return False

    def __call__(self, node: int) -> float:
        return 0.0


class Drawn:
    """Random order: any node in the queue may be next. ``draws`` are exponential variates of mean 1, one for each node.

    As in the ordering ``random``, the clock of a node rings ``draws[node]`` after the node was found.
    """

    def __init__(self, draws: Sequence[float]) -> None:
        self._draws = draws
        self._rings: dict[int, float] = {}
        self._now = 0.0

    def visit(self, node: int, targets: Sequence[int]) -> bool:
        self._now = self._rings[node]
        return False

    def __call__(self, node: int) -> float:
        return 1 / (1 + self._rings.setdefault(node, self._now + self._draws[node]))


class Backlinks:
    """``IB'(P)``."""

    def __init__(self, nodes: int) -> None:
        self._counts = [0] * nodes

    def visit(self, node: int, targets: Sequence[int]) -> bool:
        for target in targets:
            self._counts[target] += 1
        return False

    def __call__(self, node: int) -> float:
        return self._counts[node]


class Ranks:
    """``IR'(P)``, as the ordering ``pagerank`` computes it."""

    def __init__(self, growth: float) -> None:
        self._ranks: GrowingPageRank[int] = GrowingPageRank(growth=growth)
        self.solutions = 0

    def visit(self, node: int, targets: Sequence[int]) -> bool:
        self._ranks.expand(node, targets)
        due = self._ranks.due
        if due:
            self._ranks.solve()
            self.solutions += 1
        return due

    def __call__(self, node: int) -> float:
        return self._ranks.rank(node)


class Opic:
    """The OPIC cash of a node."""

    def __init__(self, start: int) -> None:
        self._cash = OpicCash([start])

    def visit(self, node: int, targets: Sequence[int]) -> bool:
        self._cash.spend(node, targets)
        return False

    def __call__(self, node: int) -> float:
        return self._cash.of(node)


class HotQueue:
    """The two queues of paper 002 Figure 4, both ordered by ``rest``; with ``hot_pages`` those of Figure 5.

    A node enters the hot queue when the link that discovers it is one of ``hot_links``, pairs of nodes. In Figure 5 it also
    enters when it is fewer than 3 links away from a hot page: the linking page is hot, or a hot page links to the linking page.
    """

    def __init__(self, rest: Estimate, hot_links: Collection[tuple[int, int]], hot_pages: Collection[int] = ()) -> None:
        self._rest = rest
        self._hot_links = hot_links
        self._hot_pages = hot_pages
        self._linked_by_hot: set[int] = set()
        self._found = {0: False}  # nodes seen so far -> whether they are in the hot queue

    def visit(self, node: int, targets: Sequence[int]) -> bool:
        if node in self._hot_pages:
            self._linked_by_hot.update(targets)
        near = node in self._hot_pages or node in self._linked_by_hot
        for target in targets:
            self._found.setdefault(target, near or (node, target) in self._hot_links)
        return self._rest.visit(node, targets)

    def __call__(self, node: int) -> float:
        return self._rest(node) + (HOT if self._found[node] else 0.0)


def crawl(web: Web, score: Estimate) -> list[int]:
    """Figure 1: the nodes in the order of their visits. Nodes with equal scores leave the queue first in, first out."""
    arrived = {0: 0}
    told = [-1.0] * len(web)
    told[0] = score(0)
    heap: LazyHeap[tuple[float, int, int]] = LazyHeap(lambda item: -item[0] == told[item[2]], [(-told[0], 0, 0)])
    order: list[int] = []
    visited = bytearray(len(web))
    while (item := heap.pop()) is not None:
        node = item[2]
        order.append(node)
        visited[node] = 1
        targets = web[node]
        everything = score.visit(node, targets)
        for target in targets:
            arrived.setdefault(target, len(arrived))
        for waiting in arrived if everything else targets:
            if not visited[waiting] and (new := score(waiting)) != told[waiting]:
                if told[waiting] >= 0:
                    heap.died()
                told[waiting] = new
                heap.push((-new, arrived[waiting], waiting))
    return order


def buffered(web: Web, order: Iterable[int], estimate: Estimate, size: int) -> list[int]:
    """The pages in a buffer of ``size`` pages after the crawl; ``estimate`` decides which pages are flushed."""
    buffer = LimitedBuffer(size, estimate)
    for node in order:
        estimate.visit(node, web[node])
        buffer.visit(node)
    return buffer.pages()
