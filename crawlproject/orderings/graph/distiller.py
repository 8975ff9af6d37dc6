"""The distiller of the focused crawler: hubs among the fetched pages (paper 000 section 3.3; Chakrabarti 1999)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from crawlproject.orderings.graph.hits import hits
from crawlproject.orderings.graph.linkgraph import LinkGraph, adjacency


class Distiller:
    """Hubs by Kleinberg's algorithm, with two changes against drift away from the topic.

    The forward weight of a link is the relevance of its target, the backward weight that of its source. Only links between
    fetched pages of different hosts count, so that a site cannot vote for itself.
    """

    def __init__(self) -> None:
        self._graph: LinkGraph[str] = LinkGraph()
        self._relevance: dict[int, float] = {}  # of fetched pages, by their id in the graph
        self._hosts: dict[int, str] = {}

    @property
    def pages(self) -> int:
        """Fetched pages so far."""
        return len(self._relevance)

    def add(self, url: str, targets: Iterable[str], *, host: str, relevance: float) -> None:
        """Add a fetched page of ``host`` with its link targets and relevance R, 0 to 1."""
        self._graph.add_page(url, targets)
        number = self._graph.id_of(url)
        self._relevance[number] = relevance
        self._hosts[number] = host

    def merge(self, url: str, target: str) -> None:
        """``url`` redirects to ``target``."""
        self._graph.merge(url, target)

    def best_hubs(self, count: int) -> Iterator[tuple[float, Sequence[str]]]:
        """At most ``count`` hubs, best first: hub score relative to the best, and the URLs that the hub links to."""
        sources, targets = self._graph.edges()
        place = np.full(len(self._graph), -1, np.int32)
        fetched = np.fromiter(self._relevance, np.int32, self.pages)
        place[fetched] = np.arange(self.pages, dtype=np.int32)
        relevance = np.fromiter(self._relevance.values(), np.float64, self.pages)
        _, hosts = np.unique(list(self._hosts.values()), return_inverse=True)

        known = (place[sources] >= 0) & (place[targets] >= 0)
        rows, columns = place[sources[known]], place[targets[known]]
        between = hosts[rows] != hosts[columns]
        rows, columns = rows[between], columns[between]
        forward = adjacency(rows, columns, self.pages, relevance[columns])
        backward = adjacency(rows, columns, self.pages, relevance[rows])
        scores, _ = hits(forward, backward, tolerance=1e-6)

        best = np.argsort(-scores, kind="stable")[:count]
        for hub in best[scores[best] > 0]:
            linked = targets[sources == fetched[hub]]
            yield float(scores[hub] / scores[best[0]]), [self._graph.nodes[target] for target in linked]
