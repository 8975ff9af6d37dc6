"""How much has happened in each group of pages: a clock a group, which runs fast in bursts and slow between them.

Pages of a site change together, when it is rebuilt. The hazard of page i of group g on day b is m_i × h_gb (a shared frailty
model: D. Clayton. Biometrika 65, 1978): m_i is the page's own multiplier, of mean 1, and h_gb the changes of a page of multiplier 1
on that day. h_gb is Gamma distributed around the rate of the group with a small shape: most days nothing happens, on some much.
Each visit is evidence on the days since the last one. One that found no change makes them quieter for all pages of the group; one that
found a change makes some of them busier, those that are already suspected most.
"""

from __future__ import annotations

import math

import numpy as np

from crawlproject.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.revisits.table import Table

DAYS = 64  # days that a clock remembers one by one; before them it ran evenly
BURST_SHAPE = 0.03  # of the Gamma distribution of a day's hazard: about the share of days with a burst
HALF_LIFE = 180.0  # days after which evidence on the rate of a group counts half
PULL = 0.5  # changes by which the rate of a group is pulled to that of all pages


class Clocks:
    """The clocks of all groups. Readings are changes of a page of multiplier 1 since the clock was started.

    A clock takes 8 bytes a day remembered, 64 days: 0.5 kB a group.
    """

    def __init__(self, first_rate: float) -> None:
        self.groups = Table(
            day=("i4", -1), before=("f8", 0), changes=("f8", 0), watched=("f8", 0), rate=("f8", 0), row=("i4", -1)
        )
        self._count = np.zeros((16, DAYS), dtype=np.float32)  # expected changes, by day modulo DAYS
        self._watched = np.zeros((16, DAYS), dtype=np.float32)  # multipliers × days that were watched
        self.changes = 1.0
        self.watched = 1.0 / first_rate

    def rate(self, group: int) -> float:
        """Changes a day of a page of multiplier 1, in the long run."""
        overall = self.changes / self.watched
        known = self.groups
        return float((PULL + known["changes"][group]) / (PULL / overall + known["watched"][group]))

    def rates(self) -> Array:
        overall = self.changes / self.watched
        return np.asarray((PULL + self.groups["changes"]) / (PULL / overall + self.groups["watched"]))

    def advance(self, group: int, now: float) -> None:
        """Make the clock's last day that of ``now``: a seconds-since-the-epoch time. O(days passed), at most ``DAYS``."""
        self.groups.grow(group + 1)
        while group >= len(self._count):
            self._count = np.concatenate([self._count, np.zeros_like(self._count)])
            self._watched = np.concatenate([self._watched, np.zeros_like(self._watched)])
        today = int(now // SECONDS_A_DAY)
        groups = self.groups
        last = int(groups["day"][group])
        if today <= last:
            return
        groups["rate"][group] = rate = self.rate(group)
        if last < 0:
            groups["before"][group] = rate * max(today - DAYS, 0)
        else:
            passed = today - last
            hazards = self.hazards(group)
            forgotten = min(passed, DAYS)
            groups["before"][group] += hazards[:forgotten].sum() + rate * max(passed - DAYS, 0)
            slots = np.arange(last + 1, last + 1 + forgotten) % DAYS
            if passed > DAYS:
                slots = np.arange(DAYS)
            self._count[group, slots] = 0
            self._watched[group, slots] = 0
            faded = 0.5 ** (passed / HALF_LIFE)
            groups["changes"][group] *= faded
            groups["watched"][group] *= faded
        groups["day"][group] = today

    def hazards(self, group: int) -> Array:
        """Expected hazard of each day remembered, the oldest first, today last. (DAYS,)"""
        rate = float(self.groups["rate"][group])
        order = np.arange(self.groups["day"][group] - DAYS + 1, self.groups["day"][group] + 1) % DAYS
        prior = BURST_SHAPE / rate
        return np.asarray((BURST_SHAPE + self._count[group, order]) / (prior + self._watched[group, order]), dtype=float)

    def overlaps(self, group: int, since: float, until: float) -> Array:
        """Days of [since, until] that fall on each day remembered, 0 to 1. (DAYS,)"""
        first = float(self.groups["day"][group]) - DAYS + 1
        edges = np.clip(np.array([since, until]) / SECONDS_A_DAY - first, 0, DAYS)
        days = np.arange(DAYS)
        return np.clip(edges[1] - days, 0, 1) - np.clip(edges[0] - days, 0, 1)

    def elapsed(self, group: int, since: Array, now: float) -> Array:
        """How far the clock ran from each of these times until ``now``, which is on its last day."""
        hazards = self.hazards(group)
        first = float(self.groups["day"][group]) - DAYS + 1
        total = np.concatenate([[0.0], hazards.cumsum()])
        reading = np.interp(np.array([now]) / SECONDS_A_DAY - first, np.arange(DAYS + 1), total)
        at = np.asarray(since) / SECONDS_A_DAY - first
        older = np.minimum(at, 0) * float(self.groups["rate"][group])
        return np.asarray(reading[0] - np.interp(at, np.arange(DAYS + 1), total) - older)

    def elapsed_of(self, groups: np.ndarray, since: Array) -> Array:
        """How far the clock of each of these groups ran from each of these times until the end of the last day it knows."""
        present, index = np.unique(groups, return_inverse=True)
        day = self.groups["day"][present].astype(np.int64)
        order = (day[:, None] + np.arange(1, DAYS + 1)) % DAYS
        rates = self.groups["rate"][present]
        counts, watched = self._count[present[:, None], order], self._watched[present[:, None], order]
        total = np.zeros((len(present), DAYS + 1))
        np.cumsum((BURST_SHAPE + counts) / (BURST_SHAPE / rates[:, None] + watched), axis=1, out=total[:, 1:])
        at = np.asarray(since) / SECONDS_A_DAY - (day - DAYS + 1)[index]
        inside = np.clip(at, 0, DAYS)
        whole = np.minimum(inside.astype(np.int64), DAYS - 1)
        left = total[index, whole]
        reading = left + (inside - whole) * (total[index, whole + 1] - left)
        return np.asarray(total[index, DAYS] - reading - np.minimum(at, 0) * rates[index])

    def quiet(self, group: int, since: float, until: float, multiplier: float) -> None:
        """A page of this multiplier did not change in this period."""
        self._see(group, self.overlaps(group, since, until), multiplier, (until - since) / SECONDS_A_DAY)

    def busy(self, group: int, since: float, until: float, multiplier: float) -> float:
        """A page of this multiplier changed in this period; the changes that are expected in it, 1 or more."""
        overlaps = self.overlaps(group, since, until)
        hazards = self.hazards(group) * overlaps * multiplier
        older = max(0.0, (until - since) / SECONDS_A_DAY - float(overlaps.sum()))
        expected = float(hazards.sum()) + older * float(self.groups["rate"][group]) * multiplier
        count = expected / -math.expm1(-expected) if expected > 1e-9 else 1.0
        # What is over one change follows from busy days that are known: it says nothing new on the rate.
        slots = self._slots(group)
        self._count[group, slots] += (hazards * (count / max(expected, 1e-300))).astype(np.float32)
        self._see(group, overlaps, multiplier, (until - since) / SECONDS_A_DAY)
        self.groups["changes"][group] += count
        self.changes += count
        return count

    def _see(self, group: int, overlaps: Array, multiplier: float, days: float) -> None:
        self._watched[group, self._slots(group)] += (overlaps * multiplier).astype(np.float32)
        self.groups["watched"][group] += days * multiplier
        self.watched += days * multiplier

    def _slots(self, group: int) -> np.ndarray:
        day = int(self.groups["day"][group])
        return np.arange(day - DAYS + 1, day + 1) % DAYS
