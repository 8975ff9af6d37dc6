"""The table of crawlers: costs without start-up, ratios within a group, gaps where nothing is known."""

from __future__ import annotations

import json
import math
from io import StringIO

import pytest
from rich.console import Console

from benchmarks.cost import Cost, Crawled, cost_of, typical
from benchmarks.measured_process import Usage
from benchmarks.side_by_side import REHEARSED, SOCKETS, Entry, Row, document, ratios, table


def crawled(pages: int, seconds: float, megabytes: float) -> Crawled:
    return Crawled(pages, Usage(seconds, megabytes, 0))


def test_the_empty_run_is_taken_off() -> None:
    """(5 - 1) + (3 - 1) s for (201 - 1) + (101 - 1) pages: 20 ms; peaks of 150 and 130 MB are 40 above 100."""
    found = cost_of([crawled(201, 5.0, 150), crawled(101, 3.0, 130)], crawled(1, 1.0, 100))
    assert found == Cost(300, pytest.approx(20.0), 40, 100)


def test_no_pages_have_no_price() -> None:
    assert math.isnan(cost_of([crawled(0, 5.0, 150)], crawled(0, 1.0, 100)).ms_per_page)


def test_the_median_run_is_typical() -> None:
    slow, usual, fast = crawled(1, 9.0, 1), crawled(1, 2.0, 3), crawled(1, 1.0, 2)
    assert typical([slow, usual, fast]) == usual


def row(title: str, group: str, recall: dict[int, float], ms: float, *, share: float | None = None) -> Row:
    entry = Entry(title, title, group, Cost(400, ms, 50, 80), max(recall))
    return Row(entry, recall, dict.fromkeys(recall, 0.01), share)


ROWS = [
    row("dom", REHEARSED, {100: 0.2, 500: 0.4}, 1.0, share=0.5),
    row("random", REHEARSED, {100: 0.1, 500: 0.1}, 0.5, share=0.0),
    row("dom, live", SOCKETS, {100: 0.25}, 10.0),
    row("rival", SOCKETS, {100: 0.125}, 40.0),
]


def lines() -> dict[str, str]:
    written = StringIO()
    Console(file=written, width=200).print(table(ROWS, (100, 500), "dom", "A web"))
    return {line.strip().split("  ")[0]: line for line in written.getvalue().splitlines()}


def test_ratios_are_to_the_base_of_the_same_group() -> None:
    found = lines()
    assert "0.100 ±0.010 (0.50)" in found["random"]
    assert "0.100 ±0.010 (0.25)" in found["random"]
    assert "50.0% (1.00)" in found["dom"]
    assert "0.125 ±0.010 (0.50)" in found["rival"]
    assert "40.0 (4.00)" in found["rival"]


def test_beyond_its_budget_a_crawler_has_a_gap() -> None:
    cells = lines()["rival"].removeprefix(" rival").split()
    assert cells[:4] == ["0.125", "±0.010", "(0.50)", "–"]


def test_json_has_every_figure_and_every_ratio() -> None:
    found = json.loads(json.dumps(document(ROWS, "dom"), allow_nan=False))
    assert [line["crawler"] for line in found] == ["dom", "random", "dom, live", "rival"]
    rival = found[-1]
    assert rival["figures"] == {
        "recall_at_100": 0.125,
        "share": None,
        "ms_cpu_per_page": 40.0,
        "memory_mb": 50,
        "start_mb": 80,
    }
    assert rival["ratios"] == {
        "recall_at_100": 0.5,
        "share": None,
        "ms_cpu_per_page": 4.0,
        "memory_mb": 1.0,
        "start_mb": 1.0,
    }


def test_without_a_base_or_with_an_empty_one_there_is_no_ratio() -> None:
    assert set(ratios(ROWS[2], None).values()) == {None}
    free = row("dom", REHEARSED, {100: 0.0}, 0.0)
    assert ratios(ROWS[1], free)["recall_at_100"] is None
    assert ratios(ROWS[1], free)["recall_at_500"] is None
