"""Is one ordering better than another, or was it luck: paired tests over topics (paper 003 sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class TTest:
    """A paired one-tailed t-test.

    ``topics`` pairs, ``difference`` the mean of better - worse. ``p`` is the probability of a difference as large when
    the two perform equally well; None when the test cannot be made, and ``why`` says why not.
    """

    topics: int
    difference: float
    t: float | None = None
    p: float | None = None
    why: str = ""


def paired_t_test(better: Sequence[float], worse: Sequence[float]) -> TTest:
    """Test whether ``better`` is greater than ``worse``, topic by topic; both in the same order of topics.

    Raises ``ValueError`` when the lengths differ.
    """
    if len(better) != len(worse):
        raise ValueError(f"paired samples have one length, not {len(better)} and {len(worse)}")
    differences = np.asarray(better, dtype=np.float64) - np.asarray(worse, dtype=np.float64)
    topics = len(differences)
    mean = float(differences.mean()) if topics else 0.0
    if topics < 2:
        return TTest(topics, mean, why="needs at least two topics")
    if np.ptp(differences) <= 1e-12 * max(1.0, abs(mean)):
        same = "no difference on any topic" if abs(mean) <= 1e-12 else "the same difference on every topic"
        return TTest(topics, mean, why=same)
    from scipy import stats  # here, since importing it takes over a second and `scrapy` imports every command

    result = stats.ttest_rel(better, worse, alternative="greater")
    return TTest(topics, mean, float(result.statistic), float(result.pvalue))


def standard_error(values: npt.ArrayLike, axis: int = 0) -> npt.NDArray[np.float64]:
    """Standard error of the mean along ``axis``: sample deviation (n - 1) over the root of n; NaN when n < 2."""
    samples = np.asarray(values, dtype=np.float64)
    n = samples.shape[axis]
    if n < 2:
        return np.full(np.delete(np.array(samples.shape), axis), np.nan)
    return np.asarray(samples.std(axis=axis, ddof=1) / np.sqrt(n))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment: compare the result with the level wanted for the whole family.

    A None (a test that could not be made) stays None and still counts as a member of the family.
    """
    family = len(p_values)
    known = [(p, index) for index, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * family
    floor = 0.0
    for rank, (p, index) in enumerate(sorted(known)):
        floor = max(floor, min(1.0, (family - rank) * p))
        adjusted[index] = floor
    return adjusted
