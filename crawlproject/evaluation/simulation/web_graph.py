"""The complete link graph of a virtual web, for the omniscient ordering, for reachability, and for what no crawl can beat."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from crawlproject.orderings.base import Graph, PassageLinks, RedirectLinks
from crawlproject.orderings.omniscient import arrivals
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
            found = dict.fromkeys(link for link in links if link in admitted)
            return tuple(found) if pages.is_kept(url) else PassageLinks(found)
        reply, _ = pages.get(url)
        if location(reply):
            target = canonical_or_none(canonicalize, location(reply), url)
            return RedirectLinks([target] if target and target in admitted else [])
        return None

    return successors


def least_pages(graph: Graph, seeds: Iterable[str], targets: Iterable[str]) -> list[int]:
    """The pages that any crawl fetches at least until it has 1, 2, ... of the targets, as far as they can be reached.

    Call the fewest pages on a path from a seed to a target, without targets, its price. A crawl that has m targets has one
    whose price is the m-th smallest or more; it has paid that price, and fetched the m targets. So no crawl needs fewer pages;
    whether one needs as few is not said, since here one path may lead to all targets. What is not kept is no page.
    """
    wanted = {url for url in arrivals(graph, targets) if not isinstance(graph(url), PassageLinks)}
    price = dict.fromkeys(seeds, 0)
    waiting = deque(price)
    paid: dict[str, int] = {}  # price with the URL itself
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
