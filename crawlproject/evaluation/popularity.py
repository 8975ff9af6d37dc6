"""Importance by links and by location (paper 000 section 4.1, measure 6; paper 002 section 2; paper 001 section 4.2)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import numpy as np

from crawlproject.evaluation import importance
from crawlproject.evaluation.importance import Importance, PagePool, Values
from crawlproject.orderings.graph.hits import hits
from crawlproject.orderings.graph.linkgraph import adjacency
from crawlproject.orderings.graph.pagerank import pagerank as pagerank_of


def backlinks(pool: PagePool) -> Values:
    """``IB(P)``, the number of pages that link to the page, counted in the pool."""
    return np.asarray(_links(pool).sum(axis=0), dtype=np.float64).ravel()


def pagerank(pool: PagePool) -> Values:
    """``IR(P)``, computed over the links among the pages of the pool after all crawls."""
    return pagerank_of(_links(pool))


def authority(pool: PagePool) -> Values:
    """Kleinberg's authority score (HITS) over the links among the pages of the pool."""
    return hits(_links(pool))[1]


def location(pool: PagePool) -> Values:
    """``IL(P)``: a URL with few slashes is more useful; ``1 / (1 + segments of the path)``."""
    return np.array([1 / (1 + _segments(page.url)) for page in pool.pages], dtype=np.float64)


def keywords_pagerank(pool: PagePool) -> Values:
    """``rank_KW,PR`` of paper 001 section 4.2: first by the number of keywords, then by PageRank; 1 is best, 0 worst."""
    found, popular = importance.keywords(pool), pagerank(pool)
    order = np.lexsort((popular, found))
    # Equal pairs get equal ranks, so that the order of the pool does not matter.
    steps = np.any([np.diff(found[order]) != 0, np.diff(popular[order]) != 0], axis=0)
    place = np.empty(len(order))
    place[order] = np.concatenate(([0], np.cumsum(steps)))[: len(order)]
    return importance.rank_share(place)


IMPORTANCE: dict[str, Importance] = {
    "keywords": importance.keywords,
    "query_similarity": importance.query_similarity,
    "description_similarity": importance.description_similarity,
    "seed_similarity": importance.seed_similarity,
    "classifier": importance.classifier,
    "retrieval_rank": importance.retrieval_rank,
    "backlinks": backlinks,
    "pagerank": pagerank,
    "authority": authority,
    "location": location,
    "keywords_pagerank": keywords_pagerank,
}


def _links(pool: PagePool) -> Any:
    """The links among the pages of the pool, each once, none of a page to itself."""
    ids = {page.url: number for number, page in enumerate(pool.pages)}
    pairs = {
        (ids[page.url], ids[link.url])
        for page in pool.pages
        for link in page.links
        if link.url in ids and link.url != page.url
    }
    sources, targets = zip(*sorted(pairs), strict=True) if pairs else ((), ())
    return adjacency(sources, targets, len(ids))


def _segments(url: str) -> int:
    return sum(map(bool, urlsplit(url).path.split("/")))
