"""Prints a comparison as tables; in a pipe, as plain text without colours or frames."""

from __future__ import annotations

import math
from typing import TextIO

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from crawlproject.evaluation.comparison import LEVEL, OMNISCIENT, Comparison
from crawlproject.evaluation.runs import Checkpoint, equation, in_words, short
from crawlproject.reports.console import console_for, framed_table
from crawlproject.reports.html import percent
from crawlproject.reports.verdict import (
    heading,
    interval_text,
    method,
    remarks,
    short_p,
    summary_cells,
    summary_headings,
    verdict,
)

_PIPE_WIDTH = 240  # columns, so that lines do not wrap in a pipe


def print_comparison(comparison: Comparison, stream: TextIO) -> None:
    """Print means, significance and remarks."""
    console = console_for(stream, _PIPE_WIDTH)
    console.print(heading(comparison), style="bold")
    _print_whole(_means(comparison, stream), console)
    console.print(f"\nBy every measure after {in_words(comparison.final)}", style="bold")
    _print_whole(_summaries(comparison, stream), console)
    if comparison.testable:
        for last in comparison.finals:
            console.print(f"\nSignificance at {equation(last)}: {method(comparison)}", style="bold")
            _print_whole(_steps(comparison, last, stream), console)
            console.print()
            _print_whole(_duels(comparison, last, stream), console)
        console.print(f"* significant: p < {LEVEL:g}", style="dim")
    console.print()
    for point in comparison.checkpoints:
        console.print(f"{equation(point)}: {verdict(comparison, point)}", markup=False)
    for note in remarks(comparison):
        console.print(f"Note: {note}", style="dim", markup=False)


def _print_whole(table: Table, console: Console) -> None:
    """Print a table without cutting any cell: on a terminal that is too narrow, its lines wrap."""
    width = console.width
    wanted = Measurement.get(console, console.options.update(width=_PIPE_WIDTH), table).maximum
    console.width = max(width, wanted)
    console.print(table)
    console.width = width


def _means(comparison: Comparison, stream: TextIO) -> Table:
    table = framed_table(stream)
    table.add_column("", justify="right")
    table.add_column("ordering", no_wrap=True)
    for point in comparison.checkpoints:
        table.add_column(short(point), justify="right")
    shares = comparison.shares()
    if shares:
        table.add_column("share", justify="right", no_wrap=True)
    rank = 0
    for row, name in enumerate(comparison.orderings):
        rank += name != OMNISCIENT
        cells = [_cell(comparison, row, point) for point in comparison.checkpoints]
        share = [percent(shares.get(name))] if shares else []
        table.add_row("*" if name == OMNISCIENT else str(rank), name, *cells, *share)
    return table


def _summaries(comparison: Comparison, stream: TextIO) -> Table:
    """Return a table of every measure of each ordering at the final checkpoint."""
    table = framed_table(stream)
    table.add_column("ordering", no_wrap=True)
    for name in summary_headings(comparison):
        table.add_column(name, justify="right", no_wrap=True)
    for row, name in enumerate(comparison.orderings):
        table.add_row(name, *summary_cells(comparison, row))
    return table


def _steps(comparison: Comparison, point: Checkpoint, stream: TextIO) -> Table:
    """Return a table of each contender against the next one, which is given by its rank to fit into 80 columns."""
    table = framed_table(stream)
    table.add_column("better", no_wrap=True)
    table.add_column("than", justify="right")
    statistic, other = ("t", "Wilcoxon") if comparison.question.test == "t" else ("W+", "t-test")
    for name in ("by", "95% interval", statistic, "p", "Holm's\np", f"{other}\np"):
        table.add_column(name, justify="right", no_wrap=True)
    for rank, duel in enumerate(comparison.steps(point), start=2):
        test = duel.test
        value = "–" if test.statistic is None else f"{test.statistic:.2f}"
        second = short_p(comparison.second_opinion(duel, point).p)
        interval = interval_text(comparison.interval(duel, point))
        numbers = [f"{test.difference:+.3f}", interval, value, short_p(test.p), short_p(duel.adjusted), second]
        table.add_row(duel.better, str(rank), *numbers)
    return table


def _duels(comparison: Comparison, point: Checkpoint, stream: TextIO) -> Table:
    """Return a table of corrected p-values: each contender (row) against the contenders ranked below it (columns)."""
    ranking = comparison.ranking(point)
    p = {(duel.better, duel.worse): duel for duel in comparison.duels[point]}
    table = framed_table(stream)
    table.add_column("", justify="right")
    table.add_column("better than →", no_wrap=True)
    for rank in range(2, len(ranking) + 1):
        table.add_column(f"{rank} ", justify="right", no_wrap=True)
    for rank, name in enumerate(ranking[:-1], start=1):
        duels = [p[name, other] for other in ranking[rank:]]
        cells = [f"{short_p(duel.adjusted)}{'*' if duel.significant else ' '}" for duel in duels]
        table.add_row(str(rank), name, *[""] * (rank - 1), *cells)
    return table


def _cell(comparison: Comparison, row: int, point: Checkpoint) -> str:
    column = comparison.at(point)
    mean, error = comparison.mean[row, column], comparison.error[row, column]
    return f"{mean:.3f}" if math.isnan(error) else f"{mean:.3f} ±{error:.3f}"
