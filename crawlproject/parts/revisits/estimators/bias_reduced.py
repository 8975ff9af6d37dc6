"""The bias-reduced estimator for visits at regular intervals.

J. Cho, H. Garcia-Molina: Estimating frequency of change. ACM TOIT 3(3), 2003, section 4.2: with X changes detected in n
visits at intervals I, the rate is -log((n - X + 0.5) / (n + 0.5)) / I.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.estimators.base import ALL, Estimator, Evidence, Rows
from crawlproject.parts.revisits.table import Table


def bias_reduced(visits: npt.ArrayLike, changes: npt.ArrayLike) -> Array:
    """Changes per interval. ``visits`` (n >= 1) and ``changes`` (0 <= X <= n): any equal shapes."""
    n, x = np.asarray(visits, dtype=np.float64), np.asarray(changes, dtype=np.float64)
    return -np.log((n - x + 0.5) / (n + 0.5))


class BiasReduced(Estimator):
    """Takes the mean of the intervals for I: exact when they are regular. 12 bytes a page."""

    def __init__(self) -> None:
        self.table = Table(visits=("f4", 0), changes=("f4", 0), watched=("f4", 0))

    def add(self, evidence: Evidence) -> None:
        self.table["visits"][evidence.row] += 1
        self.table["changes"][evidence.row] += evidence.changed
        self.table["watched"][evidence.row] += evidence.interval

    def rates(self, rows: Rows = ALL) -> Array:
        visits = self.table["visits"][rows].astype(np.float64)
        changes = self.table["changes"][rows].astype(np.float64)
        watched = self.table["watched"][rows].astype(np.float64)
        per_visit = bias_reduced(np.maximum(visits, 1), changes)
        return np.divide(per_visit * visits, watched, out=np.full(len(visits), np.nan), where=watched > 0)
