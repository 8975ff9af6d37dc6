"""The link graph of an archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from crawlproject.orderings.base import PageArchive
from crawlproject.orderings.graph.linkgraph import LinkGraph


def archive_graph(
    archive: PageArchive, counted: Callable[[str, Sequence[str]], Iterable[str]] = lambda url, targets: targets
) -> LinkGraph[str]:
    """The links of the archive that are ``counted``, given a page and its links; redirects are one node with their target."""
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
