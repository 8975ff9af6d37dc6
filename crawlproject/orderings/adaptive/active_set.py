"""The active set: the waiting URLs that are worth a fetch now, and the scores that the frontier gets."""

from __future__ import annotations

import math
from math import ceil

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.adaptive.link_table import LinkTable, Rows

Vector = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FEWEST = 8  # URLs that are active when a crawl begins
DOUBLING = 100  # pages in which the set doubles, up to its full size
MOVED = 0.02  # a larger error revises the score of an active URL
MOVED_BELOW = 0.1  # the same below the floor, where there are many URLs, few of which will be fetched
NONE: Vector = np.zeros(0)
NEAR = 4  # times the full size: the best rows, among which the next active ones are
FEWEST_HOSTS = 4  # least number of hosts assumed for exploration, if the best URLs are on fewer


class ActiveSet:
    """The URLs of ``table`` whose score in the frontier is the ``floor`` or more.

    These are the ``size`` best URLs (0: all), and the best URL of each of the next best hosts, at most ``explore`` times as
    many hosts as the best URLs are on; the scores of these are raised to the floor. The set begins with ``FEWEST`` URLs and
    doubles every ``DOUBLING`` pages; otherwise the first pages would be spent on visiting hosts in turn.
    """

    def __init__(self, table: LinkTable, size: int, explore: float) -> None:
        self._table = table
        self._size = size
        self._explore = explore
        self._pages = 0
        self._count = 0
        self._full = 1.0  # share of the set that is in this table, since the last choice
        self.floor = -math.inf
        self._raised: dict[int, float] = {}  # row -> value of the rows that are explored
        self.near = -math.inf  # the value from which on a row may become active soon

    def observe(self, pages: int = 1) -> None:
        """Count fetched pages."""
        self._pages += pages

    def is_short(self) -> bool:
        """Whether so many active URLs were fetched that others should become active."""
        return 2 * self._count < min(self._full * self._current_size(), len(self._table))

    def admit(self, rows: Rows, values: Vector) -> None:
        """Note that the frontier gets these scores with the links of a page, where it has no higher ones."""
        told = self._table.told
        before = told[rows]
        told[rows] = known = np.maximum(before, values)
        counted = (before >= self.floor) & (before > -math.inf)
        self._count += int(np.count_nonzero((known >= self.floor) > counted))

    def tops(self, rows: Rows, values: Vector) -> tuple[Vector, Vector]:
        """The values of the rows that would be active without other workers; and the best value of each host, by number."""
        size = min(self._current_size(), len(values))
        best = np.full(int(self._table.groups[rows, 0].max(initial=-1)) + 1, -math.inf)
        np.maximum.at(best, self._table.groups[rows, 0], values)
        return np.sort(values)[len(values) - size :], best

    def choose(self, rows: Rows, values: Vector, elsewhere: Vector = NONE, hosts: Vector = NONE) -> Rows:
        """Choose the active rows from new values of all rows; return the rows whose score in the frontier must change.

        ``elsewhere`` are the best values of other workers; ``hosts`` are their best values of each host, by number, followed
        by those of hosts without a number here.
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
        """By how much the score of a row was raised to the floor for exploration."""
        return float(self._table.told[row]) - self._raised[row] if row in self._raised else 0.0

    def removed(self, rows: Rows) -> None:
        for row in self._raised.keys() & rows.tolist():
            del self._raised[row]
        self._count -= int(np.count_nonzero(self._table.told[rows] >= self.floor))

    def _current_size(self) -> int:
        return min(self._size, int(FEWEST * 2 ** min(self._pages / DOUBLING, 32)))


def explored(scores: Vector, hosts: Rows, floor: float, explore: float, elsewhere: Vector = NONE) -> Rows:
    """The places of the best URLs of the best hosts among those whose URLs are all below the floor, one URL per host.

    There are at most ``explore`` times as many as there are hosts with a URL at the floor or above. This bounds the cost of
    exploration: when hosts take turns, a share ``explore / (1 + explore)`` of the fetches. Ties go to the first.
    ``elsewhere`` are the best scores of hosts at other workers, by number: a host with a better URL there is explored there.
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
