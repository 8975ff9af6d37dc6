"""``compare.html``: trajectories with error bars, significance, and the results of each topic."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crawlproject.evaluation.checkpoint import Checkpoint, Elapsed, in_words, short
from crawlproject.evaluation.comparison import LEVEL, OMNISCIENT, Comparison, Duel
from crawlproject.evaluation.question import MEASURES
from crawlproject.evaluation.significance import PairedTest
from crawlproject.reports import html, verdict
from crawlproject.reports.measure_tables import summary_cells, summary_headings
from crawlproject.reports.plots import Axis, Chart, Series, line_chart
from crawlproject.storage.crawl_files import SIGNS, replace_signed

COMPARISON = "compare.html"
_BARS = 10  # error bars of a trajectory


def write_comparison(comparison: Comparison, folder: Path) -> Path:
    """Write ``compare.html`` into ``folder`` and return its path. Raises ``BadInput`` and ``StorageFailed``."""
    page = html.render(
        "compare.html.j2",
        comparison=comparison,
        measure=MEASURES[comparison.question.measure],
        heading=verdict.heading(comparison),
        method=verdict.method(comparison),
        remarks=verdict.remarks(comparison),
        verdicts=[(in_words(point), verdict.verdict(comparison, point)) for point in comparison.checkpoints],
        columns=[short(point) for point in comparison.checkpoints],
        final=in_words(comparison.final),
        shares=comparison.shares(),
        level=LEVEL,
        means=[(name, _means(comparison, row)) for row, name in enumerate(comparison.orderings)],
        tests=[(in_words(last), _steps(comparison, last), _matrix(comparison, last)) for last in comparison.finals],
        headings=summary_headings(comparison),
        summaries=[(name, summary_cells(comparison, row)) for row, name in enumerate(comparison.orderings)],
        by_topic=_by_topic(comparison),
        charts=[trajectories(comparison, last) for last in comparison.finals],
    )
    path = folder / COMPARISON
    replace_signed(path, page, (*SIGNS, b"<title>Orderings compared"))
    return path


def trajectories(comparison: Comparison, last: Checkpoint) -> Chart:
    """Mean over topics against pages crawled, or against time, whichever ``last`` is.

    Bars of ± one standard error, as in paper 003 Figure 4.
    """
    by_time = isinstance(last, Elapsed)
    columns = [column for column, point in enumerate(comparison.points) if isinstance(point, Elapsed) == by_time]
    places = [_place(comparison.points[column]) for column in columns]
    mean, error = comparison.mean[:, columns], comparison.error[:, columns]
    series = [
        Series(name, places, mean[row].tolist(), _thinned(error[row], row))
        for row, name in enumerate(comparison.orderings)
    ]
    top = float(np.nanmax(mean + np.nan_to_num(error)))
    x = Axis("seconds" if by_time else "pages crawled", 0.0, places[-1])
    ceiling = min(1.0, top * 1.05) if top <= 1 else top * 1.05  # importance measures such as back-link counts exceed 1
    y = Axis(MEASURES[comparison.question.measure], 0.0, ceiling or 1.0)
    return line_chart(verdict.heading(comparison), series, x, y)


def _place(point: Checkpoint) -> float:
    """Where a point lies on its axis."""
    return point.seconds if isinstance(point, Elapsed) else float(point)


def _thinned(error: np.ndarray, row: int) -> list[float]:
    """Some of the error bars, at different points for each ordering so that they do not overlap."""
    step = max(1, len(error) // _BARS)
    shown = np.arange(len(error)) % step == (step - 1 - row) % step
    return np.where(shown, error, np.nan).tolist()


def _means(comparison: Comparison, row: int) -> list[tuple[float, float]]:
    points = [comparison.at(point) for point in comparison.checkpoints]
    return [(float(comparison.mean[row, point]), float(comparison.error[row, point])) for point in points]


def _steps(comparison: Comparison, last: Checkpoint) -> list[tuple[Duel, str, PairedTest]]:
    """For each neighbouring pair of the ranking at a checkpoint: duel, interval of its difference, and the other test."""
    return [
        (duel, verdict.interval_text(comparison.interval(duel, last)), comparison.second_opinion(duel, last))
        for duel in comparison.steps(last)
    ]


def _matrix(comparison: Comparison, last: Checkpoint) -> list[tuple[str, list[tuple[str, bool] | None]]]:
    """Rows of the table of corrected p-values at a checkpoint, with None on the diagonal."""
    duels = {(duel.better, duel.worse): duel for duel in comparison.duels[last]}
    ranking = comparison.ranking(last)
    rows: list[tuple[str, list[tuple[str, bool] | None]]] = []
    for better in ranking:
        found = [duels.get((better, worse)) for worse in ranking]
        rows.append((better, [None if d is None else (verdict.short_p(d.adjusted), d.significant) for d in found]))
    return rows


def _by_topic(comparison: Comparison) -> list[tuple[str, list[tuple[float, bool]]]]:
    """Per topic: the value of each ordering at the final checkpoint, and whether it is the best contender."""
    results = comparison.values[:, :, comparison.at(comparison.final)]
    contends = np.array([name != OMNISCIENT for name in comparison.orderings])
    best = np.where(contends[:, None], results, -np.inf).max(axis=0)
    return [
        (topic, [(float(value), bool(ok and value == top)) for value, ok in zip(column, contends, strict=True)])
        for topic, column, top in zip(comparison.topics, results.T, best, strict=True)
    ]
