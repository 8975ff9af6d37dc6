"""The table of a comparison that shows every measure, not only the one asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crawlproject.evaluation.comparison import Comparison

HEADINGS = {
    "recall": "recall",
    "harvest": "harvest",
    "precision": "precision",
    "relevance": "latest",
    "coverage": "coverage",
    "top": "top",
    "rank": "rank",
    "clicks": "clicks",
    "ndcg": "NDCG",
    "half": "half",
}


def summary_columns(comparison: Comparison) -> list[str]:
    """The measures that have values, in the order of ``HEADINGS``; ``half`` is the search length."""
    known = {*comparison.others, *(() if np.isnan(comparison.half).any() else ("half",))}
    return [name for name in HEADINGS if name in known]


def summary_row(comparison: Comparison, row: int) -> list[float | None]:
    """The mean over topics of each measure, for ``half`` the median; None when half of the targets were never found."""
    return [_summary(comparison, row, name) for name in summary_columns(comparison)]


def summary_cells(comparison: Comparison, row: int) -> list[str]:
    """The row as text."""
    return [
        _text(name, value)
        for name, value in zip(summary_columns(comparison), summary_row(comparison, row), strict=True)
    ]


def summary_headings(comparison: Comparison) -> Sequence[str]:
    return [HEADINGS[name] for name in summary_columns(comparison)]


def _summary(comparison: Comparison, row: int, name: str) -> float | None:
    if name == "half":
        median = float(np.median(comparison.half[row]))
        return median if np.isfinite(median) else None
    return float(comparison.others[name][row].mean())


def _text(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if name == "half" else f"{value:.3f}"
