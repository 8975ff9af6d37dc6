"""Measures of crawl quality over the pages of a crawl, in crawl order: for a single crawl, and against the pool.

Most measures are *curves*: element ``i`` is the value after ``i + 1`` pages; ``value_at`` reads the value at N pages.
Relevance is a number from 0 to 1 per page, from any judge. The pool consists of all pages that all crawlers fetched for a
topic, ranked by some importance: a mapping from URL to score, where higher is better.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Curve = npt.NDArray[np.float64]
Scores = Mapping[str, float]


def harvest_rate(relevance: Sequence[float] | Curve, threshold: float) -> Curve:
    """Share of the crawled pages with a relevance of at least ``threshold`` (paper 000 section 4.2, acquisition rate)."""
    return precision(np.asarray(relevance, dtype=np.float64) >= threshold)


def precision(relevance: Sequence[float] | npt.NDArray[np.generic]) -> Curve:
    """``precision@N = 1/N * sum of sim(d, p_i)`` (paper 003 eq. 1): the average relevance of the first N pages."""
    values = np.asarray(relevance, dtype=np.float64)
    return np.cumsum(values) / np.arange(1, len(values) + 1)


def windowed_relevance(relevance: Sequence[float] | Curve, window: int = 50) -> Curve:
    """Mean relevance of the last ``window`` pages (paper 000 section 4.2), or of all pages while there are fewer."""
    values = np.asarray(relevance, dtype=np.float64)
    total = np.concatenate(([0.0], np.cumsum(values)))
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - window, 0)
    return (total[last] - total[first]) / (last - first)


def target_recall(pages: Sequence[str], targets: Collection[str], redirects: Mapping[str, str] | None = None) -> Curve:
    """``target recall@N = |T ∩ C_N| / |T|`` (paper 003 eq. 4).

    URLs are canonical. ``redirects`` maps a URL to its redirect target: a target counts as its final URL, so two targets
    with one destination count once. All zero when there are no targets.
    """
    wanted = {final_url(target, redirects or {}) for target in targets}
    found = np.zeros(len(pages))
    missing = set(wanted)
    for position, page in enumerate(pages):
        if page in missing:
            missing.discard(page)
            found[position] = 1
    return np.cumsum(found) / max(1, len(wanted))


def final_url(url: str, redirects: Mapping[str, str]) -> str:
    """The end of a chain of redirects; for a loop, its alphabetically first URL."""
    path = [url]
    while (url := redirects.get(url, "")) and url not in path:
        path.append(url)
    return min(path[path.index(url) :]) if url else path[-1]


def value_at(curve: Curve, pages: int) -> float:
    """The value after ``pages`` pages. A shorter crawl keeps its last value; before the first page the value is 0."""
    return float(curve[min(pages, len(curve)) - 1]) if len(curve) and pages > 0 else 0.0


def values_at(curve: Curve, points: Sequence[int]) -> Curve:
    """``value_at`` for several points."""
    return np.array([value_at(curve, pages) for pages in points], dtype=np.float64)


def search_length(recall: Curve, share: float) -> int | None:
    """Pages crawled until ``share`` of the targets are found (paper 000 section 4.2); None if they never are."""
    reached = np.flatnonzero(recall >= share - 1e-12)
    return int(reached[0]) + 1 if len(reached) else None


def area_under(curve: Curve, pages: int) -> float:
    """Area under a curve over the first ``pages`` pages, divided by ``pages``: the mean of its values, 0 to 1.

    A shorter crawl keeps its last value to the end.
    """
    if not len(curve):
        return 0.0
    missing = max(0, pages - len(curve))
    return float((curve[:pages].sum() + missing * curve[-1]) / pages)


def area_over_time(curve: Curve, times: Curve, seconds: float) -> float:
    """The mean value of a curve over the first ``seconds``; ``times[i]`` is the time of page ``i``.

    Times are seconds after the start. The value is 0 before the first page, and constant between two pages.
    """
    rises = np.diff(curve, prepend=0.0)
    return float((rises * np.clip(seconds - times, 0.0, None)).sum() / seconds)


def omniscient_share(area: float, random: float, omniscient: float) -> float | None:
    """``(A - A_random) / (A_omniscient - A_random)``: 0 is no better than random, 1 is the best possible order.

    None when the omniscient crawl is no better than the random one.
    """
    room = omniscient - random
    return (area - random) / room if room > 1e-12 else None


def merge_redirects(several: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Merge the redirects seen by several crawls of one web; the first crawl takes precedence."""
    merged: dict[str, str] = {}
    for redirects in several:
        for source, target in redirects.items():
            merged.setdefault(source, target)
    return merged


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
    """``mean_rank`` scaled so that higher is better: 1 for the best page alone, 0 for the worst alone, 0.5 for chance."""
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

    Element ``i`` is the share of the first ``i + 1`` pages of each crawl that are among those of the other. The curve is as
    long as the shorter crawl. A page counts once.
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
