"""The contract of every estimator of change rates (paper 004 section 5.1, "model estimation")."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.base import Table

Rows = slice | np.ndarray
ALL = slice(None)


class Evidence(NamedTuple):
    """A visit that followed another: ``interval`` seconds passed between them.

    ``quiet``: seconds from the last change to this visit, as the server states it; NaN when it does not. It may be longer
    than the interval, and then nothing changed in it. ``host`` and ``template`` number the groups of the page.
    """

    row: int
    interval: float
    changed: bool
    quiet: float = math.nan
    host: int = 0
    template: int = 0


class Estimator(ABC):
    """Estimates rates of change from visits, in bounded memory a page. Rates are changes per second, times are seconds."""

    table: Table

    @property
    def bytes_per_page(self) -> int:
        return self.table.bytes_per_row

    def meet(self, row: int, host: int, template: int) -> None:
        """Make room for a page that was visited for the first time."""
        self.table.grow(row + 1)

    @abstractmethod
    def add(self, evidence: Evidence) -> None:
        """Learn from a visit. O(1)."""

    @abstractmethod
    def rates(self, rows: Rows = ALL) -> Array:
        """Estimated rates of these rows; NaN where nothing is known of a page."""
