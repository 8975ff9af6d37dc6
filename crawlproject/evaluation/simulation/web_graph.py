"""The complete link graph of a virtual web, for the omniscient ordering and for reachability."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from crawlproject.orderings.base import Graph
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import PageCache, location


def graph_of(pages: PageCache, canonicalize: Callable[..., str], admit: Callable[[str], bool]) -> Graph:
    """``url -> URLs it leads to`` over the stored part of a web: links of a page, the target of a redirect.

    The graph contains only URLs that the web lists and ``admit`` accepts, so it excludes endless traps. The result is None
    for a URL that is neither a page nor a redirect. Results are cached.
    """
    stored = {canonical_or_none(canonicalize, url) for url in pages.web.urls()}
    admitted = {url for url in stored if url and admit(url)}

    @cache
    def successors(url: str) -> Sequence[str] | None:
        links = pages.links(url)
        if links is not None:
            return tuple(dict.fromkeys(link for link in links if link in admitted))
        reply, _ = pages.get(url)
        if location(reply):
            target = canonical_or_none(canonicalize, location(reply), url)
            return (target,) if target and target in admitted else ()
        return None

    return successors


def reachable(graph: Graph, seeds: Iterable[str]) -> Iterator[str]:
    """All pages and redirects that can be reached from the seeds, nearest first."""
    queue = deque(dict.fromkeys(seeds))
    seen = set(queue)
    while queue:
        url = queue.popleft()
        linked = graph(url)
        if linked is None:
            continue
        yield url
        for target in linked:
            if target not in seen:
                seen.add(target)
                queue.append(target)
