"""The cost of crawls per page, start-up left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.measured_process import Usage

ALMOST_NONE = 1  # pages of an empty run
EMPTY_RUNS = 3  # of which the median counts


@dataclass(frozen=True, slots=True)
class Crawled:
    """The crawls of one process: the number of processed pages, and the resources used."""

    pages: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of several processes beyond an empty run: CPU a page (ms), and memory (MB), the mean of their peaks.

    ``pages`` is the total number of pages processed; ``start_mb`` is the peak of the empty run.
    """

    pages: int
    ms_per_page: float
    memory_mb: float
    start_mb: float


def cost_of(runs: Sequence[Crawled], empty: Crawled) -> Cost:
    """The cost of runs of one crawler; ``empty`` is a run of hardly any page. CPU is NaN if no page was processed."""
    pages = sum(run.pages - empty.pages for run in runs)
    seconds = sum(run.usage.cpu_seconds - empty.usage.cpu_seconds for run in runs)
    peak = sum(run.usage.peak_mb for run in runs) / len(runs)
    milliseconds = 1000 * seconds / pages if pages > 0 else float("nan")
    return Cost(pages, milliseconds, peak - empty.usage.peak_mb, empty.usage.peak_mb)


def typical(runs: Sequence[Crawled]) -> Crawled:
    """The run with the median CPU time."""
    return sorted(runs, key=lambda run: run.usage.cpu_seconds)[len(runs) // 2]
