"""The maximum-likelihood estimator for visits at irregular intervals.

J. Cho, H. Garcia-Molina: Estimating frequency of change. ACM TOIT 3(3), 2003, section 4.3: the rate r at which
sum over changed intervals of t / (e^(r t) - 1) = sum of the unchanged intervals.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.estimators.base import ALL, Estimator, Evidence, Rows
from crawlproject.parts.revisits.table import Table

BINS = 20
SHORTEST = 900.0  # seconds: the first bin; each is twice as long as the one before, so the last is 15 years
STEPS = 60


def maximum_likelihood(changed: npt.ArrayLike, counts: npt.ArrayLike, unchanged: npt.ArrayLike) -> Array:
    """Rates of P pages.

    ``changed`` (K, or P, K): lengths of intervals; ``counts`` (P, K): how often a change was found after such an interval;
    ``unchanged`` (P): the sums of the intervals without one.

    The equation has no finite answer when every visit found a change: then half a change of the mean interval is taken back,
    as in the bias-reduced estimator. 0 where no change was found. Newton's steps on log r, at most 60.
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
    """Keeps how many changes were found after intervals of each length, in 20 bins of lengths that double. 28 bytes a page.

    The mean error of an interval by its bin is under a fifth. When a count would overflow its byte all evidence of the page
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
