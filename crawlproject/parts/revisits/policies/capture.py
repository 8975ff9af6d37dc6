"""As many updates as possible, captured soon after they appear, whatever becomes of them later.

S. Pandey, K. Dhamdhere, C. Olston: WIC: a general-purpose algorithm for monitoring web information sources. VLDB 2004; paper
004 section 5.2.
"""

from __future__ import annotations

import numpy as np

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array, freshness_gain, freshness_interval
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.longevity_policy import LongevityPolicy

STEPS = 12  # of bisection on logarithms: within 0.2%, and the budget is met by ``stretch``
LONGEST = 100 * 365 * SECONDS_A_DAY  # seconds: a page with a longer interval is given up


class CaptureRevisits(LongevityPolicy):
    """The utility of a visit is what it captures; a visit is urgent where an update is lost unless it is captured soon.

    An update that is seen late is worth e^(-delay / p), p = ``patience`` (in days). It has one of two *life cycles*: the next
    update overwrites it, and it is lost, or the next update is appended, and it may wait. With rate λ, κ = λ + 1/p and the
    share a of updates that append, a visit after t captures V(t) = (1-a) λ/κ (1 - e^(-κ t)) + a λ p (1 - e^(-t/p)); at the
    optimum weight × (V - t V') = price, where V - t V' is (1-a) λ/κ g(κ t) + a λ p g(t/p). ``Longevity`` estimates a from what
    churns and what scrolls on the page. 20 bytes a page more than ``freshness``.
    """

    name = "capture"

    def __init__(self, *, estimator: str = "group_prior", patience: float = 30.0) -> None:
        super().__init__(estimator=estimator)
        self.patience = patience

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        rates = self.rates(rows)
        churn, scroll = self.longevity.profile(rows)
        appended = scroll / (scroll + churn * rates)
        return capture_interval(price / self.weights(rows), rates, appended, self.patience * SECONDS_A_DAY)


def capture_interval(price: Array, rates: Array, appended: Array, patience: float) -> Array:
    """The t with (1-a) λ/κ g(κ t) + a λ p g(t/p) = price; ``inf``: a visit is never worth it. Times in seconds."""
    decay = rates + 1 / patience
    overwriting = freshness_interval(price * decay / rates) / decay
    appending = freshness_interval(price / (rates * patience)) * patience
    low, high = (np.log(np.minimum(each, LONGEST)) for each in (overwriting, appending))
    low, high = np.minimum(low, high), np.maximum(low, high)
    for _ in range(STEPS):
        middle = (low + high) / 2
        t = np.exp(middle)
        short = _gain(t, rates, decay, appended, patience) < price
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    t = np.exp((low + high) / 2)
    return np.where(_gain(np.full_like(t, LONGEST), rates, decay, appended, patience) < price, np.inf, t)


def _gain(t: Array, rates: Array, decay: Array, appended: Array, patience: float) -> Array:
    lost = rates / decay * freshness_gain(np.minimum(decay * t, 500))
    kept = rates * patience * freshness_gain(np.minimum(t / patience, 500))
    return (1 - appended) * lost + appended * kept
