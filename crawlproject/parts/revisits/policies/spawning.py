"""Visits first the pages on which new pages are found (paper 004 section 3.2.2.1).

A. Dasgupta, A. Ghosh, R. Kumar, C. Olston, S. Pandey, A. Tomkins: The discoverability of the web. WWW 2007: few old pages
link to most new ones, and the number of new links a page had predicts how many it will have. A link counts only for the visit
that found it first. So pages with the same new links share the rate that one of them would have: they lose visits, but none is
dropped, unlike in the authors' cover of new links by few pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.base import Outcome
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy

SHAPE = 0.1  # of the Gamma prior of a page's rate: most pages never have a new link, a few have most of them
FIRST_LINKS = 1 / (365 * SECONDS_A_DAY)  # new links a second and page, before any evidence


class Spawning(IntervalPolicy):
    """The least delay from the birth of a page to its first visit, summed over the pages that appear.

    A page with r new links a second, visited every t seconds, lets each of them wait t/2: r t / 2 in all. At the Lagrange
    optimum r t² / 2 is one price for all pages, so visits are in proportion to the square root of r. Gives up no page. The rate
    is the posterior mean (shape + links) / (shape / mean of all pages + seconds). 8 bytes a page more than ``uniform``.
    """

    name = "spawning"
    columns = MappingProxyType({"links": ("f4", 0), "watched": ("f4", 0)})

    def __init__(self, *, estimator: str = "group_prior") -> None:
        super().__init__(estimator=estimator)
        self._links, self._watched = 1.0, 1 / FIRST_LINKS

    def learn(self, outcome: Outcome, interval: float) -> None:
        self.pages["links"][outcome.row] += outcome.new_links
        self.pages["watched"][outcome.row] += interval
        self._links += outcome.new_links
        self._watched += interval

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return np.sqrt(2 * price / self._spawned(rows))

    def explain(self, row: int) -> Mapping[str, float]:
        links = float(self._spawned(slice(row, row + 1))[0]) * SECONDS_A_DAY
        return {**super().explain(row), "new_links_a_day": links}

    def _spawned(self, rows: Rows) -> Array:
        """New links a second of these rows."""
        mean = self._links / self._watched
        links, watched = (self.pages[name][rows].astype(np.float64) for name in ("links", "watched"))
        return (SHAPE + links) / (SHAPE / mean + watched)
