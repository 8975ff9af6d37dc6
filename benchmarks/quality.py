"""Every ordering as it is, with the active set of `adaptive`, and without host rotation: recall by pages and by seconds.

    python benchmarks/quality.py WEB TOPIC... --pages 500 2000 --seconds 60 300 --out quality [--jobs 2] [--json FILE]

Controls: `as_is` (k of FRONTIER_BATCH_SIZE, 50), `active` (plus an active set of 256 URLs; `adaptive` has its own), `k1`
(hosts do not take turns), `active_k1` (both). Rehearsals are polite, with 64 fetches at a time. Each ordering has two: one
with a budget of the last value of `--pages`, one with a budget of the last value of `--seconds`. Results are kept in the
folder `--out`, so the same command resumes where it stopped. If you rehearse other webs into the same folder, the tables cover
the topics of all webs.

Figures: *mean* is the mean target recall over the first pages (as many as the largest of `--pages`), followed by recall after
each number of pages and of seconds; mean over topics ± standard error. In parentheses: the p-value of a paired one-tailed
t-test against `--base`, after Holm's correction for all rows in both directions; + marks a row that is better than the base.
*bound* is the best that any crawl can reach (`least_pages`).

An ordering may have settings: `adaptive,CRAWL_SEED=2`. Only `adaptive` is offered front pages, unless settings say otherwise
(`dom,CRAWL_FRONT_PAGES=True`).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/quality.py`

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from benchmarks.quality_runs import BOUND, CONTROLS, Asked, Found, Ledger, Row, attempt
from crawlproject.errors import BadInput
from crawlproject.evaluation.significance import holm, paired_t_test, standard_error
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.settings import CONCURRENT_REQUESTS

Figures = npt.NDArray[np.float64]  # [row, topic, column]
ALIASES = {"indegree"}
OWN_SET = {"adaptive", "omniscient"}  # these get no active set from a control


def main() -> None:
    chosen = _arguments()
    asked = Asked(tuple(sorted(chosen.pages)), tuple(sorted(chosen.seconds)), chosen.concurrency)
    try:
        rows = rows_of(chosen.orderings, chosen.controls)
        base = _place(rows, chosen.base)
        ledger = Ledger(chosen.out, asked)
        if chosen.web:
            _measure(chosen, asked, rows)
        found = {topic: runs for topic, runs in ledger.read().items() if runs.keys() >= {*rows, BOUND}}
        if not found:
            raise BadInput(f"--out {chosen.out}", "expected a topic that was measured with all these orderings")
        shown = [*rows, BOUND]
        figures = np.array([[_figures(runs[row], asked) for runs in found.values()] for row in shown])
    except BadInput as wrong:
        sys.exit(f"quality.py: {wrong}")
    rates = [float(np.mean([runs[row].rate for runs in found.values()])) for row in shown]
    _print(shown, figures, rates, asked, base)
    if chosen.json:
        cpu = [sum(runs[row].cpu for runs in found.values()) for row in shown]
        document = {"topics": list(found), "rows": _document(shown, figures, (rates, cpu), asked, base)}
        chosen.json.write_text(json.dumps(document, indent=1) + "\n")


def rows_of(orderings: Sequence[str], controls: Sequence[str]) -> list[Row]:
    """Every ordering with every control that makes sense for it."""
    rows = []
    for name in orderings:
        for control in controls:
            row = Row.spelled(f"{name}/{control}")
            own_set = row.name in OWN_SET and control.startswith("active")
            if not own_set and not (row.name == "omniscient" and control != "as_is"):
                rows.append(row)
    return rows


def _place(rows: Sequence[Row], base: str) -> int:
    if (row := Row.spelled(base)) not in rows:
        raise BadInput(f"--base {base}", f"expected one of {', '.join(map(str, rows))}")
    return rows.index(row)


def _measure(chosen: argparse.Namespace, asked: Asked, rows: Sequence[Row]) -> None:
    """Measure all topics, one topic at a time in each process."""
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(attempt, chosen.web, topic, rows, asked, chosen.out) for topic in chosen.topics]
        for number, job in enumerate(as_completed(jobs), start=1):
            topic, wrong = job.result()
            if wrong:
                pool.shutdown(wait=False, cancel_futures=True)
                raise BadInput(*wrong)
            print(f"{number}/{len(jobs)} {topic}", file=sys.stderr, flush=True)


def _figures(found: Found, asked: Asked) -> list[float]:
    """The mean recall over the crawl, and the recall at each checkpoint."""
    by_pages = [found.recall_at_page(pages) for pages in asked.pages]
    return [found.mean_over(asked.pages[-1]), *by_pages, *map(found.recall_at_second, asked.seconds)]


def columns(asked: Asked) -> list[str]:
    return ["mean", *(f"@{pages:,}" for pages in asked.pages), *(f"@{seconds:g}s" for seconds in asked.seconds)]


def tests(figures: Figures, base: int, rows: Sequence[Row]) -> list[list[float | None]]:
    """Return, by column and row, the corrected p of the difference to ``base``, in its direction; None for base and bound."""
    contenders = [number for number, row in enumerate(rows) if number != base and row != BOUND]
    found: list[list[float | None]] = []
    for column in range(figures.shape[2]):
        values = figures[:, :, column].tolist()
        pairs = [pair for number in contenders for pair in ((base, number), (number, base))]
        adjusted = dict(zip(pairs, holm([paired_t_test(values[a], values[b]).p for a, b in pairs]), strict=True))
        better = {number: sum(values[number]) > sum(values[base]) for number in contenders}
        directed = {n: adjusted[(n, base) if better[n] else (base, n)] for n in contenders}
        found.append([directed.get(number) for number in range(len(rows))])
    return found


def _print(rows: Sequence[Row], figures: Figures, rates: Sequence[float], asked: Asked, base: int) -> None:
    console = Console(width=None if sys.stdout.isatty() else 240, highlight=False)
    table = Table(title=f"Mean over {figures.shape[1]} topics", title_justify="left", box=None)
    table.add_column("ordering", no_wrap=True)
    for heading in columns(asked):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("pages/s", justify="right")
    means, errors, p = figures.mean(axis=1), standard_error(figures, axis=1), tests(figures, base, rows)
    for number in sorted(range(len(rows)), key=lambda n: -means[n, 0]):
        cells = [
            _cell(means[number, c], errors[number, c], p[c][number], means[number, c] > means[base, c])
            for c in range(len(columns(asked)))
        ]
        table.add_row(str(rows[number]), *cells, _rate(rates[number]))
    console.print(table)


def _rate(rate: float) -> str:
    return "–" if math.isnan(rate) else f"{rate:.1f}"


def _cell(mean: float, error: float, p: float | None, better: bool) -> str:
    if math.isnan(mean):
        return "–"
    shown = f"{mean:.3f}" if math.isnan(error) else f"{mean:.3f} ±{error:.3f}"
    if p is None:
        return shown
    return f"{shown} ({'+' if better else ''}{'<0.001' if p < 0.001 else f'{p:.3f}'})"


def _document(
    rows: Sequence[Row], figures: Figures, costs: tuple[Sequence[float], Sequence[float]], asked: Asked, base: int
) -> list[dict[str, Any]]:
    p, errors = tests(figures, base, rows), standard_error(figures, axis=1)
    names = columns(asked)
    return [
        {
            "ordering": str(row),
            "mean": dict(zip(names, map(_known, figures[number].mean(axis=0).tolist()), strict=True)),
            "standard_error": dict(zip(names, map(_known, errors[number].tolist()), strict=True)),
            "p": {name: p[column][number] for column, name in enumerate(names)},
            "by_topic": {name: list(map(_known, figures[number, :, i].tolist())) for i, name in enumerate(names)},
            "pages_per_second": _known(costs[0][number]),
            "cpu_seconds": costs[1][number],
        }
        for number, row in enumerate(rows)
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "web", nargs="?", help="a WARC, a folder of hosts, a crawl folder; without one, only the tables"
    )
    parser.add_argument("topics", nargs="*", type=Path, metavar="TOPIC", help="topic files with targets")
    default = [name for name in ORDERINGS if name not in ALIASES]
    parser.add_argument("--orderings", nargs="+", default=default, metavar="NAME[,SETTING=VALUE]", help="default: all")
    parser.add_argument("--controls", nargs="+", choices=CONTROLS, default=["as_is", "active", "k1"])
    parser.add_argument("--pages", nargs="+", type=int, default=[100, 500], metavar="N")
    parser.add_argument("--seconds", nargs="*", type=float, default=[60.0], metavar="T", help="of the virtual clock")
    parser.add_argument(
        "--base", default="adaptive/as_is", metavar="ORDERING/CONTROL", help="tests are against this row"
    )
    parser.add_argument(
        "--concurrency", type=int, default=CONCURRENT_REQUESTS, metavar="N", help="fetches at a time (64)"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes, a topic each (1)")
    parser.add_argument("--out", type=Path, default=Path("quality"), help="what was found is kept here (quality)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    return parser.parse_args()


if __name__ == "__main__":
    main()
