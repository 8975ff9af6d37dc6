"""How long the content of a page lives: the shares that stay, churn and scroll, from how new its text was at each visit.

C. Olston, S. Pandey: Recrawl scheduling based on information longevity. WWW 2008, sections 2 and 3: *static* fragments stay,
*churning* ones are overwritten again and again, *scrolling* ones are added and move down. Between two visits churning text is
replaced once, however long the interval; the longer the interval, the more text scrolls. So novelty is a line over the interval:
its value at 0 is the churning share, its slope the share that scrolls by per second. Here a least-squares line replaces stored
fragments: a few numbers a page instead of a sketch of each version.
"""

from __future__ import annotations

import numpy as np

from crawlproject.parts.revisits.allocation import Array
from crawlproject.parts.revisits.base import Table
from crawlproject.parts.revisits.estimators.base import ALL, Rows

PRIOR = 2.0  # observations that the mean novelty of all pages counts as
FIRST_NOVELTY = 0.1  # before any: about the median change of Fetterly et al. 2003
SHORTEST = 3600.0  # seconds: spread of intervals below which no slope is estimated


class Longevity:
    """Sums of a regression of novelty (0 to 1) on interval (s). 20 bytes a page."""

    def __init__(self) -> None:
        self.table = Table(n=("f4", 0), t=("f4", 0), tt=("f4", 0), y=("f4", 0), ty=("f4", 0))
        self.changes = 1.0
        self.novelty = FIRST_NOVELTY

    def meet(self, row: int) -> None:
        self.table.grow(row + 1)

    def add(self, row: int, interval: float, novelty: float) -> None:
        """Learn that a visit after ``interval`` seconds found a change, with the share ``novelty`` of the text new."""
        table = self.table
        for name, value in (
            ("n", 1.0),
            ("t", interval),
            ("tt", interval * interval),
            ("y", novelty),
            ("ty", interval * novelty),
        ):
            table[name][row] += value
        self.changes += 1
        self.novelty += novelty

    def profile(self, rows: Rows = ALL) -> tuple[Array, Array]:
        """(churning share, 0 to 1; share that scrolls by per second) of these rows.

        The divergence after t is churn × (1 - e^(-rate t)) + scroll × t. The slope is pulled to 0 by ``PRIOR`` observations.
        """
        n, t, tt, y, ty = (self.table[name][rows].astype(np.float64) for name in ("n", "t", "tt", "y", "ty"))
        mean = self.novelty / self.changes
        some = np.maximum(n, 1)
        spread = np.maximum(tt / some - (t / some) ** 2, SHORTEST**2)
        slope = (ty / some - (t / some) * (y / some)) / spread * (n / (n + PRIOR))
        level = (y + PRIOR * mean) / (n + PRIOR)
        steepest = np.divide(level, t / some, out=np.zeros_like(level), where=t > 0)
        scroll = np.clip(slope, 0, steepest)
        churn = np.clip(level - scroll * t / some, 1e-6, 1)
        return churn, scroll
