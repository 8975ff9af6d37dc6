"""A fixed delay, as Heritrix's ``rescheduleDelaySeconds``: a baseline."""

from __future__ import annotations

import numpy as np

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class Heritrix(IntervalPolicy):
    """Every page is due ``delay`` days after its last visit, whatever the budget: when it is too small, the oldest come
    first."""

    name = "heritrix"

    def __init__(self, *, estimator: str = "naive", delay: float = 30.0) -> None:
        super().__init__(estimator=estimator)
        self.delay = delay
        self.price = 1.0

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return np.full(len(self.pages["last"][rows]), self.delay * SECONDS_A_DAY)

    def plan(self, now: float, rate: float, new_value: float | None = None) -> float:
        return rate
