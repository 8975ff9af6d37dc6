"""Changes that were seen, over the time that was watched: the intuitive estimator, which is biased.

J. Cho, H. Garcia-Molina: Estimating frequency of change. ACM Transactions on Internet Technology 3(3), 2003, section 4.1.
Several changes between two visits are seen as one, so a page that changes faster than it is visited is underestimated.
"""

from __future__ import annotations

import numpy as np

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.estimators.base import ALL, Estimator, Evidence, Rows
from crawlproject.parts.revisits.table import Table


class Naive(Estimator):
    """X / T, with X detected changes in a time of T. 8 bytes a page."""

    def __init__(self) -> None:
        self.table = Table(changes=("f4", 0), watched=("f4", 0))

    def add(self, evidence: Evidence) -> None:
        self.table["changes"][evidence.row] += evidence.changed
        self.table["watched"][evidence.row] += evidence.interval

    def rates(self, rows: Rows = ALL) -> Array:
        changes = self.table["changes"][rows].astype(np.float64)
        watched = self.table["watched"][rows].astype(np.float64)
        return np.divide(changes, watched, out=np.full(len(changes), np.nan), where=watched > 0)
