"""The most text up to date: fragments that stay are worth a visit, those that are soon overwritten are not.

C. Olston, S. Pandey: Recrawl scheduling based on information longevity. WWW 2008, section 4.
"""

from __future__ import annotations

import numpy as np

from crawlproject.parts.revisits.allocation import Array, freshness_gain, freshness_interval
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.longevity_policy import LongevityPolicy

STEPS = 5  # of Newton; the start is off by less than a factor of two


class Content(LongevityPolicy):
    """Visits a page when U(t) = price, for a divergence D(t) = churn × (1 - e^(-rate t)) + scroll × t.

    U(t) = churn / rate × g(rate t) + scroll t² / 2, times the weight. A page that only churns may be given up, as in
    ``freshness``; a page that scrolls never is. 20 bytes a page more than ``freshness``.
    """

    name = "content"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        churn, scroll = self.longevity.profile(rows)
        price_of_page = price / self.weights(rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            churning = freshness_interval(price_of_page * rates / churn) / rates
            scrolling = np.sqrt(2 * price_of_page / scroll)
            log_t = np.log(np.minimum(churning, scrolling))
            both = np.isfinite(churning) & np.isfinite(scrolling) | np.isfinite(scrolling)
            for _ in range(STEPS):
                t = np.exp(log_t)
                x = np.minimum(rates * t, 500)
                gain = churn / rates * freshness_gain(x) + scroll * t * t / 2
                slope = (churn * x * np.exp(-x) * t + scroll * t * t) / gain
                step = (np.log(price_of_page) - np.log(gain)) / slope
                log_t = np.where(both, log_t + np.clip(step, -1, 1), log_t)
        return np.exp(log_t)
