"""Visits in proportion to importance (S. Abiteboul, M. Preda, G. Cobena: Adaptive on-line page importance computation. WWW
2003).

A page gathers cash at a rate that is its importance, and the page with the most cash is visited next, which spends it: so in
the long run each page is visited as often as its importance says, whether it changes or not (section 5, "greedy").
"""

from __future__ import annotations

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class OpicRevisits(IntervalPolicy):
    """Importance is ``Outcome.weight``. The price is the cash at which a page is visited."""

    name = "opic"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return price / self.weights(rows)
