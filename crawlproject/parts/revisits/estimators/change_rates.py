"""The estimators of J. Cho, H. Garcia-Molina: Estimating frequency of change. ACM Transactions on Internet Technology
3(3), 2003.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.base import Table
from crawlproject.parts.revisits.estimators.base import ALL, Estimator, Evidence, Rows

BINS = 20
SHORTEST = 900.0  # seconds: the first bin; each is twice as long as the one before, so the last is 15 years
STEPS = 60


class Naive(Estimator):
    """Changes seen over time watched: X / T (section 4.1). 8 bytes a page.

    It is biased: several changes between two visits look like one, so a page that changes faster than it is visited is
    underestimated.
    """

    def __init__(self) -> None:
        self.table = Table(changes=("f4", 0), watched=("f4", 0))

    def add(self, evidence: Evidence) -> None:
        self.table["changes"][evidence.row] += evidence.changed
        self.table["watched"][evidence.row] += evidence.interval

    def rates(self, rows: Rows = ALL) -> Array:
        changes = self.table["changes"][rows].astype(np.float64)
        watched = self.table["watched"][rows].astype(np.float64)
        return np.divide(changes, watched, out=np.full(len(changes), np.nan), where=watched > 0)


def bias_reduced(visits: npt.ArrayLike, changes: npt.ArrayLike) -> Array:
    """Changes per interval. ``visits`` (n >= 1) and ``changes`` (0 <= X <= n): any equal shapes."""
    n, x = np.asarray(visits, dtype=np.float64), np.asarray(changes, dtype=np.float64)
    return -np.log((n - x + 0.5) / (n + 0.5))


class BiasReduced(Estimator):
    """For visits at regular intervals (section 4.2): with X changes detected in n visits at intervals I, the rate is
    -log((n - X + 0.5) / (n + 0.5)) / I.

    I is the mean of the intervals, which is exact when they are regular. 12 bytes a page.
    """

    def __init__(self) -> None:
        self.table = Table(visits=("f4", 0), changes=("f4", 0), watched=("f4", 0))

    def add(self, evidence: Evidence) -> None:
        self.table["visits"][evidence.row] += 1
        self.table["changes"][evidence.row] += evidence.changed
        self.table["watched"][evidence.row] += evidence.interval

    def rates(self, rows: Rows = ALL) -> Array:
        visits = self.table["visits"][rows].astype(np.float64)
        changes = self.table["changes"][rows].astype(np.float64)
        watched = self.table["watched"][rows].astype(np.float64)
        per_visit = bias_reduced(np.maximum(visits, 1), changes)
        return np.divide(per_visit * visits, watched, out=np.full(len(visits), np.nan), where=watched > 0)


def known_times(visits: npt.ArrayLike, changes: npt.ArrayLike, watched: npt.ArrayLike) -> Array:
    """X' / T with X' = (X - 1) - X / (N log(1 - X / N)); X' is X - 1 when every visit found a change, 0 when none did."""
    n, x = np.asarray(visits, dtype=np.float64), np.asarray(changes, dtype=np.float64)
    t = np.asarray(watched, dtype=np.float64)
    some = (x > 0) & (x < n)
    share = np.where(some, x / np.maximum(n, 1), 0.5)
    reduced = np.where(some, x - 1 - share / np.log1p(-share), np.maximum(x - 1, 0))
    return np.divide(reduced, t, out=np.full(t.shape, np.nan), where=t > 0)


class KnownTimes(Estimator):
    """For pages whose server states their last change as Last-Modified (section 5, the algorithm and its bias reduction).

    Nothing happened between the last change and the visit, so only that time was watched. A change without a stated time counts
    as half-way through the interval. 12 bytes a page.
    """

    def __init__(self) -> None:
        self.table = Table(visits=("f4", 0), changes=("f4", 0), watched=("f4", 0))

    def add(self, evidence: Evidence) -> None:
        row = evidence.row
        watched = evidence.interval
        if evidence.changed:
            watched = evidence.interval / 2 if math.isnan(evidence.quiet) else min(evidence.quiet, evidence.interval)
        self.table["visits"][row] += 1
        self.table["changes"][row] += evidence.changed
        self.table["watched"][row] += watched

    def rates(self, rows: Rows = ALL) -> Array:
        table = self.table
        return known_times(table["visits"][rows], table["changes"][rows], table["watched"][rows])


def maximum_likelihood(changed: npt.ArrayLike, counts: npt.ArrayLike, unchanged: npt.ArrayLike) -> Array:
    """Rates of P pages.

    ``changed`` (K, or P, K): lengths of intervals; ``counts`` (P, K): how often a change was found after such an interval;
    ``unchanged`` (P): the sums of the intervals without one.

    The equation has no finite answer when every visit found a change: then half the mean interval counts as unchanged, as in
    the bias-reduced estimator. 0 where no change was found. Newton's steps on log r, at most 60.
    """
    lengths = np.asarray(changed, dtype=np.float64)
    times = np.asarray(counts, dtype=np.float64)
    total = times.sum(axis=1)
    lengths = np.broadcast_to(lengths, times.shape)
    spent = (times * lengths).sum(axis=1)
    mean = np.divide(spent, total, out=np.zeros_like(total), where=total > 0)
    quiet = np.asarray(unchanged, dtype=np.float64)
    quiet = np.where(quiet > 0, quiet, 0.5 * mean)
    some = total > 0
    rates = np.zeros(len(total))
    log_rate = np.log(np.divide(total[some], quiet[some] + spent[some]))
    weights, rest, lengths = times[some], quiet[some], lengths[some]
    for _ in range(STEPS):
        x = np.minimum(np.exp(log_rate)[:, None] * lengths, 300.0)
        grown = np.expm1(x)
        left = (weights * lengths / grown).sum(axis=1)
        slope = (weights * lengths * x * (grown + 1) / grown**2).sum(axis=1)
        # Newton on the logarithm of both sides: the left side is nearly a power of the rate.
        step = np.clip(np.log(left / rest) * left / slope, -2, 2)
        log_rate += step
        if np.abs(step).max(initial=0) < 1e-9:
            break
    rates[some] = np.exp(log_rate)
    return rates


class MaximumLikelihood(Estimator):
    """For visits at irregular intervals (section 4.3): the rate r at which the sum over changed intervals of t / (e^(r t) - 1) is
    the sum of the unchanged intervals.

    Keeps how many changes were found after intervals of each length, in 20 bins of lengths that double. 28 bytes a page.

    Binning changes an interval by less than a fifth on average. When a count would overflow its byte, all evidence of the page
    is halved.
    """

    def __init__(self) -> None:
        self.table = Table(
            unchanged=("f4", 0), changed=("f4", 0), **{f"bin{index}": ("u1", 0) for index in range(BINS)}
        )

    def add(self, evidence: Evidence) -> None:
        row, table = evidence.row, self.table
        if not evidence.changed:
            table["unchanged"][row] += evidence.interval
            return
        index = round(math.log2(max(evidence.interval, SHORTEST) / SHORTEST))
        column = table[f"bin{min(index, BINS - 1)}"]
        if column[row] == 255:
            table["unchanged"][row] /= 2
            table["changed"][row] /= 2
            for other in range(BINS):
                table[f"bin{other}"][row] //= 2
        column[row] += 1
        table["changed"][row] += evidence.interval

    def rates(self, rows: Rows = ALL) -> Array:
        counts = np.stack([self.table[f"bin{index}"][rows] for index in range(BINS)], axis=1)
        unchanged, changed = self.table["unchanged"][rows], self.table["changed"][rows].astype(np.float64)
        lengths = SHORTEST * 2.0 ** np.arange(BINS)
        binned = counts @ lengths
        stretch = np.divide(changed, binned, out=np.ones_like(binned), where=binned > 0)
        rates = maximum_likelihood(lengths * stretch[:, None], counts, unchanged)
        return np.where((unchanged > 0) | (binned > 0), rates, np.nan)
