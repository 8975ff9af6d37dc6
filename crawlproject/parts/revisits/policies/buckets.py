"""Buckets of pages that change about equally often, each a first-in first-out queue; a nonlinear programme shares out the budget.

J. Edwards, K. McCurley, J. Tomlin: An adaptive model for optimizing performance of an incremental web crawler. WWW 2001
(WebFountain). A page has no model, only a bucket; a visit may move it to the next one. The programme has one variable a bucket,
so it is as small for 10 million pages as for a thousand.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from crawlproject.extras import need
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.base import Outcome
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy

BUCKETS = 24
FASTEST = SECONDS_A_DAY / 24  # mean time between changes in bucket 0; times RATIO in each next one, up to 23 years
RATIO = 1.7
FIRST_BUCKET = 15  # four months, the median of Cho and Garcia-Molina's sample
LEAST = 1e-9
MOST_NEW = 0.9  # of the budget for pages that were never visited, at most


def shares_of_budget(sizes: Array, rates: Array, weights: Array, budget: float, uncrawled: float = 0.0) -> Array:
    """Visits per second and page of each bucket that minimise the time for which pages are out of date.

    Minimises Σ weight × (1 - F(rate, f)) with F = f / rate × (1 - e^(-rate / f)), subject to Σ size × f = budget and f >= 0,
    by SciPy's SLSQP over the shares of the budget. ``sizes``: pages; ``rates``: changes per second; ``weights``: sums over a
    bucket. (B,) each. ``uncrawled``: seconds for which a page that was never visited is up to date after its visit, times its
    weight. Until then it is out of date (freshness 0). Such visits get what is left of the budget.
    """
    from scipy.optimize import minimize  # takes a third of a second, and Scrapy imports all commands at every start

    result = np.zeros(len(sizes))
    some = np.flatnonzero(sizes > 0)
    if not len(some) or budget <= 0:
        return result
    scale = budget / sizes[some]  # visits per page and second, for the whole budget
    worth = weights[some] / weights[some].sum()
    ratio = rates[some] / scale

    def stale(share: Array) -> tuple[float, Array]:
        x = ratio / np.maximum(share, LEAST)
        fresh = -np.expm1(-x) / x
        slope = (-np.expm1(-x) - x * np.exp(-np.minimum(x, 700))) / ratio
        return float((worth * (1 - fresh)).sum()), -worth * slope

    gain = float(budget * uncrawled / weights[some].sum())

    def stale_with_new(share: Array) -> tuple[float, Array]:
        of_known, slope = stale(share[:-1])
        return of_known - gain * float(share[-1]), np.append(slope, -gain)

    bounds = [(0.0, 1.0)] * len(some) + [(0.0, MOST_NEW)] * (gain > 0)
    found = minimize(
        stale_with_new if gain > 0 else stale,
        np.full(len(bounds), 1 / len(bounds)),
        jac=True,
        method="SLSQP",
        bounds=bounds,
        constraints={"type": "eq", "fun": lambda u: u.sum() - 1, "jac": np.ones_like},
        options={"maxiter": 500, "ftol": 1e-10},
    )
    share = np.maximum(found.x, 0)
    result[some] = scale * (share / share.sum())[: len(some)]
    return result


class Buckets(IntervalPolicy):
    """Moves a page to the next faster bucket when it changed sooner than its bucket says, and to the next slower one when it
    stayed unchanged for longer. 5 bytes a page more than ``uniform``.
    """

    name = "buckets"
    columns = MappingProxyType({"bucket": ("u1", FIRST_BUCKET), "quiet": ("f4", 0)})

    def __init__(self, *, estimator: str = "naive") -> None:
        need("revisit policy buckets", "learn", "scipy")
        super().__init__(estimator=estimator)
        self._frequency = np.zeros(BUCKETS)

    def learn(self, outcome: Outcome, interval: float) -> None:
        row, place = outcome.row, self.pages
        bucket = int(place["bucket"][row])
        expected = FASTEST * RATIO**bucket
        quiet = float(place["quiet"][row]) + interval
        if outcome.changed:
            place["quiet"][row] = 0
            if quiet < expected:
                place["bucket"][row] = max(bucket - 1, 0)
        elif quiet > expected:
            place["quiet"][row] = 0
            place["bucket"][row] = min(bucket + 1, BUCKETS - 1)
        else:
            place["quiet"][row] = quiet

    def price_of(self, rate: float, rows: npt.NDArray[np.integer[Any]]) -> float:
        bucket = self.pages["bucket"][rows]
        sizes = np.bincount(bucket, minlength=BUCKETS).astype(np.float64)
        weights = np.bincount(bucket, weights=self.weights(rows), minlength=BUCKETS).astype(np.float64)
        rates = 1 / (FASTEST * RATIO ** np.arange(BUCKETS))
        used = np.flatnonzero(sizes)
        nearest = used[np.abs(np.arange(BUCKETS)[:, None] - used).argmin(axis=1)]  # a page may move to an empty bucket
        self._frequency = shares_of_budget(sizes, rates, weights, rate)[nearest]
        return 1.0

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        frequency = self._frequency[self.pages["bucket"][rows]]
        return np.divide(price, frequency, out=np.full(len(frequency), math.inf), where=frequency > 0)

    def rates(self, rows: Rows = ALL) -> Array:
        return np.asarray(1 / (FASTEST * RATIO ** self.pages["bucket"][rows].astype(np.float64)))


class WebFountain(Buckets):
    """``buckets`` with new pages in its programme, as published: they have freshness 0 until their first visit.

    A new page stays up to date for as long as the mean page of the collection does. It is worth that, times its expected weight.
    """

    name = "webfountain"
    weighs_new: ClassVar[bool] = True

    def plan(self, now: float, rate: float, new_value: float | None = None) -> float:
        alive = np.flatnonzero((self.pages["last"] > -math.inf) & (self.pages["gone"] == 0))
        if not new_value or not len(alive):
            return super().plan(now, rate)
        rates = 1 / (FASTEST * RATIO ** np.arange(BUCKETS))
        bucket = self.pages["bucket"][alive]
        sizes = np.bincount(bucket, minlength=BUCKETS).astype(np.float64)
        weights = np.bincount(bucket, weights=self.weights(alive), minlength=BUCKETS).astype(np.float64)
        uncrawled = new_value / float(rates @ sizes / len(alive))
        return super().plan(now, float(shares_of_budget(sizes, rates, weights, rate, uncrawled) @ sizes))
