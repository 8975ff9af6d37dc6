"""Writes a comparison as JSON (everything), as CSV (one row per ordering, topic and checkpoint), and its chart as SVG."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import orjson
from markupsafe import Markup

from crawlproject.evaluation.checkpoint import Elapsed
from crawlproject.evaluation.comparison import Comparison, Duel
from crawlproject.reports.html import render
from crawlproject.reports.measure_tables import summary_columns, summary_row
from crawlproject.reports.plots import HEIGHT, WIDTH, Chart
from crawlproject.reports.verdict import verdict
from crawlproject.storage.append_log import write_atomically

_HEADING, _ROW = 24, 18  # heights in units of the drawing
_MARK, _LETTER = 44, 6.5  # widths of a legend mark and of a letter, in units of the drawing


def write_json(comparison: Comparison, path: Path) -> None:
    """Write all results as one JSON object. Raises ``StorageFailed``."""
    document = orjson.dumps(as_document(comparison), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(path, [document], sync=False)


def write_csv(comparison: Comparison, path: Path) -> None:
    """Write the columns ``ordering, topic, pages, seconds, <measure>``; of pages and seconds one is empty.

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
    """Means, standard errors, values by topic, shares, summaries and tests, keyed by names.

    A checkpoint is its number of pages, or its seconds as in ``"60s"``.
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
        "steps": _steps(comparison) if comparison.testable else [],
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


def _steps(comparison: Comparison) -> list[dict[str, Any]]:
    """Each ordering against the next one at the last checkpoints, with the results that are not computed for every pair."""
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
