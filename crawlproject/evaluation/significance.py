"""Paired significance tests over topics (paper 003 sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, exp, lgamma, log, log1p, sqrt

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The outcome of a paired one-tailed test over ``topics`` pairs.

    ``difference`` is the mean of better - worse; ``statistic`` is t, or W+ of Wilcoxon's test. ``p`` is the probability of a
    difference at least as large if both perform equally well; None if the test is impossible, for the reason ``why``.
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
    t = mean / float(standard_error(differences))
    return PairedTest(topics, mean, t, student_tail(t, topics - 1))


def wilcoxon_test(better: Sequence[float], worse: Sequence[float]) -> PairedTest:
    """Wilcoxon's signed-rank test, one-tailed, over topics. It uses only the ranks of the differences.

    Topics without a difference are left out (as Wilcoxon does). ``statistic`` is W+, the sum of the ranks of the differences
    above zero (F. Wilcoxon: Individual Comparisons by Ranking Methods. Biometrics Bulletin 1(6), 1945); ``p`` is that of
    ``signed_rank_tail``. Raises ``ValueError`` when the lengths differ.
    """
    differences = _differences(better, worse)
    topics = len(differences)
    mean = float(differences.mean()) if topics else 0.0
    differences = differences[np.abs(differences) > 1e-12]
    if topics < 2:
        return PairedTest(topics, mean, why="needs at least two topics")
    if not len(differences):
        return PairedTest(topics, mean, why="no difference on any topic")
    sizes = np.abs(differences.round(12))
    _, which, ties = np.unique(sizes, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[which]  # equal sizes share the mean of their ranks
    positive = float(ranks[differences > 0].sum())
    return PairedTest(topics, mean, positive, signed_rank_tail(positive, ranks, ties))


def student_tail(t: float, freedom: int) -> float:
    """``P(T > t)`` of Student's distribution: half the incomplete beta function at ``freedom / (freedom + t^2)``.

    The result equals SciPy's to 12 digits, without SciPy's 140 MB. The continued fraction is NIST's DLMF 8.17.22, evaluated
    by Lentz's method (8.17(v)).
    """
    a, b, x = freedom / 2, 0.5, freedom / (freedom + t * t)
    if x > (a + 1) / (a + b + 2):  # here the fraction of the complement converges faster
        half = 0.5 - _beta_share(b, a, t * t / (freedom + t * t)) / 2
    else:
        half = _beta_share(a, b, x) / 2
    return half if t > 0 else 1 - half


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function ``I_x(a, b)``, for ``x`` below ``(a + 1) / (a + b + 2)``."""
    if x <= 0:
        return 0.0
    upper = 1.0
    product = lower = 1 / (1 - (a + b) * x / (a + 1))
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower = 1 / (1 + term * lower)
            upper = 1 + term / upper
            product *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) * product / a


def signed_rank_tail(positive: float, ranks: npt.NDArray[np.float64], ties: npt.NDArray[np.int64]) -> float:
    """``P(W+ >= positive)`` when each rank has either sign with equal odds; ``ties`` are the sizes of groups of equal ranks.

    Exact up to 50 ranks without ties and up to 13 with ties, like SciPy; otherwise by the normal distribution with a
    correction for ties (W. Conover: Practical Nonparametric Statistics, 1999, section 5.7).
    """
    n = len(ranks)
    if n <= (13 if (ties > 1).any() else 50):
        ways = np.ones(1)  # the number of choices of signs that give each sum of doubled ranks
        for rank in (2 * ranks).astype(int):
            ways = np.concatenate([ways, np.zeros(rank)]) + np.concatenate([np.zeros(rank), ways])
        return float(ways[round(2 * positive) :].sum() / 2.0**n)
    variance = (n * (n + 1) * (2 * n + 1) - float((ties**3 - ties).sum()) / 2) / 24
    return erfc((positive - n * (n + 1) / 4) / sqrt(2 * variance)) / 2


def bootstrap_interval(
    better: Sequence[float], worse: Sequence[float], *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the mean difference: topics are drawn with replacement, ``draws`` times.

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
    """Holm's step-down adjustment: p-values to compare with the significance level of the whole family.

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
