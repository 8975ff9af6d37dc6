"""Writes a comparison to files: ``compare.html``, JSON (everything), CSV (one row per ordering, topic and checkpoint), and
its chart as SVG.

The page shows trajectories with error bars, significance, and the results of each topic.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from markupsafe import Markup

from crawlproject.evaluation.comparison import LEVEL, OMNISCIENT, Comparison, Duel
from crawlproject.evaluation.question import MEASURES
from crawlproject.evaluation.runs import Checkpoint, Elapsed, in_words, short
from crawlproject.evaluation.significance import PairedTest
from crawlproject.reports import html
from crawlproject.reports.html import render
from crawlproject.reports.plots import HEIGHT, WIDTH, Axis, Chart, Series, line_chart
from crawlproject.reports.verdict import (
    heading,
    interval_text,
    method,
    remarks,
    short_p,
    summary_cells,
    summary_columns,
    summary_headings,
    summary_row,
    verdict,
)
from crawlproject.storage.append_log import write_atomically
from crawlproject.storage.crawl_files import SIGNS, replace_signed

COMPARISON = "compare.html"

_BARS = 10  # error bars of a trajectory
_HEADING, _ROW = 24, 18  # heights in units of the drawing
_MARK, _LETTER = 44, 6.5  # widths of a legend mark and of a letter, in units of the drawing


def write_comparison(comparison: Comparison, folder: Path) -> Path:
    """Write ``compare.html`` into ``folder`` and return its path. Raises ``BadInput`` and ``StorageFailed``."""
    page = html.render(
        "compare.html.j2",
        comparison=comparison,
        measure=MEASURES[comparison.question.measure],
        heading=heading(comparison),
        method=method(comparison),
        remarks=remarks(comparison),
        verdicts=[(in_words(point), verdict(comparison, point)) for point in comparison.checkpoints],
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
    """Chart the mean over topics against pages crawled, or against time if ``last`` is a time.

    Error bars are ± one standard error, as in paper 003 Figure 4.
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
    return line_chart(heading(comparison), series, x, y)


def _place(point: Checkpoint) -> float:
    """Return the position of a checkpoint on its axis."""
    return point.seconds if isinstance(point, Elapsed) else float(point)


def _thinned(error: np.ndarray, row: int) -> list[float]:
    """Return some of the error bars, at different points for each ordering so that they do not overlap."""
    step = max(1, len(error) // _BARS)
    shown = np.arange(len(error)) % step == (step - 1 - row) % step
    return np.where(shown, error, np.nan).tolist()


def _means(comparison: Comparison, row: int) -> list[tuple[float, float]]:
    points = [comparison.at(point) for point in comparison.checkpoints]
    return [(float(comparison.mean[row, point]), float(comparison.error[row, point])) for point in points]


def _steps(comparison: Comparison, last: Checkpoint) -> list[tuple[Duel, str, PairedTest]]:
    """Return for each pair of neighbours in the ranking: duel, confidence interval of the difference, and the other test."""
    return [
        (duel, interval_text(comparison.interval(duel, last)), comparison.second_opinion(duel, last))
        for duel in comparison.steps(last)
    ]


def _matrix(comparison: Comparison, last: Checkpoint) -> list[tuple[str, list[tuple[str, bool] | None]]]:
    """Return the rows of the table of corrected p-values at a checkpoint, with None on the diagonal."""
    duels = {(duel.better, duel.worse): duel for duel in comparison.duels[last]}
    ranking = comparison.ranking(last)
    rows: list[tuple[str, list[tuple[str, bool] | None]]] = []
    for better in ranking:
        found = [duels.get((better, worse)) for worse in ranking]
        rows.append((better, [None if d is None else (short_p(d.adjusted), d.significant) for d in found]))
    return rows


def _by_topic(comparison: Comparison) -> list[tuple[str, list[tuple[float, bool]]]]:
    """Return, per topic, the value of each ordering at the final checkpoint, and whether it is the best contender."""
    results = comparison.values[:, :, comparison.at(comparison.final)]
    contends = np.array([name != OMNISCIENT for name in comparison.orderings])
    best = np.where(contends[:, None], results, -np.inf).max(axis=0)
    return [
        (topic, [(float(value), bool(ok and value == top)) for value, ok in zip(column, contends, strict=True)])
        for topic, column, top in zip(comparison.topics, results.T, best, strict=True)
    ]


def write_json(comparison: Comparison, path: Path) -> None:
    """Write all results as one JSON object. Raises ``StorageFailed``."""
    document = orjson.dumps(as_document(comparison), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(path, [document], sync=False)


def write_csv(comparison: Comparison, path: Path) -> None:
    """Write the columns ``ordering, topic, pages, seconds, <measure>``; either pages or seconds is empty.

    Raises ``StorageFailed``.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["ordering", "topic", "pages", "seconds", comparison.question.measure])
    for row, ordering in enumerate(comparison.orderings):
        for column, topic in enumerate(comparison.topics):
            for point in comparison.checkpoints:
                when = ("", f"{point.seconds:g}") if isinstance(point, Elapsed) else (point, "")
                rows.writerow([ordering, topic, *when, f"{comparison.values[row, column, comparison.at(point)]:.6f}"])
    write_atomically(path, [text.getvalue().encode("utf-8", "replace")], sync=False)


def write_svg(heading: str, chart: Chart, path: Path) -> None:
    """Write a chart below ``heading``, with its legend below it. Raises ``StorageFailed``."""
    top = _HEADING + HEIGHT + _ROW // 2
    widest = max((len(name) for _, name in chart.legend), default=0)
    columns = max(1, min(3, int(WIDTH // (_MARK + _LETTER * widest))))
    legend = [
        (style, name, 10 + number % columns * (WIDTH // columns), top + number // columns * _ROW)
        for number, (style, name) in enumerate(chart.legend)
    ]
    placed = chart.svg.replace("<svg ", Markup(f'<svg y="{_HEADING}" width="{WIDTH}" height="{HEIGHT}" '), 1)
    bottom = max((y for *_, y in legend), default=top - _ROW) + _ROW
    figure = render("figure.svg.j2", width=WIDTH, height=bottom, heading=heading, drawing=Markup(placed), legend=legend)
    write_atomically(path, [figure], sync=False)


def as_document(comparison: Comparison) -> dict[str, Any]:
    """Return means, standard errors, values by topic, shares, summaries and tests, keyed by names.

    A checkpoint is given as its number of pages, or its seconds as in ``"60s"``.
    """
    shares = comparison.shares()
    return {
        "measure": comparison.question.measure,
        "importance": comparison.question.importance,
        "test": comparison.question.test,
        "topics": list(comparison.topics),
        "left_out": dict(comparison.left_out),
        "checkpoints": [point if isinstance(point, int) else str(point) for point in comparison.checkpoints],
        "orderings": {
            name: {
                "mean": _at_checkpoints(comparison, comparison.mean[row]),
                "standard_error": _at_checkpoints(comparison, comparison.error[row]),
                "by_topic": {
                    topic: _at_checkpoints(comparison, comparison.values[row, column])
                    for column, topic in enumerate(comparison.topics)
                },
                "omniscient_share": shares.get(name),
                "robustness": {f"{share:g}": mean for share, (mean, _) in comparison.robust(row).items()},
                "summary": dict(zip(summary_columns(comparison), summary_row(comparison, row), strict=True)),
            }
            for row, name in enumerate(comparison.orderings)
        },
        "tests": {str(point): [_duel(duel) for duel in comparison.duels[point]] for point in comparison.checkpoints},
        "steps": _duels(comparison) if comparison.testable else [],
        "verdicts": {str(point): verdict(comparison, point) for point in comparison.checkpoints},
    }


def _at_checkpoints(comparison: Comparison, values: Any) -> dict[str, float | None]:
    chosen = {point: float(values[comparison.at(point)]) for point in comparison.checkpoints}
    return {str(point): None if math.isnan(value) else value for point, value in chosen.items()}


def _duel(duel: Duel) -> dict[str, Any]:
    return {
        "better": duel.better,
        "worse": duel.worse,
        "difference": duel.test.difference,
        "statistic": duel.test.statistic,
        "p": duel.test.p,
        "p_holm": duel.adjusted,
        "why": duel.test.why,
    }


def _duels(comparison: Comparison) -> list[dict[str, Any]]:
    """Return each ordering against the next one at the last checkpoints, with results that are not computed for other pairs."""
    return [
        {
            "at": str(last),
            **_duel(duel),
            "interval": comparison.interval(duel, last),
            "p_other_test": comparison.second_opinion(duel, last).p,
        }
        for last in comparison.finals
        for duel in comparison.steps(last)
    ]
