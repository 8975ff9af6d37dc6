"""The merged context graph: pages of an archive by their distance to pages on the topic (paper 000 section 3.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from random import Random

import numpy as np

from crawlproject.orderings.base import OrderingContext, PageArchive
from crawlproject.orderings.graph.archive_graph import archive_graph
from crawlproject.orderings.graph.linkgraph import LinkGraph
from crawlproject.records import Page


def merged_context_graph(
    context: OrderingContext, archive: PageArchive, core: Sequence[Page], *, layers: int, layer_pages: int
) -> list[Sequence[Page]]:
    """The context graphs of the pages of ``core``, at most ``layers`` deep, merged: ``core`` first, which is layer 0.

    Layer l has the pages of layer l of every graph, so a page may be in several. A layer, of a graph and when it is merged,
    is a random sample of at most ``layer_pages`` pages, and only in-links of the sample are followed. The list ends before
    the first empty layer.
    """
    found = [core]
    graph = archive_graph(archive)
    merged: list[set[int]] = [set() for _ in range(layers)]
    nodes = [number for page in core if (number := graph.find(page.url)) is not None]
    for node in nodes:
        for layer, numbers in zip(merged, _context_graph(graph, node, layer_pages, context.random), strict=False):
            layer.update(numbers)
    for layer in merged:
        drawn = _sample(layer, layer_pages, context.random)
        pages = [page for number in drawn if (page := archive.page(graph.nodes[number])) and page.counts]
        if not pages:
            break
        found.append(pages)
    return found


def _context_graph(graph: LinkGraph[str], node: int, layer_pages: int, random: Random) -> Iterator[Sequence[int]]:
    """The layers around one page: pages that link to the previous layer, but to none before it; until one is empty."""
    sources, targets = graph.edges()
    taken: Sequence[int] = [node]
    seen = np.zeros(len(graph), dtype=bool)
    seen[node] = True
    while len(taken):
        inlinks = np.unique(sources[np.isin(targets, taken) & ~seen[sources]])
        seen[inlinks] = True
        taken = _sample(inlinks.tolist(), layer_pages, random)
        yield taken


def _sample(numbers: Collection[int], most: int, random: Random) -> Sequence[int]:
    return sorted(numbers if len(numbers) <= most else random.sample(sorted(numbers), most))
