"""Charts as inline SVG, without scripts or image files, with colours from the page's style sheet (light and dark); and the
charts of a report, which show the course of a crawl.

Series differ in colour (Okabe and Ito's palette, safe for colour-blind readers) and in dash pattern. The only text in a
chart that may come from outside is the name of a series, which is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from crawlproject.evaluation.measures import Curve, harvest_rate, precision, values_at, windowed_relevance

STYLES = 6  # colours in the style sheet: classes c0 to c5
DASHES = 5  # dash patterns in the style sheet: d0 (solid) to d4
WIDTH, HEIGHT = 480, 270

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 22, 26, 40
_POINTS = 240  # points of a line
_DOTS = 400  # dots of a scatter chart
_SHORTEST = 1e-300  # between two ticks: a power of ten may be 0 below that
_GROUPS = 10  # groups of pages with similar scores


@dataclass(frozen=True, slots=True)
class Series:
    """A line; ``error`` is half the height of an error bar, drawn where it is given and not NaN."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis from ``low`` to ``high`` with a label."""

    label: str
    low: float
    high: float

    def ticks(self, about: int = 5) -> list[float]:
        """Return round numbers within the axis, roughly ``about`` of them."""
        raw = (self.high - self.low) / about
        if not _SHORTEST < raw < math.inf:
            return [self.low]
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [index * step for index in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing and its legend: pairs of style class and name."""

    svg: Markup
    legend: tuple[tuple[str, str], ...] = field(default=())


def line_chart(title: str, series: Sequence[Series], x: Axis, y: Axis) -> Chart:
    """Draw lines with optional error bars. ``title`` is for screen readers."""
    body = [_error_bars(line, style, x, y) for style, line in enumerate(series)]
    body += [_polyline(line, style, x, y) for style, line in enumerate(series)]
    legend = tuple((style_class(style), line.name) for style, line in enumerate(series))
    return Chart(_frame(title, x, y, body), legend)


def scatter_chart(title: str, points: Sequence[tuple[float, float]], trend: Series, x: Axis, y: Axis) -> Chart:
    """Draw dots, and a trend line with markers."""
    dots = "".join(f'<circle cx="{_px(x, a):.1f}" cy="{_py(y, b):.1f}" r="2.2"/>' for a, b in points)
    marks = "".join(
        f'<circle cx="{_px(x, a):.1f}" cy="{_py(y, b):.1f}" r="3.5"/>' for a, b in zip(trend.x, trend.y, strict=True)
    )
    body = [f'<g class="dots">{dots}</g>', _polyline(trend, 1, x, y), f'<g class="marks c1">{marks}</g>']
    return Chart(_frame(title, x, y, body), (("c0 dot", "a page"), (style_class(1), trend.name)))


def style_class(index: int) -> str:
    """Return the classes of the style sheet for the series at ``index``."""
    return f"c{index % STYLES} d{index % DASHES}"


def tidy(number: float) -> str:
    """Return a number as an axis label: no more digits than needed, with thousands separators."""
    if number and (abs(number) >= 1e7 or abs(number) < 1e-4):
        return f"{number:.0e}"
    text = f"{number:,.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _px(axis: Axis, value: float) -> float:
    span = (axis.high - axis.low) or 1.0
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * (min(max(value, axis.low), axis.high) - axis.low) / span


def _py(axis: Axis, value: float) -> float:
    span = (axis.high - axis.low) or 1.0
    return HEIGHT - _BOTTOM - (HEIGHT - _BOTTOM - _TOP) * (min(max(value, axis.low), axis.high) - axis.low) / span


def _polyline(line: Series, style: int, x: Axis, y: Axis) -> str:
    points = " ".join(f"{_px(x, a):.1f},{_py(y, b):.1f}" for a, b in zip(line.x, line.y, strict=True))
    name = Markup.escape(line.name)
    return f'<polyline class="line {style_class(style)}" points="{points}"><title>{name}</title></polyline>'


def _error_bars(line: Series, style: int, x: Axis, y: Axis) -> str:
    bars = []
    for a, b, half in zip(line.x, line.y, line.error, strict=False):
        if not math.isnan(half):
            place, top, bottom = _px(x, a), _py(y, b + half), _py(y, b - half)
            bars.append(
                f"M{place:.1f} {top:.1f}V{bottom:.1f}M{place - 3:.1f} {top:.1f}h6M{place - 3:.1f} {bottom:.1f}h6"
            )
    return f'<path class="bar {style_class(style)}" d="{"".join(bars)}"/>' if bars else ""


def _frame(title: str, x: Axis, y: Axis, body: Sequence[str]) -> Markup:
    """Draw axes, grid and labels around the drawing."""
    floor = HEIGHT - _BOTTOM
    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{Markup.escape(title)}</title>']
    for tick in y.ticks():
        at = _py(y, tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tidy(tick)}</text>')
    parts += [
        f'<text x="{_px(x, tick):.1f}" y="{floor + 16}" text-anchor="middle">{tidy(tick)}</text>' for tick in x.ticks()
    ]
    parts.append(f'<text x="4" y="12">{Markup.escape(y.label)}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{floor}" y2="{floor}"/>')
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{Markup.escape(x.label)}</text>')
    return Markup("".join([*parts, *body, "</svg>"]))


def window_of(pages: int) -> int:
    """Return the window of a moving average in pages: a tenth of the crawl, between 10 and 100."""
    return max(10, min(100, pages // 10))


def harvest_chart(relevance: Curve, threshold: float) -> Chart:
    """Chart the share of relevant pages, cumulative and in a moving window (paper 000 section 4.2)."""
    window = window_of(len(relevance))
    latest = windowed_relevance((relevance >= threshold).astype(np.float64), window)
    return _progress_chart("Harvest rate over the crawl", harvest_rate(relevance, threshold), latest, window, 1.0)


def relevance_chart(relevance: Curve) -> Chart:
    """Chart the mean relevance, cumulative and in a moving window (paper 000 section 4.2)."""
    window = window_of(len(relevance))
    latest = windowed_relevance(relevance, window)
    return _progress_chart("Mean relevance over the crawl", precision(relevance), latest, window)


def recall_chart(recall: Curve) -> Chart:
    """Chart the share of the targets found (paper 003 eq. 4)."""
    points = sample_points(len(recall))
    line = Series("targets found", points, values_at(recall, points).tolist())
    return line_chart("Target recall over the crawl", [line], _pages_axis(len(recall)), Axis("share", 0.0, 1.0))


def score_chart(scores: Curve, relevance: Curve) -> Chart | None:
    """Chart the relevance of pages against their scores; None if all scores are equal.

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
    """Return the numbers of pages at which a line is sampled."""
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
    """Return the mean relevance of each tenth of the pages by score; pages with equal scores stay in one group."""
    edges = np.unique(np.quantile(scores, np.linspace(0, 1, _GROUPS + 1)[1:-1]))
    groups = np.searchsorted(edges, scores, side="left")
    present = np.unique(groups)
    x = [float(scores[groups == group].mean()) for group in present]
    y = [float(relevance[groups == group].mean()) for group in present]
    return Series("mean of a tenth of the pages", x, y)


def _pages_axis(pages: int) -> Axis:
    return Axis("pages crawled", 0.0, float(pages))


def _ceiling(values: npt.NDArray[np.float64]) -> float:
    """Return a round upper end for an axis that starts at 0."""
    top = float(values.max(initial=0.0))
    return next((limit for limit in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8) if top <= limit), 1.0)
