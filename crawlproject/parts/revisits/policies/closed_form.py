"""Published policies that are one formula: the interval of a page from its rate of change, its weight and the price of a
visit.
"""

from __future__ import annotations

import numpy as np

from crawlproject.parts.revisits.allocation import Array, age_interval, freshness_interval
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class Uniform(IntervalPolicy):
    """Visits all pages equally often (Cho and Garcia-Molina 2003, section 4.2: "uniform allocation").

    It learns rates only to show them.
    """

    name = "uniform"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return np.full(len(self.pages["last"][rows]), price)


class Proportional(IntervalPolicy):
    """Visits in proportion to changes (Cho and Garcia-Molina 2003, section 4.2): kept for comparison, since uniform is fresher.

    Visits per second ∝ rate ** ``power``: 1 is the published one, 0 is uniform.
    """

    name = "proportional"

    def __init__(self, *, estimator: str = "group_prior", power: float = 1.0) -> None:
        super().__init__(estimator=estimator)
        self.power = power

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return price / self.rates(rows) ** self.power


class Freshness(IntervalPolicy):
    """The most pages up to date (Cho and Garcia-Molina 2003, sections 5.3 and 6.1, "weighted freshness"; E. Coffman, Z. Liu,
    R. Weber: Optimal robot scheduling for web search engines. Journal of Scheduling 1, 1998, posed the problem).

    Lagrange optimum of weighted binary freshness: weight / rate × g(rate × interval) = price. Gives up the fastest pages.
    """

    name = "freshness"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        return freshness_interval(price * rates / self.weights(rows)) / rates


class Age(IntervalPolicy):
    """The lowest age: how long copies have been out of date (Cho and Garcia-Molina 2003, section 5.3: "age optimization").

    Lagrange optimum of weighted age: weight / rate² × h(rate × interval) = price. Gives up no page, since age grows for
    ever.
    """

    name = "age"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        return age_interval(price * rates**2 / (self.weights(rows))) / rates


class OpicRevisits(IntervalPolicy):
    """Visits in proportion to importance (S. Abiteboul, M. Preda, G. Cobena: Adaptive on-line page importance computation. WWW
    2003).

    A page gathers cash at a rate that is its importance. The page with the most cash is visited next, and the visit spends its
    cash. So in the long run each page is visited as often as its importance says, whether it changes or not (section 5,
    "greedy"). Importance is ``Outcome.weight``. The price is the cash at which a page is visited.
    """

    name = "opic"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return price / self.weights(rows)
