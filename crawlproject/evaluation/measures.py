"""Measures of crawl quality over the pages of a crawl, in crawl order.

Most measures are *curves*: element ``i`` is the value after ``i + 1`` pages; ``value_at`` reads the value at N pages.
Relevance is a number from 0 to 1 per page, from any judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Curve = npt.NDArray[np.float64]


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

    URLs are canonical. ``redirects`` maps a URL to where it redirects: a target counts as its final URL, so two targets
    with one destination are one. All zero when there are no targets.
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
    """The value after ``pages`` pages; a shorter crawl keeps its last value; 0 before the first page."""
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
    """The mean value of a curve over the first ``seconds``; ``times[i]`` is when page ``i`` came, in seconds from the start.

    The value is 0 before the first page, and stays until the next one.
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
    """Merge the redirects seen by several crawls of one web; the first crawl wins."""
    merged: dict[str, str] = {}
    for redirects in several:
        for source, target in redirects.items():
            merged.setdefault(source, target)
    return merged
