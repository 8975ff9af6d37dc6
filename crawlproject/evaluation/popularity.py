"""Importance by links and by location (paper 000 section 4.1, measure 6; paper 002 section 2; paper 001 section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from crawlproject.errors import BadInput
from crawlproject.evaluation import importance
from crawlproject.evaluation.importance import Importance, PagePool, Values
from crawlproject.orderings.link_graph import adjacency, hits
from crawlproject.orderings.pagerank import pagerank as pagerank_of
from crawlproject.urls.domains import domain_of

HOT_BACKLINKS = 5  # of a hot page when backlinks count, too (002 section 7)


def backlinks(pool: PagePool) -> Values:
    """``IB(P)``, the number of pages that link to the page, counted in the pool."""
    return np.asarray(_links(pool).sum(axis=0), dtype=np.float64).ravel()


def pagerank(pool: PagePool) -> Values:
    """``IR(P)``, computed over the links among the pages of the pool after all crawls."""
    return pagerank_of(_links(pool))


def external_pagerank(pool: PagePool) -> Values:
    """PageRank over the links between registrable domains only (004 section 4.1)."""
    return pagerank_of(_links(pool, external=True))


def trusted_pagerank(pool: PagePool) -> Values:
    """PageRank whose random jumps lead to the seed pages, evenly (004 section 4.1); so do pages without links.

    Raises ``BadInput`` when no seed page is in the pool.
    """
    jumps = np.array([page.url in pool.trusted for page in pool.pages], dtype=np.float64)
    if not jumps.any():
        raise BadInput("--importance trusted_pagerank", "expected a crawl that fetched a seed page of each topic")
    return pagerank_of(_links(pool), jumps=jumps)


def hot_backlinks(pool: PagePool) -> Values:
    """1 for a hot page with five or more backlinks, else 0: IS and IB combined (002 section 7, Graph 7)."""
    return importance.hot(pool) * (backlinks(pool) >= HOT_BACKLINKS)


def authority(pool: PagePool) -> Values:
    """Kleinberg's authority score (HITS) over the links among the pages of the pool."""
    return hits(_links(pool))[1]


def location(pool: PagePool) -> Values:
    """``IL(P)``: a URL with few slashes is more useful; ``1 / (1 + segments of the path)``."""
    return np.array([1 / (1 + _segments(page.url)) for page in pool.pages], dtype=np.float64)


def keywords_pagerank(pool: PagePool) -> Values:
    """``rank_KW,PR`` of paper 001 section 4.2: first by the number of keywords, then by PageRank; 1 is best, 0 worst.

    PageRank is that among the pages of all topics, when ``pool.ranks`` knows it.
    """
    found = importance.keywords(pool)
    ranks = pool.ranks() if pool.ranks else None
    popular = pagerank(pool) if ranks is None else np.array([ranks[page.url] for page in pool.pages], dtype=np.float64)
    order = np.lexsort((popular, found))
    # Equal pairs get equal ranks, so that the order of the pool does not matter.
    steps = np.any([np.diff(found[order]) != 0, np.diff(popular[order]) != 0], axis=0)
    place = np.empty(len(order))
    place[order] = np.concatenate(([0], np.cumsum(steps)))[: len(order)]
    return importance.rank_share(place)


IMPORTANCE: dict[str, Importance] = {
    "keywords": importance.keywords,
    "query_similarity": importance.query_similarity,
    "query_product": importance.query_product,
    "description_similarity": importance.description_similarity,
    "seed_similarity": importance.seed_similarity,
    "classifier": importance.classifier,
    "retrieval_rank": importance.retrieval_rank,
    "backlinks": backlinks,
    "pagerank": pagerank,
    "external_pagerank": external_pagerank,
    "trusted_pagerank": trusted_pagerank,
    "authority": authority,
    "location": location,
    "keywords_pagerank": keywords_pagerank,
    "hot": importance.hot,
    "hot_backlinks": hot_backlinks,
}


def ranks_of(links: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """The PageRank of pages, given the URLs that each of them links to; other URLs do not count."""
    return dict(zip(links, pagerank_of(_matrix(links)).tolist(), strict=True))


def _links(pool: PagePool, *, external: bool = False) -> Any:
    """The links among the pages of the pool, each once, none of a page to itself; ``external``: nor to its domain."""
    links = {page.url: [link.url for link in page.links] for page in pool.pages}
    if external:
        domains = {url: domain_of(url) for url in links}
        links = {url: [to for to in found if domains.get(to) != domains[url]] for url, found in links.items()}
    return _matrix(links)


def _matrix(links: Mapping[str, Iterable[str]]) -> Any:
    ids = {url: number for number, url in enumerate(links)}
    pairs = {(ids[url], ids[to]) for url, found in links.items() for to in found if to in ids and to != url}
    sources, targets = zip(*sorted(pairs), strict=True) if pairs else ((), ())
    return adjacency(sources, targets, len(ids))


def _segments(url: str) -> int:
    return sum(map(bool, urlsplit(url).path.split("/")))
