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
MOVED = 0.02  # a larger error revises the score of a URL
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
        self.floor = -math.inf
        self._raised: dict[int, float] = {}  # the values of the rows that are explored
        self.near = -math.inf  # the value from which a row may become active soon

    def observe(self) -> None:
        """One more page was fetched."""
        self._pages += 1

    def is_short(self) -> bool:
        """Whether so many were fetched that others should become active."""
        return 2 * self._count < min(self._current_size(), len(self._table))

    def admit(self, rows: Rows, values: Vector) -> None:
        """The frontier gets these scores with the links of a page, unless it has higher ones."""
        told = self._table.told
        before = told[rows]
        told[rows] = known = np.maximum(before, values)
        counted = (before >= self.floor) & (before > -math.inf)
        self._count += int(np.count_nonzero((known >= self.floor) > counted))

    def choose(self, rows: Rows, values: Vector) -> Rows:
        """Decide anew, with new scores of all rows; those whose score in the table changed, for the frontier."""
        size, told = self._current_size(), self._table.told
        wanted = values.copy()
        self.near = self.floor = -math.inf
        self._raised = {}
        if 0 < NEAR * self._size < len(rows):
            self.near = float(np.partition(values, -NEAR * self._size)[-NEAR * self._size])
        if 0 < size < len(rows):
            self.floor = float(np.partition(values, -size)[-size])
            others = explored(values, self._table.groups[rows, 0], self.floor, self._explore)
            wanted[others] = self.floor
            self._raised = dict(zip(rows[others].tolist(), values[others].tolist(), strict=True))
        before = told[rows]
        active = wanted >= self.floor
        moved = (active != (before >= self.floor)) | (np.abs(wanted - before) > MOVED)
        told[rows[moved]] = wanted[moved]
        self._count = int(np.count_nonzero(active))
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


def explored(scores: Vector, hosts: Rows, floor: float, explore: float) -> Rows:
    """The places of the best URL of each of the next best hosts, of which no URL reaches the floor.

    There are at most ``explore`` times as many as hosts with such URLs, which bounds the cost of exploration: when hosts take
    turns, a share ``explore / (1 + explore)`` of the fetches. Ties go to the first.
    """
    if not len(scores):
        return np.zeros(0, np.int64)
    best = np.full(int(hosts.max()) + 1, -math.inf)
    np.maximum.at(best, hosts, scores)
    leaders = np.flatnonzero((scores == best[hosts]) & (scores < floor))
    _, first = np.unique(hosts[leaders], return_index=True)
    strangers = leaders[np.sort(first)]
    most = ceil(explore * max(int(np.count_nonzero(best >= floor)), FEWEST_HOSTS))
    return strangers[np.argsort(-scores[strangers], kind="stable")[:most]]
