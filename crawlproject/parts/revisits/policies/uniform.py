"""The same interval for every page (Cho and Garcia-Molina 2003, section 4.2: "uniform allocation")."""

from __future__ import annotations

import numpy as np

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy


class Uniform(IntervalPolicy):
    """Every page as often as every other. It learns rates only to show them."""

    name = "uniform"

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return np.full(len(self.pages["last"][rows]), price)
