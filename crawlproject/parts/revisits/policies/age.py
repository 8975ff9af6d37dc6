"""The lowest age: how long copies have been out of date (Cho and Garcia-Molina 2003, section 5.3: "age optimization")."""

from __future__ import annotations

from crawlproject.parts.revisits.allocation import Array, age_interval
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class Age(IntervalPolicy):
    """Lagrange optimum of weighted age: weight / rate² × h(rate × interval) = price. Gives up no page, since age grows for
    ever."""

    name = "age"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        return age_interval(price * rates**2 / (self.weights(rows))) / rates
