"""PageRank of sites: a first estimate of pages of which nothing else is known (paper 004 section 4.3)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from crawlproject.orderings.graph.linkgraph import adjacency
from crawlproject.orderings.graph.pagerank import DAMPING, pagerank
from crawlproject.urls.domains import domain_of


class SiteRanks:
    """PageRank with the mean 1 over registrable domains; a domain links to another when any of its pages does.

    Memory: a set entry for each pair of linked domains.
    """

    def __init__(self, damping: float = DAMPING) -> None:
        self._damping = damping
        self._ids: dict[str, int] = {}
        self._links: set[tuple[int, int]] = set()
        self._ranks = np.ones(0)

    def add_page(self, url: str, targets: Iterable[str]) -> None:
        """Count the links of a fetched page from the next ``solve`` on."""
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
