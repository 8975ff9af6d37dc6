"""The most pages up to date (Cho and Garcia-Molina 2003, sections 5.3 and 6.1, "weighted freshness").

E. Coffman, Z. Liu, R. Weber: Optimal robot scheduling for web search engines. Journal of Scheduling 1, 1998, posed the problem.
"""

from __future__ import annotations

from crawlproject.parts.revisits.allocation import Array, freshness_interval
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class Freshness(IntervalPolicy):
    """Lagrange optimum of weighted binary freshness: weight / rate × g(rate × interval) = price. Gives up the fastest pages."""

    name = "freshness"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        return freshness_interval(price * rates / self.weights(rows)) / rates
