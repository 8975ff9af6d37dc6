"""Compares orderings: means over topics at several points of the crawl, and significance tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, permutations

import numpy as np
import numpy.typing as npt

from crawlproject.evaluation import measures
from crawlproject.evaluation.question import ROBUST_AT, TESTS, Question
from crawlproject.evaluation.runs import Checkpoint, of_pages, of_time
from crawlproject.evaluation.significance import (
    PairedTest,
    bootstrap_interval,
    holm,
    paired_t_test,
    standard_error,
    wilcoxon_test,
)

RANDOM, OMNISCIENT = "random", "omniscient"
LEVEL = 0.05  # significance level, after correction


@dataclass(frozen=True, slots=True)
class Duel:
    """The test of whether ``better`` is better than ``worse``; ``adjusted`` is the p-value after Holm's correction."""

    better: str
    worse: str
    test: PairedTest
    adjusted: float | None

    @property
    def significant(self) -> bool:
        return self.adjusted is not None and self.adjusted < LEVEL


def finals(checkpoints: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
    """The last number of pages and the last time among ``checkpoints``, if there are any."""
    return (*of_pages(checkpoints)[-1:], *of_time(checkpoints)[-1:])


@dataclass(frozen=True)
class Comparison:
    """Results of orderings (the best at the ``final`` checkpoint first) on the topics that all of them crawled.

    ``values[ordering, topic, point]`` is the measure at ``points[point]``; ``checkpoints`` are the requested points. In
    both, numbers of pages come first, then times. ``lengths[ordering, topic]`` is the number of crawled pages;
    ``cut_short[ordering, topic]`` is the time in seconds at which the page budget ended a run, infinite if it did not;
    ``recall_area[ordering, topic]`` is the area under the recall curve up to the ``final`` checkpoint (None if some topic
    has no targets). ``others[measure][ordering, topic]`` is the value at the ``final`` checkpoint of every measure that all
    topics have. ``half[ordering, topic]`` is the search length: pages until half of the targets were found, infinite if
    never, NaN without targets. ``robustness[ordering, topic, share]`` is the overlap of crawls from split seeds when both
    have found a share of the targets (``ROBUST_AT``), NaN where they never do. ``left_out`` maps topics that could not be
    compared to the reason.
    """

    question: Question
    orderings: tuple[str, ...]
    topics: tuple[str, ...]
    points: tuple[Checkpoint, ...]
    checkpoints: tuple[Checkpoint, ...]
    values: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]
    cut_short: npt.NDArray[np.float64]
    recall_area: npt.NDArray[np.float64] | None
    others: Mapping[str, npt.NDArray[np.float64]]
    half: npt.NDArray[np.float64]
    robustness: npt.NDArray[np.float64]
    left_out: Mapping[str, str]

    @cached_property
    def mean(self) -> npt.NDArray[np.float64]:
        """The mean over topics, ``[ordering, point]``."""
        return self.values.mean(axis=1)

    @cached_property
    def error(self) -> npt.NDArray[np.float64]:
        """Standard error of ``mean``; NaN with a single topic."""
        return standard_error(self.values, axis=1)

    @property
    def finals(self) -> tuple[Checkpoint, ...]:
        """The last checkpoint by pages and the last by time, if there are any."""
        return finals(self.checkpoints)

    @property
    def final(self) -> Checkpoint:
        """The checkpoint by which orderings are ranked: the last number of pages, or else the last time."""
        return self.finals[0]

    def at(self, point: Checkpoint) -> int:
        return self.points.index(point)

    def robust(self, row: int) -> dict[float, tuple[float, int]]:
        """The mean robustness of an ordering and the number of topics, for each share of the targets reached on any topic."""
        values = self.robustness[row]
        reached = (~np.isnan(values)).sum(axis=0)
        return {
            share: (float(np.nanmean(values[:, column])), int(reached[column]))
            for column, share in enumerate(ROBUST_AT)
            if reached[column]
        }

    def shares(self) -> dict[str, float | None]:
        """The ``omniscient_share`` of each ordering; empty unless there are random and omniscient runs, and targets."""
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
        """Whether there are at least two contenders, and two topics to test them on."""
        return len(self.contenders) > 1 and len(self.topics) > 1

    @cached_property
    def duels(self) -> dict[Checkpoint, list[Duel]]:
        """At each checkpoint, every contender against every other.

        The same data determine which of two orderings leads, so both directions of each pair belong to Holm's family.
        """
        return {point: self._duels_at(point) for point in self.checkpoints}

    def _duels_at(self, point: Checkpoint) -> list[Duel]:
        results = dict(zip(self.orderings, self.values[:, :, self.at(point)], strict=True))
        pairs = list(permutations(self.contenders, 2))
        test_of = TESTS[self.question.test]
        tests = [test_of(results[better], results[worse]) for better, worse in pairs]
        adjusted = holm([test.p for test in tests])
        return [Duel(*pair, test, p) for pair, test, p in zip(pairs, tests, adjusted, strict=True)]

    def ranking(self, point: Checkpoint) -> list[str]:
        """Contenders by mean at ``point``, best first; ties as in ``orderings``."""
        means = dict(zip(self.orderings, self.mean[:, self.at(point)].tolist(), strict=True))
        return sorted(self.contenders, key=lambda name: -means[name])

    def interval(self, duel: Duel, point: Checkpoint) -> tuple[float, float] | None:
        """The 95% bootstrap interval of a duel's mean difference; None with a single topic."""
        return bootstrap_interval(*self._pair(duel, point))

    def second_opinion(self, duel: Duel, point: Checkpoint) -> PairedTest:
        """The p-value of the other test, without correction."""
        other = paired_t_test if self.question.test == "wilcoxon" else wilcoxon_test
        return other(*self._pair(duel, point))

    def _pair(self, duel: Duel, point: Checkpoint) -> tuple[list[float], list[float]]:
        rows = [self.orderings.index(name) for name in (duel.better, duel.worse)]
        better, worse = self.values[rows, :, self.at(point)].tolist()
        return better, worse

    def steps(self, point: Checkpoint) -> list[Duel]:
        """The duel of each contender with the next one in the ranking at a checkpoint."""
        duels = {(duel.better, duel.worse): duel for duel in self.duels[point]}
        return [duels[pair] for pair in pairwise(self.ranking(point))]

    def rivals(self, point: Checkpoint) -> list[Duel]:
        """The duels of the leader at a checkpoint that are not significant; empty if it is the clear winner."""
        leader = self.ranking(point)[0]
        return [duel for duel in self.duels[point] if duel.better == leader and not duel.significant]
