"""Quality and cost of many crawlers, each figure also as a ratio to one of them: a table, and the same as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.table import Table

from benchmarks.cost import Cost
from crawlproject.evaluation.comparison import Comparison

REHEARSED, SOCKETS = "rehearsed", "over sockets"
NONE = "–"


@dataclass(frozen=True, slots=True)
class Entry:
    """A crawler in the table: its ``name`` in the comparison, its ``title``, its ``group`` and its cost.

    ``pages`` was its budget: its recall beyond that is unknown.
    """

    name: str
    title: str
    group: str
    cost: Cost
    pages: int


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of an entry: ``recall`` and ``error`` (of the mean) by number of pages, ``share`` of the omniscient curve."""

    entry: Entry
    recall: Mapping[int, float]
    error: Mapping[int, float]
    share: float | None


def rows_of(entries: Sequence[Entry], comparison: Comparison) -> list[Row]:
    """The entries with the comparison's figures at its checkpoints; each group is sorted by the last one, best first."""
    shares = comparison.shares()
    rows = []
    for entry in entries:
        place = comparison.orderings.index(entry.name)
        known = [pages for pages in comparison.checkpoints if pages <= entry.pages]
        recall = {pages: float(comparison.mean[place, comparison.at(pages)]) for pages in known}
        error = {pages: float(comparison.error[place, comparison.at(pages)]) for pages in known}
        whole = entry.pages >= comparison.checkpoints[-1]
        rows.append(Row(entry, recall, error, shares.get(entry.name) if whole else None))
    return sorted(rows, key=lambda row: (row.entry.group != REHEARSED, -max(row.recall, default=0), -_last(row)))


def _last(row: Row) -> float:
    return row.recall[max(row.recall)] if row.recall else 0.0


def figures(row: Row) -> dict[str, float | None]:
    """Every figure by name, as in the JSON file; None if unknown."""
    cost = row.entry.cost
    return {
        **{recall_at(pages): value for pages, value in row.recall.items()},
        "share": row.share,
        "ms_cpu_per_page": None if math.isnan(cost.ms_per_page) else cost.ms_per_page,
        "memory_mb": cost.memory_mb,
        "start_mb": cost.start_mb,
    }


def recall_at(pages: int) -> str:
    """The name of the figure for recall after ``pages`` pages."""
    return f"recall_at_{pages}"


def ratios(row: Row, base: Row | None) -> dict[str, float | None]:
    """Each figure divided by that of ``base``; None if one of them is unknown or the base's is not positive."""
    others = figures(base) if base else {}
    return {name: _ratio(value, others.get(name)) for name, value in figures(row).items()}


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None or base <= 0 else value / base


def bases(rows: Sequence[Row], name: str) -> dict[str, Row]:
    """For each group, the row of the ordering ``name``, if there is one."""
    return {row.entry.group: row for row in rows if row.entry.title in (name, f"{name}, live")}


def table(rows: Sequence[Row], budgets: Sequence[int], base: str, title: str) -> Table:
    """A line a crawler; after each figure, in parentheses, its ratio to that of ``base`` in the same group."""
    shown = Table(title=title, title_justify="left", caption=f"(ratio to {base} of the same group)", box=None)
    shown.add_column("crawler", no_wrap=True)
    for heading in [*(f"recall @{pages:,}" for pages in budgets), "share", "ms CPU/page", "MB", "MB at start"]:
        shown.add_column(heading, justify="right", no_wrap=True)
    found = bases(rows, base)
    for group in dict.fromkeys(row.entry.group for row in rows):
        shown.add_row(f"[bold]{group}[/bold]")
        for row in (row for row in rows if row.entry.group == group):
            shown.add_row(row.entry.title, *cells(row, found.get(group), budgets))
    return shown


def cells(row: Row, base: Row | None, budgets: Sequence[int]) -> list[str]:
    """The figures of a line as text, in the order of the columns."""
    values, relations = figures(row), ratios(row, base)
    shown: list[tuple[str, Callable[[float], str]]] = [
        (recall_at(pages), partial(_with_error, error=row.error.get(pages, math.nan))) for pages in budgets
    ]
    shown += [("share", "{:.1%}".format), ("ms_cpu_per_page", "{:z.1f}".format)]
    shown += [("memory_mb", "{:z.0f}".format), ("start_mb", "{:z.0f}".format)]
    return [_cell(values.get(name), relations.get(name), spell) for name, spell in shown]


def _with_error(value: float, error: float) -> str:
    return f"{value:.3f}" if math.isnan(error) else f"{value:.3f} ±{error:.3f}"


def _cell(value: float | None, relation: float | None, spell: Callable[[float], str]) -> str:
    if value is None:
        return NONE
    return spell(value) if relation is None else f"{spell(value)} ({relation:.2f})"


def document(rows: Sequence[Row], base: str) -> list[dict[str, Any]]:
    """The rows for a JSON file; the standard error of a single topic is null."""
    found = bases(rows, base)
    return [
        {
            "crawler": row.entry.title,
            "group": row.entry.group,
            "budget": row.entry.pages,
            "pages": row.entry.cost.pages,
            "figures": figures(row),
            "ratios": ratios(row, found.get(row.entry.group)),
            "standard_errors": {
                recall_at(pages): None if math.isnan(error) else error for pages, error in row.error.items()
            },
        }
        for row in rows
    ]
