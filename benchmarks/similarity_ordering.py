"""The experiments of paper 002 on text and on one site (Graphs 4 to 7), on an archived web.

    python -m benchmarks.similarity_ordering WEB --start URL [--keyword computer] [--site HOST --site-start URL]

The virtual crawlers visit all pages that are reachable from the start. Printed is ``P_ST`` in percent:

- Graph 6: hot pages have the keyword in the title, or ten times in the body; crawlers with a hot queue (Figure 4).
- Graph 7: those with ``--backlinks`` (5) backlinks are hot; the hot queue also takes pages near hot ones (Figure 5).
- With ``--site``, Graph 4: only pages of one host; those with ``--backlinks`` backlinks there are hot. Graph 5: the distribution
  of backlinks over these pages.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.crawl_and_stop import crawl_and_stop_with_threshold
from benchmarks.url_ordering import crawl_all, crawlers, table
from benchmarks.virtual_crawler import Estimate, HotQueue, Web
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.configuration import read_options
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.pages.text.keyword_match import HotPages, KeywordMatcher
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.urls.hosts import host_of
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import PageCacheFolder

GROWTH = 0.05
COMPARED = ("random", "breadth-first", "backlink count", "PageRank")


@dataclass(frozen=True)
class TextWeb:
    """An archived web as a graph: URLs, links between them by number, and the pages and links with the keyword."""

    urls: Sequence[str]
    links: Sequence[tuple[int, int]]
    hot_pages: Collection[int]
    hot_links: Collection[tuple[int, int]]

    def part(self, start: str, host: str = "") -> tuple[Web, set[int], set[tuple[int, int]]]:
        """Return the web reachable from a page (through pages of ``host`` only, if given), and its hot pages and links.

        Hot pages and links use the numbers of that web. Raises ``SystemExit`` if the start is not a page of it with links.
        """
        inside = [number for number, url in enumerate(self.urls) if not host or host_of(url) == host]
        allowed = set(inside)
        edges = np.array([pair for pair in self.links if allowed.issuperset(pair)], np.int32).reshape(-1, 2)
        try:
            first = self.urls.index(start)
        except ValueError:
            raise SystemExit(f"{start}: expected a page of the web, by its canonical URL") from None
        if first not in edges[:, 0]:
            raise SystemExit(f"{start}: expected a page with links")
        web = Web(edges[:, 0], edges[:, 1], first)
        place = {int(node): number for number, node in enumerate(web.nodes)}
        pages = {place[node] for node in self.hot_pages if node in place}
        links = {(place[a], place[b]) for a, b in self.hot_links if a in place and b in place}
        return web, pages, links


def read(name: str, keyword: str) -> TextWeb:
    """Read every page of a web; a redirect counts as the page it leads to."""
    options = read_options({})
    canonicalize = make_canonicalizer(options)
    with closing(open_web(name, cache_dir=cache_dir())) as web:
        cache = read_pages(web, "en", options, PageCacheFolder(cache_dir(), name))
        with closing(cache):
            matcher = KeywordMatcher([keyword], cache.reader.analyzer)
            is_hot = HotPages(matcher, cache.reader.analyzer)
            pages = {url: page for url, _ in cache.all_links(canonicalize) if (page := cache.get(url)[1]) is not None}
    ids = {url: number for number, url in enumerate(pages)}
    links: dict[tuple[int, int], bool] = {}
    for url, page in pages.items():
        for link in page.links:
            if link.url in ids and link.url != url:
                anchor = page.terms[link.anchor_span[0] : link.anchor_span[1]]
                pair = ids[url], ids[link.url]
                links[pair] = links.get(pair, False) or matcher.in_url(link.url) or bool(matcher.occurrences(anchor))
    return TextWeb(
        list(pages),
        list(links),
        {ids[url] for url, page in pages.items() if is_hot(page)},
        {pair for pair, is_hot_link in links.items() if is_hot_link},
    )


def graph(title: str, web: Web, hot: Collection[int], queue: Callable[[Estimate], Estimate]) -> str:
    """The table of ``P_ST`` for crawlers whose estimates (except random) ``queue`` wraps."""
    estimates = {name: make for name, make in crawlers(len(web), [GROWTH], seed=1).items() if name in COMPARED}
    queued = {
        name: make if name == "random" else partial(lambda make: queue(make()), make)
        for name, make in estimates.items()
    }
    importance = np.zeros(len(web))
    importance[list(hot)] = 1.0
    orders = crawl_all(web, queued)
    return table(title, {name: crawl_and_stop_with_threshold(order, importance, 1.0) for name, order in orders.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web")
    parser.add_argument("--start", required=True, metavar="URL")
    parser.add_argument("--keyword", default="computer")
    parser.add_argument("--backlinks", type=int, default=5, help="of hot pages (default 5)")
    parser.add_argument("--site", metavar="HOST", help="the host of Graphs 4 and 5")
    parser.add_argument("--site-start", metavar="URL", help="default: its first page, http://HOST/")
    options = parser.parse_args()
    text = read(options.web, options.keyword)

    web, pages, links = text.part(options.start)
    counts = np.asarray(web.links.sum(axis=0))
    popular = {page for page in pages if counts[page] >= options.backlinks}
    print(
        f"{len(web):,} pages, {len(pages):,} on the topic, {len(popular):,} of them with {options.backlinks} backlinks"
    )
    print(graph("Graph 6: P_ST in percent, I(P) = IS(P)", web, pages, lambda rest: HotQueue(rest, links)))
    near = partial(HotQueue, hot_links=links, hot_pages=pages)
    print(graph("Graph 7: P_ST in percent, I(P) = IS(P) and IB(P)", web, popular, near))
    if options.site:
        site, _, _ = text.part(options.site_start or f"http://{options.site}/", options.site)
        counts = np.asarray(site.links.sum(axis=0)).astype(int)
        hot = np.flatnonzero(counts >= options.backlinks).tolist()
        print(f"{options.site}: {len(site):,} pages, {len(hot):,} with {options.backlinks} backlinks")
        print(graph("Graph 4: P_ST in percent, one site, I(P) = IB(P)", site, hot, lambda rest: rest))
        print("Graph 5: pages by backlinks")
        for backlinks, number in sorted(Counter(counts.tolist()).items()):
            print(f"{backlinks:6}{number:8}")


if __name__ == "__main__":
    main()
