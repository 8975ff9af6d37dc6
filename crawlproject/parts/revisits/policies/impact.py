"""Only changes that alter what a page is worth count (paper 004 section 5.1.2).

S. Pandey, C. Olston: User-centric web crawling. WWW 2005: a refresh is worth the change of the ranking that it brings,
estimated from earlier refreshes of the page. With ``TOPIC_QUERIES``, the ranking is that of these queries, and
``Outcome.impact`` is the worth of a change; without, the ranking is by ``Outcome.weight``.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from crawlproject.parts.revisits.allocation import Array, freshness_interval
from crawlproject.parts.revisits.base import Outcome
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy

PRIOR = 2.0  # changes that the mean impact of all pages counts as
FIRST_IMPACT = 0.1  # of a change, as a share of the weight, before any was seen


class Impact(IntervalPolicy):
    """The freshness optimum, weighted by the mean impact of a change, or by how far the weight of the page moved.

    A page whose changes leave its weight as it was is hardly visited, however often it changes. 8 bytes a page more than
    ``freshness``.
    """

    name = "impact"
    columns = MappingProxyType({"changes": ("f4", 0), "moved": ("f4", 0)})

    def __init__(self, *, estimator: str = "group_prior") -> None:
        super().__init__(estimator=estimator)
        self._changes, self._share = 1.0, FIRST_IMPACT

    def learn(self, outcome: Outcome, interval: float) -> None:
        if outcome.changed:
            before = float(self.pages["weight"][outcome.row])
            moved = abs(outcome.weight - before) if outcome.impact is None else outcome.impact
            self.pages["changes"][outcome.row] += 1
            self.pages["moved"][outcome.row] += moved
            self._changes += 1
            self._share += min(1.0, moved / max(before, outcome.weight, 1e-9))

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        expected = self._share / self._changes * self.weights(rows)
        moved, changes = self.pages["moved"][rows], self.pages["changes"][rows]
        impact = np.maximum((moved + PRIOR * expected) / (changes + PRIOR), 1e-12)
        return freshness_interval(price * rates / impact) / rates
