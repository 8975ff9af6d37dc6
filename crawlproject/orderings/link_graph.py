"""A growing link graph (interned nodes, links in flat arrays, a sparse matrix on demand), and HITS: hubs and authorities."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.base import PageArchive

Node = TypeVar("Node", bound=Hashable)
Scores = npt.NDArray[np.float64]


class LinkGraph(Generic[Node]):
    """Nodes (URLs, or anything hashable) with ids 0, 1, 2, ... in the order in which they were added.

    A link counts once per pair of nodes, as in ``links`` of paper 002 Figure 1. A node is *expanded* when its out-links are
    known, that is, when its page was fetched. Memory: four bytes per link, and about 110 per node plus its name.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._ids: dict[Node, int] = {}
        self._moved: dict[int, int] = {}
        self._sources = array("i")
        self._degrees = array("i")
        self._targets = array("i")
        self._expanded: set[int] = set()

    def __len__(self) -> int:
        """Number of nodes, fetched or not."""
        return len(self.nodes)

    @property
    def names(self) -> Iterable[Node]:
        """The names of all nodes, including those of redirects."""
        return self._ids.keys()

    @property
    def expanded(self) -> int:
        """Number of nodes whose out-links are known."""
        return len(self._sources)

    @property
    def links(self) -> int:
        return len(self._targets)

    def id_of(self, node: Node) -> int:
        """The id of a node, which is added if it is new."""
        number = self.find(node)
        if number is None:
            number = self._ids[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def find(self, node: Node) -> int | None:
        """The id of a node, or None if it is unknown."""
        number = self._ids.get(node)
        while number in self._moved:
            number = self._moved[number]
        return number

    def add_page(self, node: Node, targets: Iterable[Node]) -> Sequence[int]:
        """Expand ``node`` with its out-links; return the ids of its distinct targets.

        A page that was expanded before stays unchanged, and the result is empty.
        """
        source = self.id_of(node)
        if source in self._expanded:
            return ()
        distinct = list(dict.fromkeys(map(self.id_of, targets)))
        self._expanded.add(source)
        self._sources.append(source)
        self._degrees.append(len(distinct))
        self._targets.extend(distinct)
        return distinct

    def merge(self, node: Node, into: Node) -> int:
        """Record that ``node`` redirects to ``into``: both names now mean one node. Return its id.

        Links to either name lead to this node; a page that links to both keeps two links to it.
        """
        old, new = self.id_of(node), self.find(into)
        if new is None:
            self._ids[into] = old
            self.nodes[old] = into
            return old
        if new != old:
            self._moved[old] = new
        return new

    def is_expanded(self, number: int) -> bool:
        """Whether the out-links of the node with this id are known."""
        return number in self._expanded

    def edges(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Sources and targets of all links as two new arrays of ids, in the order in which they were added."""
        sources = np.repeat(np.array(self._sources, np.int32), np.array(self._degrees, np.int32))
        targets = np.array(self._targets, np.int32)
        if self._moved:
            places = self._places()
            sources, targets = places[sources], places[targets]
        return sources, targets

    def matrix(self) -> Any:
        """Links as a ``scipy.sparse.csr_array`` of shape (nodes, nodes); entry (i, j) counts the links from i to j."""
        sources, targets = self.edges()
        return adjacency(sources, targets, len(self))

    def _places(self) -> npt.NDArray[np.int32]:
        """The current id of each id, after following redirects."""
        places = np.arange(len(self), dtype=np.int32)
        places[list(self._moved)] = list(self._moved.values())
        while (further := places[places]).tobytes() != places.tobytes():
            places = further
        return places


def adjacency(sources: npt.ArrayLike, targets: npt.ArrayLike, nodes: int, weights: npt.ArrayLike | None = None) -> Any:
    """A ``scipy.sparse.csr_array`` of shape (nodes, nodes) from the links ``sources[i] -> targets[i]``.

    ``weights`` are 1 by default; repeated links add up.
    """
    from scipy.sparse import coo_array

    rows, columns = np.asarray(sources, np.int32), np.asarray(targets, np.int32)
    values = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
    return coo_array((values, (rows, columns)), shape=(nodes, nodes)).tocsr()


def archive_graph(
    archive: PageArchive, counted: Callable[[str, Sequence[str]], Iterable[str]] = lambda url, targets: targets
) -> LinkGraph[str]:
    """The link graph of the archive; a redirect and its target are one node.

    ``counted`` selects the links that count, given the URL of a page and its links; by default all.
    """
    graph: LinkGraph[str] = LinkGraph()
    redirects = []
    for url in archive.urls():
        targets = archive.links(url)
        if targets is None:
            redirects.append(url)
        else:
            graph.add_page(url, counted(url, targets))
    for url in redirects:
        page = archive.page(url) if graph.find(url) is not None else None
        if page is not None and page.url != url:
            graph.merge(url, page.url)
    return graph


def hits(
    links: Any, backward: Any | None = None, *, tolerance: float = 1e-8, max_iterations: int = 100
) -> tuple[Scores, Scores]:
    """Hub and authority score of each node, both vectors of length ``n`` that sum to 1 (all 0 without links).

    ``links`` is a sparse matrix of shape (n, n), such as ``adjacency`` makes: entry (i, j) is the weight of the link from i
    to j, 1 in Kleinberg's original. The steps ``a = links^T h`` for authorities and ``h = links a`` for hubs are repeated
    until no hub score changes by more than ``tolerance``, at most ``max_iterations`` times. With ``backward``, the hub step
    is ``h = backward a``: a distiller weighs a link forward by its target's relevance and backward by its source's (S.
    Chakrabarti, M. van den Berg, B. Dom: Focused Crawling. WWW8, 1999, section 2.2.2).
    """
    nodes = links.shape[0]
    forward = links.T.tocsr()
    upward = (links if backward is None else backward).tocsr()
    hubs = np.full(nodes, 1 / nodes) if nodes else np.zeros(0)
    authorities = np.zeros(nodes)
    for _ in range(max_iterations):
        authorities = _shares(forward @ hubs)
        before, hubs = hubs, _shares(upward @ authorities)
        if np.abs(hubs - before).max(initial=0.0) <= tolerance:
            break
    return hubs, authorities


def _shares(scores: Scores) -> Scores:
    """``scores`` scaled so that they sum to 1."""
    total = scores.sum()
    return scores / total if total > 0 else np.zeros_like(scores)
