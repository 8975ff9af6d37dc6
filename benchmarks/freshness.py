"""Revisit policies on recorded changes of real sites: which policy keeps a collection fresh on the same budget of visits?

    python -m benchmarks.freshness --data HISTORIES --days 10 30 90 --json freshness.json
    python -m benchmarks.freshness --estimators
    python -m benchmarks.freshness --allocation

HISTORIES is a folder of change histories (`crawlproject/evaluation/freshness/histories.py` describes the format). All sites
form one collection with one budget: on average one visit per page in ``--days`` days, in the last year of the records. *Share*
is the freshness above that of the uniform policy, as a share of the gain of a crawler that knows all changes in advance.
*Calm* leaves out two sites whose pages state their build time and so change all day. *Kept out* are sites selected by a
checksum of their names: no setting was chosen by them. The tests compare policies site by site, each site with its own budget.

The histories also show how few old pages suffice to discover most new ones (`discoverability.py`).
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from rich.console import Console
from rich.table import Table

from benchmarks.discoverability import show_discoverability
from benchmarks.estimators import expected_bias_reduced, expected_naive, judge
from crawlproject.evaluation.freshness.comparison import run_policy
from crawlproject.evaluation.freshness.histories import SiteHistory, find_histories, read_site
from crawlproject.evaluation.freshness.simulation import SiteCollection
from crawlproject.evaluation.significance import bootstrap_interval, holm, wilcoxon_test
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY
from crawlproject.parts.revisits.base import Outcome, RevisitPolicy
from crawlproject.parts.revisits.base import Table as PageTable
from crawlproject.parts.revisits.estimators.registry import ESTIMATORS, make_estimator
from crawlproject.parts.revisits.registry import POLICIES, make_policy

CHURNING = ("planet.sympy.org", "devops-feed-hub")
ORACLE = "oracle"
QUESTIONS = [  # (better, worse, measure): the claims of the survey, and ours
    ("uniform", "proportional", "freshness"),
    ("freshness", "uniform", "freshness"),
    ("freshness", "proportional", "freshness"),
    ("freshness", "buckets", "freshness"),
    ("content", "freshness", "content_freshness"),
    ("capture", "freshness", "captured_share"),
    ("adaptive", "uniform", "freshness"),
    ("adaptive", "freshness", "freshness"),
    ("adaptive", "age", "freshness"),
    ("adaptive", "impact", "freshness"),
]


MEASURES = ("freshness", "content_freshness", "captured_share")


def main() -> None:
    options = _arguments()
    console = Console(width=150)
    if options.estimators:
        _show_estimators(console, options.pages)
    if options.allocation:
        _show_allocation(console)
    if options.data:
        found = _compare(options, console)
        if options.json:
            options.json.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY))


def _compare(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    paths = find_histories(options.data)
    sites = {path: read_site(path) for path in paths}
    calm = [path for path in paths if not any(name in sites[path].name for name in CHURNING)]
    groups = {"calm": calm, "kept out": [path for path in calm if kept_out(sites[path])], "all": paths}
    tasks = [
        (tuple(groups[group]), policy, days, options.last_modified, group)
        for days in options.days
        for group in options.groups
        for policy in options.policies
    ]
    if options.sites:
        tasks += [
            ((path,), policy, days, options.last_modified, f"site {sites[path].name}")
            for path in calm
            for policy in options.policies
            for days in options.days
        ]
    with ProcessPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(_run, tasks, chunksize=1))
    for days in options.days:
        for group in options.groups:
            _show_runs(
                console,
                f"{group} ({len(groups[group])} sites), a visit per page in {days:g} days",
                [run for run in runs if run["days"] == days and run["group"] == group],
            )
            of_group = [run for run in runs if run["days"] == days and run["group"] == group]
            _show_tests(console, f"{group}, site by site, one budget for all, {days:g} days", of_group)
        if options.sites:
            of_sites = [run for run in runs if run["days"] == days and run["group"].startswith("site ")]
            _show_tests(console, f"Site by site, each with its own budget, {days:g} days", of_sites)
    show_discoverability(console, [sites[path] for path in paths])
    return {"runs": runs}


def kept_out(site: SiteHistory) -> bool:
    return zlib.crc32(site.name.encode()) % 3 == 0


_read: dict[tuple[Path, ...], SiteCollection] = {}


def _run(task: tuple[tuple[Path, ...], str, float, bool, str]) -> dict[str, Any]:
    paths, name, days, last_modified, group = task
    if paths not in _read:
        _read.clear()
        _read[paths] = SiteCollection([read_site(path) for path in paths])
    collection = _read[paths]
    begun = time.process_time()
    run = run_policy(collection, name, days, last_modified=last_modified)
    seconds = time.process_time() - begun
    total = run.total
    return {
        "group": group,
        "policy": name,
        "days": days,
        "freshness": total.freshness,
        "content_freshness": total.content_freshness,
        "age_days": total.age_days,
        "captured_share": total.captured_share,
        "delay_days": total.delay_days,
        "found": total.found,
        "born": total.born,
        "fetches": run.fetches,
        "useful": total.useful,
        "given_up": run.given_up,
        "oracle": run.oracle,
        "seconds": seconds,
        "sites": {
            site.name: {name: getattr(part, name) for name in MEASURES}
            for site, part in zip(collection.sites, run.sites, strict=True)
        },
    }


def _show_runs(console: Console, title: str, runs: list[dict[str, Any]]) -> None:
    if not runs:
        return
    table = Table(title=title, title_justify="left")
    for column in ("policy", "freshness", "share", "content", "age, days", "captured", "delay, days", "new found"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for column in ("useful", "fetches", "given up"):
        table.add_column(column, justify="right")
    base = next((run["freshness"] for run in runs if run["policy"] == "uniform"), None)
    for run in sorted(runs, key=lambda run: run["freshness"]):
        share = "" if base is None else f"{(run['freshness'] - base) / (run['oracle'] - base):.3f}"
        table.add_row(
            run["policy"],
            f"{run['freshness']:.4f}",
            share,
            f"{run['content_freshness']:.4f}",
            f"{run['age_days']:.2f}",
            f"{run['captured_share']:.3f}",
            f"{run['delay_days']:.1f}",
            f"{run['found']} of {run['born']}",
            str(run["useful"]),
            str(run["fetches"]),
            f"{run['given_up']:.3f}",
        )
    table.add_row(ORACLE, f"{runs[0]['oracle']:.4f}", "1.000")
    console.print(table)
    if base is not None and any(run["policy"] == "adaptive" for run in runs):
        adaptive = next(run for run in runs if run["policy"] == "adaptive")
        others = [run for run in runs if run["policy"] != "adaptive"]
        best = max(others, key=lambda run: run["freshness"])
        if best["freshness"] > base:
            ratio = (adaptive["freshness"] - base) / (best["freshness"] - base)
            console.print(
                f"adaptive gains {ratio:.2f} times what {best['policy']}, the best published, gains over uniform"
            )


def _show_tests(console: Console, title: str, runs: list[dict[str, Any]]) -> None:
    found = {(run["policy"], site): values for run in runs for site, values in run["sites"].items()}
    sites = sorted({site for _, site in found})
    known = {policy for policy, _ in found}
    asked = [question for question in QUESTIONS if {question[0], question[1]} <= known]
    tests = []
    for better, worse, name in asked:
        ours, theirs = ([found[policy, site][name] for site in sites] for policy in (better, worse))
        tests.append((wilcoxon_test(ours, theirs), bootstrap_interval(ours, theirs)))
    table = Table(title=title, title_justify="left")
    for column in ("is better", "than", "in", "mean difference", "95% interval", "p (Wilcoxon, Holm)"):
        table.add_column(column)
    adjusted = holm([test.p for test, _ in tests])
    for (better, worse, name), (test, interval), p in zip(asked, tests, adjusted, strict=True):
        table.add_row(
            better,
            worse,
            name.replace("_", " "),
            f"{test.difference:+.4f}",
            f"{interval[0]:+.4f} to {interval[1]:+.4f}" if interval else "",
            f"{p:.4f}" if p is not None else test.why,
        )
    console.print(table)


def _show_estimators(console: Console, pages: int) -> None:
    visits = (3, 10, 50)
    table = Table(title=f"Estimators on {pages:,} pages with known rates: bias / error", title_justify="left")
    for column in ("estimator", "bytes a page", *(f"{n} visits" for n in visits), *(f"stated, {n}" for n in visits)):
        table.add_column(column, justify="left" if column == "estimator" else "right")
    for name in ESTIMATORS:
        cells = []
        for stated in (False, True):
            found = judge(make_estimator(name), np.random.default_rng(1), pages=pages, visits=visits, stated=stated)
            cells += [f"{at.bias:+.2f} / {at.error:.2f}" for at in found]
        table.add_row(name, str(make_estimator(name).bytes_per_page), *cells)
    console.print(table)
    table = Table(title="A change a day, a visit a day: mean estimate, measured (published)", title_justify="left")
    for column in ("estimator", *(f"{n} visits" for n in visits)):
        table.add_column(column, justify="left" if column == "estimator" else "right")
    for name in ESTIMATORS:
        found = judge(
            make_estimator(name), np.random.default_rng(1), pages=pages, visits=visits, rate=1.0, regular=True
        )  # fmt: skip
        published = {
            "naive": [expected_naive(1.0) for _ in visits],
            "bias_reduced": [expected_bias_reduced(1.0, n) for n in visits],
        }.get(name)
        cells = [f"{1 + at.bias:.3f}" for at in found]
        if published:
            cells = [f"{cell} ({theory:.3f})" for cell, theory in zip(cells, published, strict=True)]
        table.add_row(name, *cells)
    console.print(table)


def _show_allocation(console: Console, pages: int = 1_000_000) -> None:
    table = Table(title=f"Sharing a budget out over {pages:,} pages", title_justify="left")
    for column in ("policy", "CPU seconds a plan", "bytes a page"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for name in POLICIES:
        policy = make_policy(name)
        _fill(policy, 1000)
        _enlarge(policy, 1000, pages)
        begun = time.process_time()
        policy.plan(40 * SECONDS_A_DAY, pages / (30 * SECONDS_A_DAY))
        table.add_row(name, f"{time.process_time() - begun:.2f}", str(policy.bytes_per_page))
    console.print(table)


def _fill(policy: RevisitPolicy, pages: int) -> None:
    """Report ten visits of each of ``pages`` pages to a policy, a hundred pages a host, with very different change rates."""
    generator = np.random.default_rng(1)
    chances = generator.beta(0.3, 1, pages)
    for visit in range(10):
        for row in range(pages):
            host, changed = row // 100, bool(visit and generator.random() < chances[row])
            at = (3 * visit + row / pages) * SECONDS_A_DAY
            policy.observe(Outcome(row, at, visit == 0, changed, generator.random(), host=host, template=host))


def _enlarge(part: Any, rows: int, pages: int) -> None:
    """Repeat the rows of all tables of ``rows`` rows up to ``pages`` rows: reporting a million pages would take minutes."""
    for value in vars(part).values():
        if isinstance(value, PageTable) and value.rows == rows:
            value.repeat(pages)
        elif hasattr(value, "table"):
            _enlarge(value, rows, pages)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of change histories")
    parser.add_argument("--days", type=float, nargs="+", default=[10, 30, 90], help="a visit per page in so many days")
    parser.add_argument("--policies", nargs="+", default=list(POLICIES), choices=list(POLICIES))
    parser.add_argument("--groups", nargs="*", default=["calm", "kept out", "all"], choices=["calm", "kept out", "all"])
    parser.add_argument(
        "--sites", action="store_true", help="also each site with a budget of its own, and tests over sites"
    )
    parser.add_argument("--last-modified", action="store_true", help="servers state when a page last changed")
    parser.add_argument("--estimators", action="store_true", help="estimators on pages with known rates")
    parser.add_argument("--allocation", action="store_true", help="time and memory of a plan for a million pages")
    parser.add_argument("--pages", type=int, default=10_000, help="pages of --estimators (10000)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--json", type=Path, help="write all figures here")
    options = parser.parse_args()
    if not (options.data or options.estimators or options.allocation):
        parser.error("nothing to do: give --data, --estimators or --allocation")
    return options


if __name__ == "__main__":
    sys.exit(main())
