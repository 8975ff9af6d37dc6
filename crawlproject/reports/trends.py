"""The charts of a report: the course of a crawl."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlproject.evaluation.measures import Curve, harvest_rate, precision, values_at, windowed_relevance
from crawlproject.reports.plots import Axis, Chart, Series, line_chart, scatter_chart

_POINTS = 240  # points of a line
_DOTS = 400  # dots of a scatter chart
_GROUPS = 10  # groups of pages with similar scores


def window_of(pages: int) -> int:
    """The window of a moving average in pages: a tenth of the crawl, between 10 and 100."""
    return max(10, min(100, pages // 10))


def harvest_chart(relevance: Curve, threshold: float) -> Chart:
    """Share of relevant pages, cumulative and in a moving window (paper 000 section 4.2)."""
    window = window_of(len(relevance))
    latest = windowed_relevance((relevance >= threshold).astype(np.float64), window)
    return _progress_chart("Harvest rate over the crawl", harvest_rate(relevance, threshold), latest, window, 1.0)


def relevance_chart(relevance: Curve) -> Chart:
    """Mean relevance, cumulative and in a moving window (paper 000 section 4.2)."""
    window = window_of(len(relevance))
    latest = windowed_relevance(relevance, window)
    return _progress_chart("Mean relevance over the crawl", precision(relevance), latest, window)


def recall_chart(recall: Curve) -> Chart:
    """Share of the targets found (paper 003 eq. 4)."""
    points = sample_points(len(recall))
    line = Series("targets found", points, values_at(recall, points).tolist())
    return line_chart("Target recall over the crawl", [line], _pages_axis(len(recall)), Axis("share", 0.0, 1.0))


def score_chart(scores: Curve, relevance: Curve) -> Chart | None:
    """Relevance of pages against their scores; None when all scores are equal.

    Seeds have no score (NaN). The axis leaves out the lowest and the highest 1 % of the scores.
    """
    scored = ~np.isnan(scores)
    x, y = scores[scored], relevance[scored]
    if len(x) < 2 or np.ptp(x) == 0:
        return None
    low, high = np.percentile(x, [1, 99])
    if low == high:
        low, high = x.min(), x.max()
    axis = Axis("score before the fetch", float(low), float(high))
    shown = np.linspace(0, len(x) - 1, min(len(x), _DOTS), dtype=int)
    dots = list(zip(x[shown].tolist(), y[shown].tolist(), strict=True))
    height = Axis("relevance", 0.0, _ceiling(y[shown]))
    return scatter_chart("Relevance against score", dots, _group_means(x, y), axis, height)


def sample_points(pages: int) -> list[int]:
    """Numbers of pages at which a line is sampled."""
    return sorted(set(np.linspace(1, pages, min(pages, _POINTS), dtype=int).tolist())) if pages else []


def _progress_chart(title: str, so_far: Curve, latest: Curve, window: int, top: float | None = None) -> Chart:
    points = sample_points(len(so_far))
    whole, recent = values_at(so_far, points), values_at(latest, points)
    lines = [
        Series(f"latest {window} pages", points, recent.tolist()),
        Series("all pages so far", points, whole.tolist()),
    ]
    height = Axis("share" if top else "relevance", 0.0, top or _ceiling(np.concatenate((whole, recent))))
    return line_chart(title, lines, _pages_axis(len(so_far)), height)


def _group_means(scores: Curve, relevance: Curve) -> Series:
    """Mean relevance of each tenth of the pages by score; pages with equal scores stay in one group."""
    edges = np.unique(np.quantile(scores, np.linspace(0, 1, _GROUPS + 1)[1:-1]))
    groups = np.searchsorted(edges, scores, side="left")
    present = np.unique(groups)
    x = [float(scores[groups == group].mean()) for group in present]
    y = [float(relevance[groups == group].mean()) for group in present]
    return Series("mean of a tenth of the pages", x, y)


def _pages_axis(pages: int) -> Axis:
    return Axis("pages crawled", 0.0, float(pages))


def _ceiling(values: npt.NDArray[np.float64]) -> float:
    """A round top for an axis that starts at 0."""
    top = float(values.max(initial=0.0))
    return next((limit for limit in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8) if top <= limit), 1.0)
