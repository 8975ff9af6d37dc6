"""Selects the content of a map: the most relevant pages, the path to each of them, and the links among these pages.

The idea is that of Mapuccino (paper 000 section 5.3): a topical crawler collects pages, a map highlights the relevant ones.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from crawlproject.errors import BadInput
from crawlproject.records import Visit
from crawlproject.reports.why.lookup import paths_to
from crawlproject.storage.append_log import open_to_read, unexpected
from crawlproject.storage.read import LINKS, CrawlInfo, present_visits, read_info
from crawlproject.urls.hosts import host_of, is_within

NODES = 1_000  # default number of pages on a map
EDGES_PER_NODE = 5  # most links drawn per page on average, in addition to the paths
_SOURCE = b'{"source":"'


@dataclass(frozen=True, slots=True)
class MapNode:
    """A page on the map. ``parent`` is the index of the page it was found on, -1 for a seed or if that page is not drawn."""

    url: str
    title: str
    relevance: float
    site: int
    depth: int
    parent: int
    seed: bool


@dataclass(frozen=True, slots=True)
class TopicMap:
    """The pages and links of a map. ``sites`` are host names, those with the most pages first. ``edges`` are pairs of indexes
    into ``nodes``, without the links from parent to child. ``pages`` counts the pages of the crawl, ``left_out`` the links
    among the nodes that are not drawn."""

    info: CrawlInfo
    site: str
    threshold: float
    pages: int
    nodes: tuple[MapNode, ...]
    sites: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    left_out: int


def read_map(folder: Path, *, site: str = "", limit: int = NODES) -> TopicMap:
    """Read the map of a crawl folder: at most ``limit`` pages, the most relevant ones with their paths from a seed.

    With ``site``, a host name, the map shows the pages of that host and its subdomains with their paths, and then the pages
    of other hosts with the most links to or from these. Raises ``BadCrawlDir``, and ``BadInput`` if no page of the site was
    stored.
    """
    info = read_info(folder)
    site = site.lower().strip(".")
    best, pages = _best_pages(present_visits(folder), site, limit)
    if site and not best:
        raise BadInput(f"site {site!r}", "expected a host with pages in this crawl")
    chosen = _with_paths(folder, best, limit)
    if site and len(chosen) < limit:
        near = _neighbours(folder, chosen, site)
        chosen |= {url: None for url, _ in near.most_common(limit - len(chosen))}
    visits = {visit.url: visit for visit in present_visits(folder) if visit.url in chosen}
    return _map_of(folder, info, site, pages, list(visits.values()))


def _best_pages(visits: Iterable[Visit], site: str, limit: int) -> tuple[list[str], int]:
    """Return the most relevant pages, the earlier one first on a tie, and the number of all pages."""
    heap: list[tuple[float, int, str]] = []
    pages = 0
    for visit in visits:
        if not visit.md5:
            continue
        pages += 1
        if visit.replaces:
            heap = [entry for entry in heap if entry[2] != visit.replaces]
            heapq.heapify(heap)
        if visit.is_left_out or (site and not is_within(host_of(visit.url), [site])):
            continue
        entry = (visit.relevance, -pages, visit.url)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
    return [url for *_, url in sorted(heap, reverse=True)], pages


def _with_paths(folder: Path, best: Collection[str], limit: int) -> dict[str, None]:
    """Return the best pages with all pages on their paths from a seed, up to ``limit`` pages."""
    chosen: dict[str, None] = {}
    for url, path in paths_to(folder, best).items():
        new = [step.url for step in path if step.url not in chosen]
        if len(chosen) + len(new) <= limit:
            chosen |= dict.fromkeys(new or [url])
    return chosen


def _neighbours(folder: Path, chosen: Collection[str], site: str) -> Counter[str]:
    """Return the pages of other hosts with links to or from the chosen pages, and the number of these links."""
    near: Counter[str] = Counter()
    for source, target in _links(folder):
        if source in chosen and target not in chosen and not is_within(host_of(target), [site]):
            near[target] += 1
        elif target in chosen and source not in chosen:
            near[source] += 1
    if near:
        fetched = {visit.url for visit in present_visits(folder) if visit.md5 and visit.url in near}
        near = Counter({url: count for url, count in near.items() if url in fetched})
    return near


def _map_of(folder: Path, info: CrawlInfo, site: str, pages: int, visits: list[Visit]) -> TopicMap:
    index = {visit.url: number for number, visit in enumerate(visits)}
    hosts = Counter(host_of(visit.url) for visit in visits)
    sites = tuple(host for host, _ in sorted(hosts.items(), key=lambda item: (-item[1], item[0])))
    numbers = {host: number for number, host in enumerate(sites)}
    nodes = tuple(
        MapNode(
            visit.url, visit.title, visit.relevance, numbers[host_of(visit.url)], visit.depth,
            index.get(visit.parent or "", -1), visit.parent is None,
        )
        for visit in visits
    )  # fmt: skip
    pairs = {(index[source], index[target]) for source, target in _links(folder, index) if target in index}
    pairs = {(a, b) for a, b in pairs if a != b and nodes[b].parent != a and nodes[a].parent != b}
    single = {(min(pair), max(pair)) for pair in pairs}
    most = EDGES_PER_NODE * len(nodes)
    kept = heapq.nsmallest(most, single, key=lambda pair: _edge_rank(pair, nodes))
    threshold = info.threshold
    return TopicMap(info, site, threshold, pages, nodes, sites, tuple(sorted(kept)), len(single) - len(kept))


def _edge_rank(pair: tuple[int, int], nodes: tuple[MapNode, ...]) -> tuple[bool, float, tuple[int, int]]:
    """Return the sort key of a link: links between sites first, then links between the most relevant pages."""
    a, b = nodes[pair[0]], nodes[pair[1]]
    return a.site == b.site, -(a.relevance + b.relevance), pair


def _links(folder: Path, sources: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield the links of the pages in ``sources`` (None: all pages) as (source, target). Other lines are not parsed."""
    path = folder / LINKS
    if not path.exists():
        return
    # A canonical URL contains no quote or backslash, so it is not escaped in the line.
    wanted = None if sources is None else {url.encode() for url in sources}
    with open_to_read(path) as file:
        for number, line in enumerate(file, start=1):
            if wanted is not None and line.startswith(_SOURCE):
                end = line.find(b'"', len(_SOURCE))
                if line[len(_SOURCE) : end] not in wanted:
                    continue
            if not line.endswith(b"\n"):  # torn by a kill
                return
            try:
                link = orjson.loads(line)
                source, target = link["source"], link["target"]
            except (orjson.JSONDecodeError, KeyError, TypeError) as damage:
                raise unexpected(path, number, damage) from None
            if wanted is None or source.encode() in wanted:
                yield source, target
