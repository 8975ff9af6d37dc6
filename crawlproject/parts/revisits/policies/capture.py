"""As many updates as possible, soon after they appear (paper 004 section 5.2).

S. Pandey, K. Dhamdhere, C. Olston: WIC: a general-purpose algorithm for monitoring web information sources. VLDB 2004: an
update that is seen late is worth less, one that was overwritten is lost.
"""

from __future__ import annotations

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array, freshness_interval
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class CaptureRevisits(IntervalPolicy):
    """A visit captures the last update; it is worth weight × e^(-delay / ``patience``), ``patience`` in days.

    A visit after t is worth V(t) = λ / κ × (1 - e^(-κ t)) with κ = λ + 1 / patience, and the optimum V(t) - t V'(t) = price,
    that is weight × λ / κ × g(κ t) = price. It visits the fastest pages most and gives up the slowest: the opposite of
    ``freshness``.
    """

    name = "capture"

    def __init__(self, *, estimator: str = "group_prior", patience: float = 30.0) -> None:
        super().__init__(estimator=estimator)
        self.patience = patience

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        decay = rates + 1 / (self.patience * SECONDS_A_DAY)
        return freshness_interval(price * decay / (rates * self.weights(rows))) / decay
