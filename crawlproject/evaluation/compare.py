"""Reads the runs of a rehearsal and builds their ``Comparison``."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.evaluation import measures
from crawlproject.evaluation.comparison import Comparison, finals
from crawlproject.evaluation.question import MEASURES, OF_TARGETS, Measured, Question, Scorer, TopicRuns, measured
from crawlproject.evaluation.runs import Checkpoint, Elapsed, Run, RunFolder, load_run, of_pages, of_time

CHECKPOINTS = (100, 250, 500, 1000, 2500, 5000, 10_000)  # pages
_TRAJECTORY_POINTS = 60

Table = Sequence[Sequence[Measured]]  # a row per ordering, a column per topic


def compare(folders: Sequence[RunFolder], question: Question, scorer: Scorer | None = None) -> Comparison:
    """Read the runs topic by topic and compare them. ``scorer`` computes the importance of pages, if one is used.

    Raises ``BadInput`` when nothing can be compared.
    """
    by_topic: dict[str, list[RunFolder]] = defaultdict(list)
    for folder in folders:
        by_topic[folder.topic].append(folder)
    orderings = tuple(sorted({folder.ordering for folder in folders}))
    left_out: dict[str, str] = {}
    kept: dict[str, list[Measured]] = {}
    for topic, runs in sorted(by_topic.items()):
        if missing := sorted(set(orderings) - {run.ordering for run in runs}):
            left_out[topic] = f"no run of {', '.join(missing)}"
            continue
        try:
            found = _measure(runs, orderings, question, scorer)
        except BadCrawlDir as damage:
            left_out[topic] = f"a run is damaged, {damage}"
            continue
        if not all(question.measure in run.others for run in found):
            left_out[topic] = "no targets" if question.measure in OF_TARGETS else "no runs from split seeds"
            continue
        kept[topic] = found
    if not kept:
        reasons = "; ".join(f"{topic}: {reason}" for topic, reason in left_out.items())
        raise BadInput("runs", f"expected a topic that all orderings crawled and that can be measured ({reasons})")
    return _ranked(_tabulate(orderings, kept, question, left_out))


def _points(question: Question) -> tuple[Checkpoint, ...]:
    """The points at which every measure is needed: possible last checkpoints, the end of every run, and the time axis."""
    return (*sorted({*CHECKPOINTS, *of_pages(question.at)}), sys.maxsize, *_time_axis(question))


def _time_axis(question: Question) -> tuple[Elapsed, ...]:
    times = of_time(question.at)
    if not times:
        return ()
    axis = np.linspace(0.0, times[-1].seconds, _TRAJECTORY_POINTS + 1)[1:].tolist()
    return of_time((*times, *map(Elapsed, axis)))


def _measure(
    folders: Sequence[RunFolder], orderings: Sequence[str], question: Question, scorer: Scorer | None
) -> list[Measured]:
    """The results of each ordering on one topic."""
    repeats: dict[str, list[Run]] = {name: [] for name in orderings}
    for folder in folders:
        run = load_run(folder)
        if run.untimed and (times := of_time(question.at)):
            raise BadInput(f"--at {times[0]}", run.untimed)
        repeats[folder.ordering].append(run)
    runs = TopicRuns(question, [run for each in repeats.values() for run in each], folders[0].info, scorer)
    return [measured(runs, repeats[name], question, _points(question)) for name in orderings]


def _tabulate(
    orderings: tuple[str, ...], kept: Mapping[str, list[Measured]], question: Question, left_out: Mapping[str, str]
) -> Comparison:
    table = [[kept[topic][row] for topic in kept] for row in range(len(orderings))]
    checkpoints = _checkpoints(question, table)
    pages, axis = of_pages(checkpoints), _time_axis(question)
    last = pages[-1] if pages else 0
    pages = of_pages((*pages, *np.linspace(1, last, min(last, _TRAJECTORY_POINTS), dtype=int).tolist()))
    final = finals(checkpoints)[0]
    return Comparison(
        question=question,
        orderings=orderings,
        topics=tuple(kept),
        points=(*pages, *axis),
        checkpoints=checkpoints,
        values=np.array([[_values(run, question, pages, axis) for run in row] for row in table]),
        lengths=np.array([[run.pages for run in row] for row in table]),
        cut_short=np.array([[run.cut_short for run in row] for row in table]),
        recall_area=_recall_areas(table, final),
        others=_other_measures(table, question, final),
        half=np.array([[_half(run) for run in row] for row in table]),
        robustness=np.array([[run.robustness for run in row] for row in table]),
        left_out=left_out,
    )


def _values(run: Measured, question: Question, pages: tuple[int, ...], axis: tuple[Elapsed, ...]) -> measures.Curve:
    """The measure in question after these numbers of pages, then at these times, which are the last of ``_points``."""
    by_time = run.others[question.measure][-len(axis) :] if axis else ()
    return np.array([*measures.values_at(run.curve, pages), *by_time])


def _recall_areas(table: Table, last: Checkpoint) -> npt.NDArray[np.float64] | None:
    """The area under each recall curve up to ``last``; None when some topic has no targets."""
    if any(run.recall is None for run in _cells(table)):
        return None
    return np.array([[_recall_area(run, last) for run in row] for row in table], dtype=np.float64)


def _recall_area(run: Measured, last: Checkpoint) -> float | None:
    if isinstance(last, Elapsed) or run.recall is None:
        return run.time_area
    return measures.area_under(run.recall, last)


def _other_measures(table: Table, question: Question, last: Checkpoint) -> dict[str, npt.NDArray[np.float64]]:
    """Every measure that all runs have, at the last checkpoint."""
    points = _points(question)
    point = points.index(last if last in points else sys.maxsize)
    common = [name for name in MEASURES if all(name in run.others for run in _cells(table))]
    found = {name: np.array([[run.others[name][point] for run in row] for row in table]) for name in common}
    if question.measure != "reachable" and np.array_equal(found.get("reachable", 0), found.get("recall", 1)):
        del found["reachable"]  # the seeds lead to all targets: one column is enough
    return found


def _cells(table: Table) -> Iterable[Measured]:
    return (run for row in table for run in row)


def _half(run: Measured) -> float:
    if run.recall is None:
        return np.nan
    return np.inf if run.half is None else run.half


def _checkpoints(question: Question, table: Table) -> tuple[Checkpoint, ...]:
    """The requested checkpoints, numbers of pages first; without any, the default numbers of pages up to the longest run."""
    longest = max(len(run.curve) for run in _cells(table))
    if longest == 0:
        raise BadInput("runs", "expected at least one crawled page")
    pages, times = of_pages(question.at), of_time(question.at)
    if beyond := [number for number in pages if number > longest]:
        raise BadInput(f"--at {beyond[0]}", f"expected at most {longest}, the pages of the longest run")
    slowest = max(run.seconds for run in _cells(table))
    if late := [time for time in times if time.seconds > slowest]:
        raise BadInput(
            f"--at {late[0]}", f"expected at most {math.floor(10 * slowest) / 10:g}s, the time of the longest run"
        )
    return (*pages, *times) or tuple(n for n in CHECKPOINTS if n <= longest) or (longest,)


def _ranked(comparison: Comparison) -> Comparison:
    """Sort the orderings, best first; ties are broken by the mean over the whole crawl."""
    final = comparison.mean[:, comparison.at(comparison.final)].round(9)
    order = np.lexsort((-comparison.mean.mean(axis=1), -final))
    return replace(
        comparison,
        orderings=tuple(comparison.orderings[row] for row in order),
        values=comparison.values[order],
        lengths=comparison.lengths[order],
        cut_short=comparison.cut_short[order],
        recall_area=None if comparison.recall_area is None else comparison.recall_area[order],
        others={name: values[order] for name, values in comparison.others.items()},
        half=comparison.half[order],
        robustness=comparison.robustness[order],
    )
