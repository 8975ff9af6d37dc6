"""The complete link graph of a virtual web, for the omniscient ordering, reachability, and a bound for all crawls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from crawlproject.orderings.base import Graph, PassageLinks, RedirectLinks
from crawlproject.orderings.omniscient import arrivals
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import PageCache, location


def graph_of(pages: PageCache, canonicalize: Callable[..., str], admit: Callable[[str], bool]) -> Graph:
    """The link graph of the stored part of a web: maps a URL to the links of its page or the target of its redirect.

    The graph contains only URLs that the web lists and ``admit`` accepts, so it excludes endless traps. It returns None for
    a URL that is neither a page nor a redirect. Results are cached.
    """
    stored = {canonical_or_none(canonicalize, url) for url in pages.web.urls()}
    admitted = {url for url in stored if url and admit(url)}

    @cache
    def successors(url: str) -> Sequence[str] | None:
        links = pages.links(url)
        if links is not None:
            found = dict.fromkeys(link for link in links if link in admitted)
            return tuple(found) if pages.is_kept(url) else PassageLinks(found)
        reply, _ = pages.get(url)
        if location(reply):
            target = canonical_or_none(canonicalize, location(reply), url)
            return RedirectLinks([target] if target and target in admitted else [])
        return None

    return successors


def least_pages(graph: Graph, seeds: Iterable[str], targets: Iterable[str]) -> list[int]:
    """A lower bound for the pages that a crawl fetches to get 1, 2, ... of the targets that can be reached.

    Let the price of a target be the fewest non-target pages on a path to it from a seed. A crawl that has m targets has one
    whose price is at least the m-th smallest; so it has fetched that many other pages, and the m targets. The bound may be
    too low, since it counts the path to only one target, as if this path led to all of them. Documents that are not kept do
    not count as pages.
    """
    wanted = {url for url in arrivals(graph, targets) if not isinstance(graph(url), PassageLinks)}
    price = dict.fromkeys(seeds, 0)
    waiting = deque(price)
    paid: dict[str, int] = {}  # price including the URL itself
    while waiting:
        url = waiting.popleft()
        if url in paid or (links := graph(url)) is None:
            continue
        paid[url] = price[url] + (url not in wanted and not isinstance(links, PassageLinks))
        for link in links:
            if paid[url] < price.get(link, paid[url] + 1):
                price[link] = paid[url]
                (waiting.append if paid[url] > price[url] else waiting.appendleft)(link)
    prices = sorted(paid[target] for target in wanted if target in paid)
    return [found + least for found, least in enumerate(prices, start=1)]
