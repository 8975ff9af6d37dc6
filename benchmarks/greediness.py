"""How greedy should a crawler be, and how large its frontier (paper 001): best-first with several commitments and sizes.

    python -m benchmarks.greediness WEB TOPIC... --pages 1000 --out greediness --json greediness.json [--full newest]

Each topic is rehearsed with each ``FRONTIER_COMMIT`` (N) on each ``FRONTIER_MAX_URLS``, and breadth-first with the limited
frontier as a FIFO queue, as in the paper, whose frontiers have 256 URLs besides the N committed ones. ``--full newest``: a new
URL replaces the worst one, whatever its own score (Figure 1); use a separate ``--out`` for it. The k rule and politeness
are off and one page is fetched at a time, as in the paper, so that only the order of the links matters. The pool of all
these crawls of a topic is ranked lexically and by links (paper 001 Table 2). The table shows means over topics with their
standard error; finished runs are kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table

from crawlproject.adapters.subcommand import cache_dir
from crawlproject.evaluation.compare import compare
from crawlproject.evaluation.comparison import Comparison
from crawlproject.evaluation.importance import IMPORTANCE
from crawlproject.evaluation.question import Question
from crawlproject.evaluation.runs import RunFolder, find_runs
from crawlproject.evaluation.significance import PairedTest, paired_t_test
from crawlproject.evaluation.simulation.page_importance import WebScorer
from crawlproject.evaluation.simulation.plan import Plan, rehearse_here
from crawlproject.topic.parse import load_topic

ALONE = {"FRONTIER_BATCH_SIZE": 1, "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}
FIFO = "breadth_first"
SCHEMES = {
    "recall": ("reachable", ""),
    "static lexical": ("top", "retrieval_rank"),
    "static linkage": ("top", "keywords_pagerank"),
    "dynamic lexical": ("rank", "retrieval_rank"),
    "dynamic linkage": ("rank", "keywords_pagerank"),
}


def main() -> None:
    options = _arguments()
    for commit, size in product(options.commits, options.frontiers):
        _rehearse(options, "best_first", commit, size)
    for size in options.frontiers:
        _rehearse(options, FIFO, 1, size)
    runs = find_runs(options.out)
    scorers = {
        name: WebScorer([options.web], IMPORTANCE[name], cache_dir=cache_dir(), runs=runs)
        for _, name in SCHEMES.values()
        if name
    }
    found = {
        scheme: compare(runs, Question(measure, tuple(options.at), top=options.top, importance=name), scorers.get(name))
        for scheme, (measure, name) in SCHEMES.items()
    }
    console = Console(highlight=False, width=200)
    for pages in options.at:
        console.print(_table(found, runs, pages))
    if options.json:
        options.json.write_bytes(orjson.dumps(_document(found, runs, options.at), option=orjson.OPT_INDENT_2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--commits", type=int, nargs="*", default=[1, 16, 64, 128, 256])
    parser.add_argument("--frontiers", type=int, nargs="*", default=[256, 1024], help="0: no limit")
    parser.add_argument("--full", choices=["best", "newest"], default="best", help="FRONTIER_FULL")
    parser.add_argument("--at", type=int, nargs="+", default=[100, 500, 1000])
    parser.add_argument("--top", type=int, default=100, help="top pages of the static scheme")
    parser.add_argument("--out", type=Path, default=Path("greediness"))
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _rehearse(options: argparse.Namespace, ordering: str, commit: int, size: int) -> None:
    name = FIFO if ordering == FIFO else f"commit-{commit}"
    topics = tuple(map(load_topic, options.topics))
    chosen = {**ALONE, "FRONTIER_COMMIT": commit, "FRONTIER_MAX_URLS": size, "FRONTIER_FULL": options.full}
    plan = Plan(
        web=options.web,
        topics=topics,
        settings=tuple({**topic.settings, **chosen} for topic in topics),
        orderings=(ordering,),
        pages=options.pages,
        out=options.out / f"{name}-frontier-{size}",
        cache_dir=cache_dir(),
        agent="topical-crawler",
        concurrency=1,
    )
    for line in rehearse_here(plan, warn=print):
        print(f"{name}, frontier {size}: {line['topic']}", file=sys.stderr)


def _variants(comparison: Comparison, runs: list[RunFolder]) -> Iterator[tuple[int, int, int]]:
    """Yield N (0: breadth-first), size of the frontier, and row of the comparison."""
    infos = {run.ordering: run.info for run in runs}
    rows = []
    for row, name in enumerate(comparison.orderings):
        settings = infos[name].settings
        commit = 0 if infos[name].ordering == FIFO else settings["FRONTIER_COMMIT"]
        rows.append((commit, settings["FRONTIER_MAX_URLS"], row))
    yield from sorted(rows, key=lambda variant: (variant[1] or sys.maxsize, variant[0]))


def _table(found: dict[str, Comparison], runs: list[RunFolder], pages: int) -> Table:
    table = Table("N", "frontier", *found, title=f"After {pages:,} pages, mean over topics ± standard error")
    rows: dict[tuple[int, int], list[str]] = {}
    for comparison in found.values():
        point = comparison.at(pages)
        for commit, size, row in _variants(comparison, runs):
            cell = f"{comparison.mean[row, point]:.3f} ±{comparison.error[row, point]:.3f}"
            rows.setdefault((commit, size), []).append(cell)
    for (commit, size), cells in rows.items():
        table.add_row(str(commit or FIFO), str(size or "no limit"), *cells)
    return table


def _document(found: dict[str, Comparison], runs: list[RunFolder], at: list[int]) -> dict[str, Any]:
    """Means, standard errors, and the p-value of each N being better than N = 1 on a frontier of the same size."""
    return {
        scheme: {
            "topics": len(comparison.topics),
            "variants": [
                {
                    "commit": commit,
                    "frontier": size,
                    "mean": {str(n): float(comparison.mean[row, comparison.at(n)]) for n in at},
                    "standard_error": {str(n): float(comparison.error[row, comparison.at(n)]) for n in at},
                    "better_than_greedy": {str(n): _against_greedy(comparison, runs, row, n).p for n in at},
                }
                for commit, size, row in _variants(comparison, runs)
            ],
        }
        for scheme, comparison in found.items()
    }


def _against_greedy(comparison: Comparison, runs: list[RunFolder], row: int, pages: int) -> PairedTest:
    sizes = {r: size for _, size, r in _variants(comparison, runs)}
    greedy = next(r for commit, size, r in _variants(comparison, runs) if (commit, size) == (1, sizes[row]))
    point = comparison.at(pages)
    return paired_t_test(comparison.values[row, :, point].tolist(), comparison.values[greedy, :, point].tolist())


if __name__ == "__main__":
    main()
