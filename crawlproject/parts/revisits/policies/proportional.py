"""Visits in proportion to changes (Cho and Garcia-Molina 2003, section 4.2): kept for comparison, since uniform is fresher."""

from __future__ import annotations

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class Proportional(IntervalPolicy):
    """Visits per second ∝ rate ** ``power``: 1 is the published one, 0 is uniform."""

    name = "proportional"

    def __init__(self, *, estimator: str = "group_prior", power: float = 1.0) -> None:
        super().__init__(estimator=estimator)
        self.power = power

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return price / self.rates(rows) ** self.power
