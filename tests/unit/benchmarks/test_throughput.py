"""The calculations of the throughput benchmark, and the stopwatch in rival crawlers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import longrun, throughput
from benchmarks.rivals.stopwatch import Stopwatch


def run(pages: float, cpu: float) -> dict[str, float]:
    return {"pages": pages, "cpu_seconds": cpu, "wall_seconds": 2 * cpu, "peak_mb": 100.0}


def test_ratios_are_taken_run_by_run() -> None:
    ours, theirs = [run(100, 1), run(100, 2), run(100, 4)], [run(100, 3), run(100, 6), run(50, 8)]
    assert throughput.ratio(ours, theirs) == "3.00 (3.00 to 4.00)"
    shown = throughput.table({"default": ours, "dom": theirs, "plain": theirs})
    assert shown.splitlines()[3].split()[:3] == ["plain", "100", "17"]
    assert "3.00 (3.00 to 4.00)" in shown.splitlines()[3]


def test_rivals_run_only_where_they_are_installed(tmp_path: Path) -> None:
    assert throughput.Bench("http://127.0.0.1:1", tmp_path, None).names() == ["default", "dom", "plain", "plain, 2 MB"]
    assert "crawlee" in throughput.Bench("http://127.0.0.1:1", tmp_path, "python").names()


def note(pages: int, cpu: float, mb: float = 100.0, reading: float = 0.001) -> dict[str, float]:
    return {
        "pages": pages,
        "cpu_seconds": cpu,
        "resident_mb": mb,
        "own_mb": mb / 2,
        "waiting": 40.0 * pages,
        "reading_seconds": reading,
    }


def test_a_crawl_that_slows_down_shows_and_a_machine_that_does_is_distinguished() -> None:
    even = [note(1000 * number, 4.0 * number) for number in range(1, 61)]
    assert "per CPU second 1.00, per reading 1.00, resident memory 1.00" in longrun.table(even)
    slower = [note(1000 * number, 4.0 * number * (1 if number < 30 else 2)) for number in range(1, 61)]
    assert "per CPU second 0.50, per reading 0.50" in longrun.table(slower)
    machine = [
        note(
            1000 * number,
            4.0 * number * (1 if number < 30 else 2),
            mb=100 + number,
            reading=0.001 * (1 + (number >= 30)),
        )
        for number in range(1, 61)
    ]
    assert "per CPU second 0.50, per reading 1.00, resident memory 1.49, its own 1.49" in longrun.table(machine)


def test_a_rival_reports_what_it_used(tmp_path: Path) -> None:
    watch = Stopwatch()
    watch.start()
    assert [watch.page(), watch.page()] == [1, 2]
    watch.report({})
    assert not list(tmp_path.iterdir())
    watch.report({"report": str(tmp_path / "found.json")})
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["pages"] == 2 and 0 <= found["cpu_seconds"] < 5 and found["peak_mb"] > 1


@pytest.mark.parametrize("page", [1_000, 10_000])
def test_the_cost_at_a_checkpoint_is_that_of_the_pages_around_it(page: int) -> None:
    lines = [note(1000 * number, 5.0 * number) for number in range(1, 21)]
    assert longrun.cost_at(lines, page)["cpu"] == pytest.approx(0.005)
