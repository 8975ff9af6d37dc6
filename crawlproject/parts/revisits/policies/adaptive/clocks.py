"""How much has happened in each group of pages: one clock a group, which runs fast in bursts and slowly between them.

Pages of a site change together, when the site is rebuilt. The hazard of page i of group g on day b is m_i × h_gb (a shared
frailty model: D. Clayton. Biometrika 65, 1978): m_i is the page's own multiplier, with mean 1, and h_gb the changes of a page
with multiplier 1 on that day. h_gb is Gamma distributed around the rate of the group, with a small shape: on most days nothing
happens, on some days much. Each visit is evidence on the days since the last one. A visit that found no change makes these days
quieter for all pages of the group; a visit that found a change makes some of them busier, mostly those already suspected.
"""

from __future__ import annotations

import math

import numpy as np

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.base import Table

DAYS = 48  # days that a clock remembers one by one; before them it ran evenly
BURST_SHAPE = 0.05  # of the Gamma distribution of a day's hazard: about the share of days with a burst
HALF_LIFE = 180.0  # days after which evidence on the rate of a group counts half
PULL = 1.0  # changes by which the rate of a group is pulled to that of all pages
CROWD = 8  # pages: from this size on, the clock of a group remembers days


class Clocks:
    """The clocks of all groups. A clock shows how often a page with multiplier 1 is expected to have changed.

    24 bytes a group, and 12 for each remembered day once the group has ``CROWD`` pages: 0.6 kB.
    """

    def __init__(self, first_rate: float) -> None:
        self.groups = Table(
            day=("i4", -1), changes=("f4", 0), watched=("f4", 0), rate=("f4", 0), pages=("u4", 0), slot=("i4", -1)
        )
        self._count = np.zeros((0, DAYS), dtype=np.float32)  # expected changes, by day, today last
        self._watched = np.zeros((0, DAYS), dtype=np.float32)  # watched multipliers × days
        self._reading = np.zeros((0, DAYS + 1), dtype=np.float32)  # of the clock at the edges of the days
        self._slots = 0
        self.changes = 1.0
        self.watched = 1.0 / first_rate

    def rate(self, group: int) -> float:
        """Changes a day of a page with multiplier 1, in the long run."""
        overall = self.changes / self.watched
        known = self.groups
        return (PULL + float(known["changes"][group])) / (PULL / overall + float(known["watched"][group]))

    def rates(self, groups: np.ndarray | slice = slice(None)) -> Array:
        overall = self.changes / self.watched
        changes, watched = self.groups["changes"][groups], self.groups["watched"][groups]
        return np.asarray((PULL + changes.astype(float)) / (PULL / overall + watched.astype(float)))

    def meet(self, group: int, now: float) -> None:
        """Count a page of this group that was visited for the first time."""
        self.groups.grow(group + 1)
        groups = self.groups
        groups["pages"][group] += 1
        if groups["day"][group] < 0:
            groups["day"][group] = int(now // SECONDS_A_DAY)
            groups["rate"][group] = self.rate(group)
        if groups["pages"][group] >= CROWD and groups["slot"][group] < 0:
            if self._slots == len(self._count):
                more = max(16, self._slots // 2)
                self._count, self._watched, self._reading = (
                    np.pad(part, ((0, more), (0, 0))) for part in (self._count, self._watched, self._reading)
                )
            groups["slot"][group] = self._slots
            self._slots += 1
            self._read(group)

    def advance(self, group: int, now: float) -> None:
        """Advance the clock of a group to the day of ``now``."""
        groups = self.groups
        passed = int(now // SECONDS_A_DAY) - int(groups["day"][group])
        if passed <= 0:
            return
        groups["day"][group] += passed
        faded = 0.5 ** (passed / HALF_LIFE)
        groups["changes"][group] *= faded
        groups["watched"][group] *= faded
        groups["rate"][group] = self.rate(group)
        slot = int(groups["slot"][group])
        if slot >= 0:
            for part in (self._count, self._watched):
                if passed < DAYS:
                    part[slot, :-passed] = part[slot, passed:]
                part[slot, -passed:] = 0
            self._read(group)

    def elapsed(self, group: int, since: float) -> float:
        """How far the clock ran from ``since`` until the end of the last day it knows."""
        groups = self.groups
        at = since / SECONDS_A_DAY - (int(groups["day"][group]) - DAYS + 1)
        rate, slot = float(groups["rate"][group]), int(groups["slot"][group])
        if slot < 0:
            return (DAYS - at) * rate
        reading = self._reading[slot]
        if at <= 0:
            return float(reading[DAYS]) - at * rate
        whole = min(int(at), DAYS - 1)
        left = float(reading[whole])
        return float(reading[DAYS]) - left - (at - whole) * (float(reading[whole + 1]) - left)

    def elapsed_of(self, groups: np.ndarray, since: Array) -> Array:
        """``elapsed`` of many pages at once; ``groups`` and ``since`` have one length."""
        known = self.groups
        at = np.asarray(since) / SECONDS_A_DAY - (known["day"][groups] - DAYS + 1.0)
        rate, slot = known["rate"][groups].astype(float), known["slot"][groups]
        ran = (DAYS - at) * rate
        some = np.flatnonzero(slot >= 0)
        at, rate, slot = at[some], rate[some], slot[some]
        inside = np.clip(at, 0, DAYS)
        whole = np.minimum(inside.astype(np.int64), DAYS - 1)
        left = self._reading[slot, whole].astype(float)
        run = left + (inside - whole) * (self._reading[slot, whole + 1] - left)
        ran[some] = self._reading[slot, DAYS] - run - np.minimum(at, 0) * rate
        return np.asarray(ran)

    def quiet(self, group: int, since: float, until: float, multiplier: float) -> None:
        """Learn that a page with this multiplier did not change in this period."""
        self._watch(group, self._overlaps(group, since, until), multiplier, (until - since) / SECONDS_A_DAY)

    def busy(self, group: int, since: float, until: float, multiplier: float) -> None:
        """Learn that a page with this multiplier changed in this period, once or more."""
        overlaps = self._overlaps(group, since, until)
        groups = self.groups
        slot, days = int(groups["slot"][group]), (until - since) / SECONDS_A_DAY
        older = max(0.0, days - float(overlaps.sum())) * float(groups["rate"][group]) * multiplier
        hazards = (
            self._hazards(group) * overlaps * multiplier
            if slot >= 0
            else overlaps * float(groups["rate"][group]) * multiplier
        )
        expected = float(hazards.sum()) + older
        count = expected_changes(expected)
        if slot >= 0:
            self._count[slot] += hazards * (count / max(expected, 1e-300))
        groups["changes"][group] += count
        self.changes += count
        self._watch(group, overlaps, multiplier, days)

    def _watch(self, group: int, overlaps: Array, multiplier: float, days: float) -> None:
        slot = int(self.groups["slot"][group])
        self.groups["watched"][group] += days * multiplier
        self.watched += days * multiplier
        if slot >= 0:
            self._watched[slot] += overlaps * multiplier
            self._read(group)

    def _hazards(self, group: int) -> Array:
        """Expected hazard of each remembered day. (DAYS,)"""
        slot, rate = int(self.groups["slot"][group]), float(self.groups["rate"][group])
        return np.asarray((BURST_SHAPE + self._count[slot]) / (BURST_SHAPE / rate + self._watched[slot]))

    def _overlaps(self, group: int, since: float, until: float) -> Array:
        """Days of [since, until] that fall on each remembered day, 0 to 1. (DAYS,)"""
        first = int(self.groups["day"][group]) - DAYS + 1
        return np.clip(until / SECONDS_A_DAY - first - _EACH, 0, 1) - np.clip(
            since / SECONDS_A_DAY - first - _EACH, 0, 1
        )

    def _read(self, group: int) -> None:
        np.cumsum(self._hazards(group), out=self._reading[int(self.groups["slot"][group]), 1:])


def expected_changes(expected: float) -> float:
    """The expected changes of a Poisson process with this mean, given that there is one or more."""
    return expected / -math.expm1(-expected) if expected > 1e-9 else 1.0


_EACH = np.arange(DAYS, dtype=np.float64)
