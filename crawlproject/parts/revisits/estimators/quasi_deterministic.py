"""At which hours of the week pages change, such as every morning at six, or on working days.

J. Wolf, M. Squillante, P. Yu, J. Sethuraman, L. Ozsen: Optimal crawling strategies for web search engines. WWW 2002, section
3.2: "quasi-deterministic" pages change at known times, each with a known probability. Here the probabilities are learned for
each host, as hour of the day times day of the week.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.base import Table

HOUR = 3600.0
SHARPEST = 6 * HOUR  # changes that are known less exactly say nothing about hours
PRIOR = 24.0  # changes, spread evenly over the week, with which a host starts
SHARP = 3 / 168  # probability from which an hour is worth waiting for
DAY_OF_EPOCH = 3  # 1 January 1970 was a Thursday; Monday is 0


class QuasiDeterministic:
    """Counts changes by hour of day and by weekday (UTC). 125 bytes a host, none a page."""

    def __init__(self) -> None:
        self.table = Table(
            sharp=("u1", 0),
            **{f"hour{hour}": ("f4", 0) for hour in range(24)},
            **{f"day{day}": ("f4", 0) for day in range(7)},
        )

    def add(self, host: int, since: float, until: float) -> None:
        """Count one or more changes of a page in this period, by the hours that the period covers, if it is at most six hours
        long."""
        self.table.grow(host + 1)
        length = until - since
        if not 0 <= length <= SHARPEST:
            return
        edges = [since, *np.arange(np.ceil(since / HOUR) * HOUR, until, HOUR).tolist(), until]
        for start, end in pairwise(edges):
            share = (end - start) / length if length else 0.0
            self._count(host, start, share)
        if not length:
            self._count(host, since, 1.0)
        self.table["sharp"][host] = self.week(host).max() >= SHARP

    def week(self, host: int) -> Array:
        """Probability that a change falls on each hour of the week, Monday 0:00 UTC first. (168,), sum 1."""
        self.table.grow(host + 1)
        hours = np.array([self.table[f"hour{hour}"][host] for hour in range(24)], dtype=np.float64)
        days = np.array([self.table[f"day{day}"][host] for day in range(7)], dtype=np.float64)
        hours = (hours + PRIOR / 24) / (hours.sum() + PRIOR)
        days = (days + PRIOR / 7) / (days.sum() + PRIOR)
        return np.outer(days, hours).ravel()

    def best_time(self, host: int, due: float, most: float) -> float:
        """The end of the hour that is likeliest to bring a change, among those that end from ``due`` to ``most`` seconds after
        it.

        ``due`` itself unless that hour is at least three times as likely as the average hour of the week.
        """
        count = min(int(most // HOUR), 168)
        self.table.grow(host + 1)
        if count < 1 or not self.table["sharp"][host]:
            return due
        week = self.week(host)
        first = int(due // HOUR)
        hours = first + np.arange(count)
        likely = week[(hours + DAY_OF_EPOCH * 24) % 168]
        best = int(likely.argmax())
        return float((hours[best] + 1) * HOUR) if likely[best] >= SHARP else due

    def sharp(self, hosts: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """Whether each of these hosts has hours worth waiting for."""
        if not len(hosts):
            return np.zeros(0, dtype=bool)
        self.table.grow(int(hosts.max()) + 1)
        return np.asarray(self.table["sharp"][hosts] > 0)

    def _count(self, host: int, at: float, share: float) -> None:
        self.table[f"hour{int(at % SECONDS_A_DAY // HOUR)}"][host] += share
        self.table[f"day{int(at // SECONDS_A_DAY + DAY_OF_EPOCH) % 7}"][host] += share
