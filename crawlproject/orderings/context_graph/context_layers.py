"""The merged context graph: pages of an archive by their distance to pages on the topic (paper 000 section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crawlproject.orderings.base import OrderingContext, PageArchive
from crawlproject.orderings.graph.linkgraph import LinkGraph
from crawlproject.records import Page


def merged_context_graph(
    context: OrderingContext, archive: PageArchive, core: Sequence[Page], *, layers: int, layer_pages: int
) -> list[Sequence[Page]]:
    """``core``, which is layer 0, and at most ``layers`` more: pages that link to the previous layer, but to none before it.

    A layer is a random sample of at most ``layer_pages`` pages, and only in-links of the sample are followed. The list ends
    before the first empty layer.
    """
    found = [core]
    graph = _links_of(archive)
    sources, targets = graph.edges()
    taken = [number for page in core if (number := graph.find(page.url)) is not None]
    seen = np.zeros(len(graph), dtype=bool)
    seen[taken] = True
    for _ in range(layers):
        inlinks = np.unique(sources[np.isin(targets, taken) & ~seen[sources]])
        seen[inlinks] = True
        taken = inlinks.tolist()
        if len(taken) > layer_pages:
            taken = sorted(context.random.sample(taken, layer_pages))
        pages = [page for number in taken if (page := archive.page(graph.nodes[number])) is not None and page.counts]
        if not pages:
            break
        found.append(pages)
    return found


def _links_of(archive: PageArchive) -> LinkGraph[str]:
    """All links of the archive; redirects are one node with their target."""
    graph: LinkGraph[str] = LinkGraph()
    redirects = []
    for url in archive.urls():
        targets = archive.links(url)
        if targets is None:
            redirects.append(url)
        else:
            graph.add_page(url, targets)
    for url in redirects:
        page = archive.page(url) if graph.find(url) is not None else None
        if page is not None and page.url != url:
            graph.merge(url, page.url)
    return graph
