"""The active set: which of the waiting URLs are worth a fetch now."""

from __future__ import annotations

from collections.abc import Collection
from math import ceil

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.adaptive.link_table import LinkTable, Rows

Vector = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

RECENT = 64  # recent pages that show whether the crawl finds anything
LOST = 0.12  # mean worth of recent pages below which the set widens
FOUND = 0.24  # mean worth from which the topic counts as found; a later low means that it is exhausted
WIDEST = 16.0  # times its size
MOVED = 0.005  # a larger error revises the score of an active URL
NO_ROWS: Rows = np.zeros(0, dtype=np.int64)
FEWEST_HOSTS = 4  # least number of hosts assumed for exploration, if the best URLs are on fewer


class ActiveSet:
    """The rows of ``table`` whose URLs are in the frontier: the ``size`` best (0: all), and those that ``explore`` adds.

    Until the topic is found scores mean little, and the set is up to ``WIDEST`` times as large. What the frontier has to be
    told is in ``revised``, ``leaving`` and ``entering`` until it is taken from there.
    """

    def __init__(self, table: LinkTable, size: int, explore: float) -> None:
        self._table = table
        self._size = size
        self._explore = explore
        self._pages = 0
        self._harvest = 0.0  # mean worth of the recent pages
        self._found = False  # the topic
        self._count = 0
        self._level = -np.inf  # the lowest score of the best
        self.revised, self.leaving, self.entering = NO_ROWS, NO_ROWS, NO_ROWS

    def observe(self, worth: float) -> None:
        """One more page of this worth was fetched."""
        self._pages += 1
        self._harvest += max(1.0 / self._pages, 1.0 / RECENT) * (worth - self._harvest)
        self._found = self._found or self._harvest >= FOUND

    def is_short(self) -> bool:
        """Whether so many were fetched that others should become active."""
        return 2 * self._count < min(self._size, len(self._table))

    def admit(self, rows: Rows, values: Vector) -> Mask:
        """New scores of the links of a page: those among the best become active. Returns which of ``rows`` are."""
        table = self._table
        wanted = values >= self._level
        self._count += int((wanted & ~table.active[rows]).sum())
        table.active[rows] |= wanted
        table.score[rows] = values
        return table.active[rows]

    def choose(self, rows: Rows, values: Vector) -> None:
        """Decide anew, with new scores of all that waits."""
        table, size = self._table, self._current_size()
        wanted = shortlist(values, table.groups[rows, 0], size, self._explore) if size else np.ones(len(rows), bool)
        self._level = -np.inf if wanted.all() else float(np.sort(values)[-size])
        active = table.active[rows]
        moved = ~active | (np.abs(values - table.score[rows]) > MOVED)
        table.score[rows[moved]] = values[moved]
        self.revised = rows[active & wanted & moved]
        self.leaving = rows[active & ~wanted]
        self.entering = rows[wanted & ~active]
        table.active[rows] = wanted
        self._count = int(wanted.sum())

    def remove(self, url: str) -> None:
        """End the row of ``url``, if there is one."""
        self._count -= self._table.remove(url)

    def resumed(self, waiting: Collection[str]) -> None:
        """After a replay: the frontier holds ``waiting``."""
        table, rows = self._table, self._table.waiting()
        table.active[rows] = [url in waiting for url in table.urls(rows)]
        self._count = int(table.active[rows].sum())
        self.revised, self.leaving, self.entering = NO_ROWS, NO_ROWS, NO_ROWS

    def _current_size(self) -> int:
        if self._found:
            return self._size
        return round(self._size * min(WIDEST, max(1.0, (LOST / max(self._harvest, 1e-6)) ** 2)))


def shortlist(scores: Vector, hosts: Rows, size: int, explore: float) -> Mask:
    """True for the ``size`` best scores, and for the best of every one of the next best hosts.

    There are at most ``explore`` times as many of these hosts as the best URLs have, which bounds the cost of exploration:
    when hosts take turns, a share ``explore / (1 + explore)`` of the fetches. Ties go to the first.
    """
    if len(scores) <= size:
        return np.ones(len(scores), dtype=bool)
    chosen = np.zeros(len(scores), dtype=bool)
    order = np.argsort(-scores, kind="stable")
    chosen[order[:size]] = True
    familiar = np.unique(hosts[chosen])
    _, first = np.unique(hosts[order], return_index=True)
    best_of_host = order[np.sort(first)]
    strangers = best_of_host[~np.isin(hosts[best_of_host], familiar)]
    chosen[strangers[: ceil(explore * max(len(familiar), FEWEST_HOSTS))]] = True
    return chosen
