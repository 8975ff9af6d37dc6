"""Rehearsals of orderings, each in a measured process."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.contenders import IMPOLITE, options
from benchmarks.cost import ALMOST_NONE, EMPTY_RUNS, Cost, Crawled, cost_of, typical
from benchmarks.measured_process import MeasuredProcess
from crawlproject.evaluation.runs import REACHABLE

EMPTY = "breadth_first"  # the ordering of the empty run: it has no costs of its own


class RehearsalFailed(RuntimeError):
    """Raised when a process of rehearsals ends with an error."""


def rehearse(
    web: str, topics: Sequence[Path], orderings: Sequence[str], pages: int, out: Path, *, say: Callable[[str], None]
) -> Iterator[tuple[str, Cost]]:
    """Rehearse each ordering on all topics, in one process each; write runs below ``out`` and yield the costs one by one.

    The empty run rehearses one page of each topic. Before it, an additional run reads all pages and determines which pages are
    reachable, so that no ordering is charged for that, and crawls over sockets are measured by the same targets. An
    ordering that fails is left out and reported to ``say``.
    """
    if not orderings and any(out.glob(f"*/{REACHABLE}")):
        return
    empty = out.parent / f"{out.name}-empty"
    shutil.rmtree(empty, ignore_errors=True)
    _run(web, topics, EMPTY, ALMOST_NONE, empty)
    for found in empty.glob(f"*/{REACHABLE}"):
        (out / found.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(found, out / found.parent.name)
    nothing = _nothing(web, topics, empty)
    shutil.rmtree(empty)
    for name in orderings:
        try:
            cost = cost_of([_run(web, topics, name, pages, out)], nothing)
        except RehearsalFailed as failure:
            say(f"{name} is left out: {failure}")
            for folder in out.glob(f"*/{name}"):
                shutil.rmtree(folder)
        else:
            yield name, cost


def _nothing(web: str, topics: Sequence[Path], folder: Path) -> Crawled:
    runs = []
    for _ in range(EMPTY_RUNS):
        for held in folder.glob(f"*/{EMPTY}"):
            shutil.rmtree(held)
        runs.append(_run(web, topics, EMPTY, ALMOST_NONE, folder))
    return typical(runs)


def _run(web: str, topics: Sequence[Path], ordering: str, pages: int, out: Path) -> Crawled:
    asked = [
        "--ordering",
        ordering,
        "--pages",
        str(pages),
        "--out",
        str(out),
        *options({**IMPOLITE, "CONCURRENT_REQUESTS": 1}),
    ]
    errors = out.parent / f"{out.name}.errors"
    command = [sys.executable, "-m", "scrapy", "rehearse", web, *map(str, topics), *asked]
    process = MeasuredProcess(command, environment=os.environ, errors=errors)
    usage = process.wait()
    if usage.code:
        raise RehearsalFailed(f"rehearsing {ordering} ended with exit code {usage.code}: see {errors}")
    return Crawled(sum(json.loads(line)["pages"] for line in process.output.splitlines()), usage)
