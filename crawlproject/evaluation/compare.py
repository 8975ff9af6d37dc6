"""Reads the runs of a rehearsal and builds their ``Comparison``."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadInput
from crawlproject.evaluation import measures
from crawlproject.evaluation.comparison import Comparison
from crawlproject.evaluation.question import MEASURES, Measured, Question, Scorer, TopicRuns, measured
from crawlproject.evaluation.runs import Run, RunFolder, load_run

CHECKPOINTS = (100, 250, 500, 1000, 2500, 5000, 10_000)  # pages
_TRAJECTORY_POINTS = 60

Table = Sequence[Sequence[Measured]]  # a row per ordering, a column per topic


def compare(folders: Sequence[RunFolder], question: Question, scorer: Scorer | None = None) -> Comparison:
    """Read the runs topic by topic and compare them; ``scorer`` computes the importance of pages, if one is used.

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
        found = _measure(runs, orderings, question, scorer)
        if not all(question.measure in run.others for run in found):
            left_out[topic] = "no targets" if question.measure == "recall" else "no runs from split seeds"
            continue
        kept[topic] = found
    if not kept:
        reasons = "; ".join(f"{topic}: {reason}" for topic, reason in left_out.items())
        raise BadInput("runs", f"expected a topic that all orderings crawled and that can be measured ({reasons})")
    return _ranked(_tabulate(orderings, kept, question, left_out))


def _points(question: Question) -> tuple[int, ...]:
    """The possible last checkpoints; the last one stands for the end of every run."""
    return (*sorted({*CHECKPOINTS, *question.at}), sys.maxsize)


def _measure(
    folders: Sequence[RunFolder], orderings: Sequence[str], question: Question, scorer: Scorer | None
) -> list[Measured]:
    """The results of each ordering on one topic."""
    repeats: dict[str, list[Run]] = {name: [] for name in orderings}
    for folder in folders:
        repeats[folder.ordering].append(load_run(folder))
    runs = TopicRuns(question, [run for each in repeats.values() for run in each], folders[0].info, scorer)
    return [measured(runs, repeats[name], question, _points(question)) for name in orderings]


def _tabulate(
    orderings: tuple[str, ...], kept: Mapping[str, list[Measured]], question: Question, left_out: Mapping[str, str]
) -> Comparison:
    table = [[kept[topic][row] for topic in kept] for row in range(len(orderings))]
    checkpoints = _checkpoints(question, max(len(run.curve) for row in table for run in row))
    last = checkpoints[-1]
    points = tuple(sorted({*checkpoints, *np.linspace(1, last, min(last, _TRAJECTORY_POINTS), dtype=int).tolist()}))
    return Comparison(
        question=question,
        orderings=orderings,
        topics=tuple(kept),
        points=points,
        checkpoints=checkpoints,
        values=np.array([[measures.values_at(run.curve, points) for run in row] for row in table]),
        lengths=np.array([[run.pages for run in row] for row in table]),
        recall_area=_recall_areas(table, last),
        others=_other_measures(table, question, last),
        half=np.array([[_half(run) for run in row] for row in table]),
        left_out=left_out,
    )


def _recall_areas(table: Table, last: int) -> npt.NDArray[np.float64] | None:
    """The area under each recall curve up to ``last`` pages; None when some topic has no targets."""
    if any(run.recall is None for run in _cells(table)):
        return None
    return np.array([[measures.area_under(run.recall, last) for run in row if run.recall is not None] for row in table])


def _other_measures(table: Table, question: Question, last: int) -> dict[str, npt.NDArray[np.float64]]:
    """Every measure that all runs have, after ``last`` pages."""
    point = _points(question).index(last) if last in _points(question) else -1
    common = [name for name in MEASURES if all(name in run.others for run in _cells(table))]
    return {name: np.array([[run.others[name][point] for run in row] for row in table]) for name in common}


def _cells(table: Table) -> Iterable[Measured]:
    return (run for row in table for run in row)


def _half(run: Measured) -> float:
    if run.recall is None:
        return np.nan
    return np.inf if run.half is None else run.half


def _checkpoints(question: Question, longest: int) -> tuple[int, ...]:
    if longest == 0:
        raise BadInput("runs", "expected at least one crawled page")
    if beyond := [pages for pages in question.at if pages > longest]:
        raise BadInput(f"--at {beyond[0]}", f"expected at most {longest}, the pages of the longest run")
    return tuple(sorted(set(question.at))) or tuple(n for n in CHECKPOINTS if n <= longest) or (longest,)


def _ranked(comparison: Comparison) -> Comparison:
    """Sort the orderings, best first; ties go to the larger mean over the whole crawl."""
    final = comparison.mean[:, comparison.at(comparison.checkpoints[-1])].round(9)
    order = np.lexsort((-comparison.mean.mean(axis=1), -final))
    return replace(
        comparison,
        orderings=tuple(comparison.orderings[row] for row in order),
        values=comparison.values[order],
        lengths=comparison.lengths[order],
        recall_area=None if comparison.recall_area is None else comparison.recall_area[order],
        others={name: values[order] for name, values in comparison.others.items()},
        half=comparison.half[order],
    )
