"""Orderings against each other: means over topics at several points of the crawl, and who is better for sure."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, permutations

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadInput
from crawlproject.evaluation import measures
from crawlproject.evaluation.question import MEASURES, TESTS, Measured, Question, Scorer, TopicRuns, measured
from crawlproject.evaluation.runs import Run, RunFolder, load_run
from crawlproject.evaluation.significance import (
    PairedTest,
    bootstrap_interval,
    holm,
    paired_t_test,
    standard_error,
    wilcoxon_test,
)

CHECKPOINTS = (100, 250, 500, 1000, 2500, 5000, 10_000)
RANDOM, OMNISCIENT = "random", "omniscient"
LEVEL = 0.05  # of significance, after correction
_TRAJECTORY_POINTS = 60


@dataclass(frozen=True, slots=True)
class Duel:
    """The test whether ``better`` beats ``worse``; ``adjusted`` is its p-value after Holm's correction."""

    better: str
    worse: str
    test: PairedTest
    adjusted: float | None

    @property
    def significant(self) -> bool:
        return self.adjusted is not None and self.adjusted < LEVEL


@dataclass(frozen=True)
class Comparison:
    """Orderings (the best at the last checkpoint first) over the topics that all of them crawled.

    ``values[ordering, topic, point]`` is the measure after ``points[point]`` pages; ``checkpoints`` are the points
    asked for. ``lengths[ordering, topic]`` counts crawled pages, ``recall_area`` the area under the recall curve up to
    the last checkpoint (None when some topic has no targets). ``others[measure][ordering, topic]`` is every measure that
    all topics have, at the last checkpoint; ``half[ordering, topic]`` the search length: pages until half of the targets
    were found, infinite when they never were, NaN without targets. ``left_out`` says which topics could not be compared,
    and why.
    """

    question: Question
    orderings: tuple[str, ...]
    topics: tuple[str, ...]
    points: tuple[int, ...]
    checkpoints: tuple[int, ...]
    values: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]
    recall_area: npt.NDArray[np.float64] | None
    others: Mapping[str, npt.NDArray[np.float64]]
    half: npt.NDArray[np.float64]
    left_out: Mapping[str, str]

    @cached_property
    def mean(self) -> npt.NDArray[np.float64]:
        """``[ordering, point]``, over topics."""
        return self.values.mean(axis=1)

    @cached_property
    def error(self) -> npt.NDArray[np.float64]:
        """Standard error of ``mean``; NaN with a single topic."""
        return standard_error(self.values, axis=1)

    def at(self, pages: int) -> int:
        """Index of a point."""
        return self.points.index(pages)

    def shares(self) -> dict[str, float | None]:
        """Each ordering's share of the omniscient recall curve; empty without both a random and an omniscient run."""
        if self.recall_area is None or not {RANDOM, OMNISCIENT} <= set(self.orderings):
            return {}
        areas = dict(zip(self.orderings, self.recall_area.mean(axis=1).tolist(), strict=True))
        low, high = areas[RANDOM], areas[OMNISCIENT]
        return {name: measures.omniscient_share(area, low, high) for name, area in areas.items()}

    @property
    def contenders(self) -> tuple[str, ...]:
        """The orderings that can win: all but the omniscient one, which knows the targets."""
        return tuple(name for name in self.orderings if name != OMNISCIENT)

    @property
    def testable(self) -> bool:
        """Whether there are two contenders, and two topics to test them on."""
        return len(self.contenders) > 1 and len(self.topics) > 1

    @cached_property
    def duels(self) -> dict[int, list[Duel]]:
        """At each checkpoint, every contender against every other.

        Which of two is ahead is read off the same data, so both directions of each pair belong to Holm's family.
        """
        return {pages: self._duels_at(pages) for pages in self.checkpoints}

    def _duels_at(self, pages: int) -> list[Duel]:
        results = dict(zip(self.orderings, self.values[:, :, self.at(pages)], strict=True))
        pairs = list(permutations(self.contenders, 2))
        test_of = TESTS[self.question.test]
        tests = [test_of(results[better], results[worse]) for better, worse in pairs]
        adjusted = holm([test.p for test in tests])
        return [Duel(*pair, test, p) for pair, test, p in zip(pairs, tests, adjusted, strict=True)]

    def ranking(self, pages: int) -> list[str]:
        """Contenders by mean after ``pages`` pages, the best first; equals as in ``orderings``."""
        means = dict(zip(self.orderings, self.mean[:, self.at(pages)].tolist(), strict=True))
        return sorted(self.contenders, key=lambda name: -means[name])

    def interval(self, duel: Duel, pages: int) -> tuple[float, float] | None:
        """The 95% bootstrap interval of a duel's mean difference; None with a single topic."""
        return bootstrap_interval(*self._pair(duel, pages))

    def second_opinion(self, duel: Duel, pages: int) -> PairedTest:
        """The test that was not asked for, without correction."""
        other = paired_t_test if self.question.test == "wilcoxon" else wilcoxon_test
        return other(*self._pair(duel, pages))

    def _pair(self, duel: Duel, pages: int) -> tuple[list[float], list[float]]:
        rows = [self.orderings.index(name) for name in (duel.better, duel.worse)]
        better, worse = self.values[rows, :, self.at(pages)].tolist()
        return better, worse

    def steps(self, pages: int) -> list[Duel]:
        """Down the ranking at a checkpoint: each contender against the next one."""
        duels = {(duel.better, duel.worse): duel for duel in self.duels[pages]}
        return [duels[pair] for pair in pairwise(self.ranking(pages))]

    def rivals(self, pages: int) -> list[Duel]:
        """The duels at a checkpoint that the leader does not win for sure; it is the winner when there are none."""
        leader = self.ranking(pages)[0]
        return [duel for duel in self.duels[pages] if duel.better == leader and not duel.significant]


def compare(folders: Sequence[RunFolder], question: Question, scorer: Scorer | None = None) -> Comparison:
    """Read the runs topic by topic and compare them; ``scorer`` gives pages their importance, when one is asked for.

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
    """Where a last checkpoint may lie; the end of every run, at the end."""
    return (*sorted({*CHECKPOINTS, *question.at}), sys.maxsize)


def _measure(
    folders: Sequence[RunFolder], orderings: Sequence[str], question: Question, scorer: Scorer | None
) -> list[Measured]:
    """The orderings on one topic."""
    repeats: dict[str, list[Run]] = {name: [] for name in orderings}
    for folder in folders:
        repeats[folder.ordering].append(load_run(folder))
    runs = TopicRuns(question, [run for each in repeats.values() for run in each], folders[0].info, scorer)
    return [measured(runs, repeats[name], question, _points(question)) for name in orderings]


def _tabulate(
    orderings: tuple[str, ...], kept: Mapping[str, list[Measured]], question: Question, left_out: Mapping[str, str]
) -> Comparison:
    table = [[kept[topic][row] for topic in kept] for row in range(len(orderings))]
    lengths = np.array([[run.pages for run in row] for row in table])
    checkpoints = _checkpoints(question, max(len(run.curve) for row in table for run in row))
    last = checkpoints[-1]
    points = tuple(sorted({*checkpoints, *np.linspace(1, last, min(last, _TRAJECTORY_POINTS), dtype=int).tolist()}))
    areas = [[measures.area_under(run.recall, last) for run in row if run.recall is not None] for row in table]
    complete = all(len(row) == len(kept) for row in areas)
    place = _points(question).index(last) if last in _points(question) else -1
    return Comparison(
        question=question,
        orderings=orderings,
        topics=tuple(kept),
        points=points,
        checkpoints=checkpoints,
        values=np.array([[measures.values_at(run.curve, points) for run in row] for row in table]),
        lengths=lengths,
        recall_area=np.array(areas) if complete else None,
        others={
            name: np.array([[run.others[name][place] for run in row] for row in table])
            for name in MEASURES
            if all(name in run.others for row in table for run in row)
        },
        half=np.array([[_half(run) for run in row] for row in table]),
        left_out=left_out,
    )


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
    """The same comparison with the best ordering first; among equals, the one with the larger mean along the way."""
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
