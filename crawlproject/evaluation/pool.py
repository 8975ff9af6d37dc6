"""Measures against the pool: all pages that all crawlers fetched for a topic, ranked by some importance.

A pool is a mapping from URL to score, higher is better. Curves are those of ``evaluation.measures``: element ``i`` is the
value after ``i + 1`` pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from crawlproject.evaluation.measures import Curve

Scores = Mapping[str, float]


def ranks(scores: Scores) -> dict[str, float]:
    """The rank of each page, 1 for the best; pages with equal scores share the mean of their ranks."""
    values = np.fromiter(scores.values(), dtype=np.float64, count=len(scores))
    return dict(zip(scores, ranked(values).tolist(), strict=True))


def ranked(values: Curve) -> Curve:
    """``ranks`` for a list of numbers, in the same order."""
    _, place, count = np.unique(-values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def top_pages(scores: Scores, number: int) -> frozenset[str]:
    """``top_rank(S)`` of paper 001 Table 2: the best ``number`` pages; ties go to the alphabetically first."""
    return frozenset(sorted(scores, key=lambda url: (-scores[url], url))[:number])


def top_coverage(pages: Sequence[str], top: Collection[str]) -> Curve:
    """The static scheme of paper 001 Table 2, ``|S_crawler ∩ top(S)|``, as a share of the top pages."""
    found = np.fromiter((page in top for page in pages), dtype=np.float64, count=len(pages))
    return np.cumsum(found) / max(1, len(top))


def mean_rank(pages: Sequence[str], rank: Mapping[str, float]) -> Curve:
    """The dynamic scheme of paper 001 Table 2: the mean rank of the pages crawled so far; lower is better."""
    values = np.fromiter((rank[page] for page in pages), dtype=np.float64, count=len(pages))
    return np.cumsum(values) / np.arange(1, len(pages) + 1)


def rank_quality(pages: Sequence[str], rank: Mapping[str, float]) -> Curve:
    """``mean_rank`` scaled so that higher is better: 1 for the best page alone, 0 for the worst, 0.5 for chance."""
    worst = max(len(rank), 2)
    return (worst - mean_rank(pages, rank)) / (worst - 1)


def weighted_coverage(pages: Sequence[str], weights: Scores) -> Curve:
    """``WC(t) = sum of w(p) over C(t)`` (paper 004 section 4), as a share of the weight of the whole pool.

    All zero when the total weight is 0. Weights must not be negative.
    """
    total = sum(weights.values())
    values = np.fromiter((weights[page] for page in pages), dtype=np.float64, count=len(pages))
    return np.cumsum(values) / total if total else np.zeros(len(pages))


def robustness(one: Iterable[str], other: Iterable[str]) -> Curve:
    """Overlap of two crawls from disjoint halves of the seeds (paper 000 section 4.2).

    Element ``i`` is the share of the first ``i + 1`` pages of each crawl that both crawls fetched. The curve is as long as
    the shorter crawl. A page counts once.
    """
    pairs = list(zip(dict.fromkeys(one), dict.fromkeys(other), strict=False))
    first: set[str] = set()
    second: set[str] = set()
    shared = 0
    overlap = np.zeros(len(pairs))
    for position, (mine, theirs) in enumerate(pairs):
        first.add(mine)
        shared += mine in second
        shared += theirs in first
        second.add(theirs)
        overlap[position] = shared / (position + 1)
    return overlap
