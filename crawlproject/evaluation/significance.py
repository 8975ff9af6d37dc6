"""Paired significance tests over topics (paper 003 sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The outcome of a paired one-tailed test over ``topics`` pairs.

    ``difference`` is the mean of better - worse; ``statistic`` is t, or W+ of Wilcoxon's test. ``p`` is the probability of
    a difference at least as large if both perform equally well; None when the test is impossible, and ``why`` says why.
    """

    topics: int
    difference: float
    statistic: float | None = None
    p: float | None = None
    why: str = ""


def paired_t_test(better: Sequence[float], worse: Sequence[float]) -> PairedTest:
    """Test whether ``better`` is greater than ``worse``, topic by topic; both in the same order of topics.

    Raises ``ValueError`` when the lengths differ.
    """
    differences = _differences(better, worse)
    topics = len(differences)
    mean = float(differences.mean()) if topics else 0.0
    if topics < 2:
        return PairedTest(topics, mean, why="needs at least two topics")
    if np.ptp(differences) <= 1e-12 * max(1.0, abs(mean)):
        same = "no difference on any topic" if abs(mean) <= 1e-12 else "the same difference on every topic"
        return PairedTest(topics, mean, why=same)
    from scipy import stats  # takes over a second, and Scrapy imports all commands at every start

    result = stats.ttest_rel(better, worse, alternative="greater")
    return PairedTest(topics, mean, float(result.statistic), float(result.pvalue))


def wilcoxon_test(better: Sequence[float], worse: Sequence[float]) -> PairedTest:
    """Wilcoxon's signed-rank test, one-tailed, topic by topic: it uses only the ranks of the differences.

    Topics without a difference are left out (Wilcoxon's own treatment). ``statistic`` is W+, the sum of the ranks
    of the differences above zero (F. Wilcoxon: Individual Comparisons by Ranking Methods. Biometrics Bulletin 1(6), 1945);
    up to 50 topics without ties ``p`` is exact. Raises ``ValueError`` when the lengths differ.
    """
    differences = _differences(better, worse)
    topics = len(differences)
    mean = float(differences.mean()) if topics else 0.0
    differences = differences[np.abs(differences) > 1e-12]
    if topics < 2:
        return PairedTest(topics, mean, why="needs at least two topics")
    if not len(differences):
        return PairedTest(topics, mean, why="no difference on any topic")
    from scipy import stats

    result = stats.wilcoxon(differences.round(12), alternative="greater")
    return PairedTest(topics, mean, float(result.statistic), float(result.pvalue))


def bootstrap_interval(
    better: Sequence[float], worse: Sequence[float], *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the mean difference: topics drawn with replacement, ``draws`` times.

    The same ``seed`` gives the same interval (B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993,
    section 13.3). None with fewer than two topics. Raises ``ValueError`` when the lengths differ.
    """
    differences = _differences(better, worse)
    if len(differences) < 2:
        return None
    drawn = np.random.default_rng(seed).integers(len(differences), size=(draws, len(differences)))
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(differences[drawn].mean(axis=1), [tail, 100 - tail])
    return float(low), float(high)


def _differences(better: Sequence[float], worse: Sequence[float]) -> npt.NDArray[np.float64]:
    if len(better) != len(worse):
        raise ValueError(f"paired samples must have equal lengths, not {len(better)} and {len(worse)}")
    return np.asarray(better, dtype=np.float64) - np.asarray(worse, dtype=np.float64)


def standard_error(values: npt.ArrayLike, axis: int = 0) -> npt.NDArray[np.float64]:
    """Standard error of the mean along ``axis``: sample standard deviation (n - 1) over sqrt(n); NaN when n < 2."""
    samples = np.asarray(values, dtype=np.float64)
    n = samples.shape[axis]
    if n < 2:
        return np.full(np.delete(np.array(samples.shape), axis), np.nan)
    return np.asarray(samples.std(axis=axis, ddof=1) / np.sqrt(n))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment: compare the results with the significance level of the whole family.

    None (an impossible test) stays None and still counts as a member of the family.
    """
    family = len(p_values)
    known = [(p, index) for index, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * family
    floor = 0.0
    for rank, (p, index) in enumerate(sorted(known)):
        floor = max(floor, min(1.0, (family - rank) * p))
        adjusted[index] = floor
    return adjusted
