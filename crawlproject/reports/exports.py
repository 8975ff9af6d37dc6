"""A comparison as JSON (everything) and CSV (one row per ordering, topic and number of pages)."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import orjson

from crawlproject.evaluation.comparison import Comparison, Duel
from crawlproject.reports.measure_tables import summary_columns, summary_row
from crawlproject.reports.verdict import verdict
from crawlproject.storage.append_log import write_atomically


def write_json(comparison: Comparison, path: Path) -> None:
    """Raises ``StorageFailed``."""
    document = orjson.dumps(as_document(comparison), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(path, [document], sync=False)


def write_csv(comparison: Comparison, path: Path) -> None:
    """Columns ``ordering, topic, pages, <measure>``. Raises ``StorageFailed``."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["ordering", "topic", "pages", comparison.question.measure])
    for row, ordering in enumerate(comparison.orderings):
        for column, topic in enumerate(comparison.topics):
            for pages in comparison.checkpoints:
                rows.writerow([ordering, topic, pages, f"{comparison.values[row, column, comparison.at(pages)]:.6f}"])
    write_atomically(path, [text.getvalue().encode("utf-8", "replace")], sync=False)


def as_document(comparison: Comparison) -> dict[str, Any]:
    """Means, standard errors, values by topic, shares, summaries and tests, keyed by names."""
    shares = comparison.shares()
    last = comparison.checkpoints[-1]
    return {
        "measure": comparison.question.measure,
        "importance": comparison.question.importance,
        "test": comparison.question.test,
        "topics": list(comparison.topics),
        "left_out": dict(comparison.left_out),
        "checkpoints": list(comparison.checkpoints),
        "orderings": {
            name: {
                "mean": _at_checkpoints(comparison, comparison.mean[row]),
                "standard_error": _at_checkpoints(comparison, comparison.error[row]),
                "by_topic": {
                    topic: _at_checkpoints(comparison, comparison.values[row, column])
                    for column, topic in enumerate(comparison.topics)
                },
                "omniscient_share": shares.get(name),
                "summary": dict(zip(summary_columns(comparison), summary_row(comparison, row), strict=True)),
            }
            for row, name in enumerate(comparison.orderings)
        },
        "tests": {str(pages): [_duel(duel) for duel in comparison.duels[pages]] for pages in comparison.checkpoints},
        "steps": [_step(comparison, duel) for duel in comparison.steps(last)] if comparison.testable else [],
        "verdicts": {str(pages): verdict(comparison, pages) for pages in comparison.checkpoints},
    }


def _at_checkpoints(comparison: Comparison, values: Any) -> dict[str, float | None]:
    chosen = {pages: float(values[comparison.at(pages)]) for pages in comparison.checkpoints}
    return {str(pages): None if math.isnan(value) else value for pages, value in chosen.items()}


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


def _step(comparison: Comparison, duel: Duel) -> dict[str, Any]:
    """An ordering against the next one at the last checkpoint, with what is not computed for every pair."""
    last = comparison.checkpoints[-1]
    second = comparison.second_opinion(duel, last)
    return {**_duel(duel), "interval": comparison.interval(duel, last), "p_other_test": second.p}
