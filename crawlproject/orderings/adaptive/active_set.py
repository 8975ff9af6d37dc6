"""The active set: which of the waiting URLs are worth a fetch now, and so what the frontier is told."""

from __future__ import annotations

import math
from math import ceil

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.adaptive.link_table import LinkTable, Rows

Vector = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FEWEST = 8  # URLs that are active when a crawl begins
DOUBLING = 100  # pages in which it doubles, up to its size
MOVED = 0.02  # a larger error revises the score of an active URL
MOVED_BELOW = 0.1  # the same for a URL that stays below the floor: these are many, and few of them will be fetched
NONE: Vector = np.zeros(0)
NEAR = 4  # times its full size: the rows among which the next active ones are
FEWEST_HOSTS = 4  # least number of hosts assumed for exploration, if the best URLs are on fewer


class ActiveSet:
    """The URLs of ``table`` whose score in the frontier is the ``floor`` or more.

    These are the ``size`` best (0: all), and the best URL of each of the next best hosts: at most ``explore`` times as many
    as the best URLs are on. They score the floor at least. At first the set is small, or the first pages would be spent on
    turns of hosts: it begins with ``FEWEST`` and doubles every ``DOUBLING`` pages.
    """

    def __init__(self, table: LinkTable, size: int, explore: float) -> None:
        self._table = table
        self._size = size
        self._explore = explore
        self._pages = 0
        self._count = 0
        self._full = 1.0  # share of the set that is of this table, when it was chosen last
        self.floor = -math.inf
        self._raised: dict[int, float] = {}  # the values of the rows that are explored
        self.near = -math.inf  # the value from which a row may become active soon

    def observe(self, pages: int = 1) -> None:
        """So many more pages were fetched."""
        self._pages += pages

    def is_short(self) -> bool:
        """Whether so many were fetched that others should become active."""
        return 2 * self._count < min(self._full * self._current_size(), len(self._table))

    def admit(self, rows: Rows, values: Vector) -> None:
        """The frontier gets these scores with the links of a page, unless it has higher ones."""
        told = self._table.told
        before = told[rows]
        told[rows] = known = np.maximum(before, values)
        counted = (before >= self.floor) & (before > -math.inf)
        self._count += int(np.count_nonzero((known >= self.floor) > counted))

    def tops(self, rows: Rows, values: Vector) -> tuple[Vector, Vector]:
        """The values of the rows that would be active if there were no others; and the best of each host, by its number."""
        size = min(self._current_size(), len(values))
        best = np.full(int(self._table.groups[rows, 0].max(initial=-1)) + 1, -math.inf)
        np.maximum.at(best, self._table.groups[rows, 0], values)
        return np.sort(values)[len(values) - size :], best

    def choose(self, rows: Rows, values: Vector, elsewhere: Vector = NONE, hosts: Vector = NONE) -> Rows:
        """Decide anew, with new scores of all rows; those whose score in the table changed, for the frontier.

        ``elsewhere`` are the best values that other workers have, ``hosts`` the best of each host there, by its number; behind
        those with a number, of others.
        """
        size, told = self._current_size(), self._table.told
        wanted = values.copy()
        self.near = self.floor = -math.inf
        self._raised = {}
        if 0 < NEAR * self._size < len(rows):
            self.near = float(np.partition(values, -NEAR * self._size)[-NEAR * self._size])
        everywhere = np.concatenate((values, elsewhere)) if len(elsewhere) else values
        if 0 < size < len(everywhere):
            self.floor = float(np.partition(everywhere, -size)[-size])
            others = explored(values, self._table.groups[rows, 0], self.floor, self._explore, hosts)
            wanted[others] = self.floor
            self._raised = dict(zip(rows[others].tolist(), values[others].tolist(), strict=True))
        before = told[rows]
        active = wanted >= self.floor
        moved = (active != (before >= self.floor)) | (np.abs(wanted - before) > np.where(active, MOVED, MOVED_BELOW))
        told[rows[moved]] = wanted[moved]
        self._count = int(np.count_nonzero(active))
        self._full = min(1.0, self._count / size) if len(elsewhere) and size else 1.0
        return rows[moved]

    def raised_by(self, row: int) -> float:
        """By how much the score of a row was raised to the floor, for the sake of exploration."""
        return float(self._table.told[row]) - self._raised[row] if row in self._raised else 0.0

    def removed(self, rows: Rows) -> None:
        for row in self._raised.keys() & rows.tolist():
            del self._raised[row]
        self._count -= int(np.count_nonzero(self._table.told[rows] >= self.floor))

    def _current_size(self) -> int:
        return min(self._size, int(FEWEST * 2 ** min(self._pages / DOUBLING, 32)))


def explored(scores: Vector, hosts: Rows, floor: float, explore: float, elsewhere: Vector = NONE) -> Rows:
    """The places of the best URL of each of the next best hosts, of which no URL reaches the floor.

    There are at most ``explore`` times as many as hosts with such URLs, which bounds the cost of exploration: when hosts take
    turns, a share ``explore / (1 + explore)`` of the fetches. Ties go to the first. ``elsewhere`` are the best scores of hosts
    that other workers have, by number: what is better there is explored there.
    """
    if not len(scores):
        return np.zeros(0, np.int64)
    own = np.full(max(int(hosts.max()) + 1, len(elsewhere)), -math.inf)
    np.maximum.at(own, hosts, scores)
    best = own.copy()
    np.maximum(best[: len(elsewhere)], elsewhere, out=best[: len(elsewhere)])
    leaders = np.flatnonzero((scores == best[hosts]) & (scores < floor))
    _, first = np.unique(hosts[leaders], return_index=True)
    strangers = leaders[np.sort(first)]
    most = ceil(explore * max(int(np.count_nonzero(best >= floor)), FEWEST_HOSTS))
    ranked = strangers[np.argsort(-scores[strangers], kind="stable")[:most]]
    rivals = best[(best > own) & (best < floor)]
    if not len(rivals):
        return ranked
    ahead = len(rivals) - np.searchsorted(np.sort(rivals), scores[ranked], side="right")
    return ranked[np.arange(len(ranked)) + ahead < most]
