"""A visit where it is worth most now: own history, what the pages around did, and one price for known and new pages.

Pages of a site change in bursts, a rebuild at a time, far from independently. So time is measured by the clock of a page's group
(``clocks``): a visit that found a change moves the clock of all its pages, and those that usually change with it become due; visits
that found none hold it back. Pages that changed with each burst have high multipliers, so they are due first and serve as
sentinels. A page is due when the gain of a visit (``benefit``) reaches the price, which is set so that the budget is spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from crawlproject.revisits.allocation import SECONDS_A_DAY, Array, price_for
from crawlproject.revisits.base import Outcome
from crawlproject.revisits.estimators.group_prior import FIRST_GUESS
from crawlproject.revisits.policies.adaptive.benefit import time_to_gain
from crawlproject.revisits.policies.adaptive.clocks import Clocks
from crawlproject.revisits.table import Table

SHAPE = 0.5  # of the prior of a page's multiplier around 1
FOLLOWERS = 64  # pages that are moved forward after a visit, at most
SECOND_LOOK = SECONDS_A_DAY  # after which a page that was gone is looked for again, once
SOON = 0.1  # a follower is named when its visit moves forward by more than this share of the time since its last


class Adaptive:
    """Ours. 45 bytes a page, 0.6 kB a host."""

    name = "adaptive"

    def __init__(self, *, shape: float = SHAPE) -> None:
        self.pages = Table(
            last=("f8", -math.inf),
            due_at=("f8", math.inf),
            needed=("f4", math.inf),
            changes=("f4", 0),
            watched=("f4", 0),
            weight=("f4", 0),
            host=("u4", 0),
            gone=("u1", 0),
        )
        self.clocks = Clocks(FIRST_GUESS * SECONDS_A_DAY)
        self.shape = shape
        self.price: float | None = None  # weight × days
        self.correction = 1.0
        self._visits = 0
        self._planned = 0.0
        self._planned_at = -math.inf
        self._members: dict[int, list[int]] = {}

    @property
    def bytes_per_page(self) -> int:
        return self.pages.bytes_per_row + 8

    def observe(self, outcome: Outcome) -> Iterable[int]:
        row, pages, at, host = outcome.row, self.pages, outcome.at, outcome.host
        self._visits += 1
        self.clocks.advance(host, at)
        sooner: list[int] = []
        if row >= pages.rows or pages["last"][row] == -math.inf:
            pages.grow(row + 1)
            self._members.setdefault(host, []).append(row)
        elif not outcome.gone and not pages["gone"][row] and at > pages["last"][row]:
            sooner = self._learn(outcome)
        pages["last"][row] = at
        pages["host"][row] = host
        pages["weight"][row] = outcome.weight
        pages["gone"][row] = min(pages["gone"][row] + 1, 2) if outcome.gone else 0
        pages["needed"][row] = self._needed(np.array([row]), self.price)[0] if self.price is not None else math.inf
        return sooner

    def _learn(self, outcome: Outcome) -> list[int]:
        """Evidence on the page and its group; the rows that are due earlier for it."""
        row, pages, at, host = outcome.row, self.pages, outcome.at, outcome.host
        last = float(pages["last"][row])
        clocks = self.clocks
        multiplier = (self.shape + float(pages["changes"][row])) / (self.shape + float(pages["watched"][row]))
        before = float(clocks.elapsed(host, np.array([last]), at)[0])
        changed_at = outcome.modified if outcome.modified and outcome.changed else 0.0
        if outcome.changed:
            since, until = last, at
            if last < changed_at < at:
                since, until = changed_at - 1, changed_at
                clocks.quiet(host, changed_at, at, multiplier)
            clocks.busy(host, since, until, multiplier)
            expected = multiplier * before
            pages["changes"][row] += expected / -math.expm1(-expected) if expected > 1e-9 else 1.0
        else:
            clocks.quiet(host, last, at, multiplier)
        after = float(clocks.elapsed(host, np.array([last]), at)[0])
        pages["watched"][row] += before if not outcome.changed else before
        return self._followers(host, at) if outcome.changed and after > before else []

    def _followers(self, host: int, now: float) -> list[int]:
        """Pages of the host that are due now and were not before: those that are overdue most, at most 64."""
        rows = np.array(self._members[host])
        pages = self.pages
        ran = self.clocks.elapsed(host, pages["last"][rows], now)
        over = ran / pages["needed"][rows]
        due = (over >= 1) & (pages["gone"][rows] == 0) & (pages["due_at"][rows] > now)
        best = rows[due][np.argsort(-over[due])[:FOLLOWERS]]
        pages["due_at"][best] = now
        return best.tolist()

    def _needed(self, rows: np.ndarray, price: float) -> Array:
        """How far the clock of these rows has to run before their next visit, at this price."""
        pages = self.pages
        a = self.shape + pages["changes"][rows].astype(float)
        b = self.shape + pages["watched"][rows].astype(float)
        rate = self.clocks.rates()[pages["host"][rows]]
        weight = np.maximum(pages["weight"][rows].astype(float), 1e-12)
        return b * time_to_gain(a, price * rate / (weight * b))

    def plan(self, now: float, rate: float, new_value: float | None = None) -> float:
        pages = self.pages
        alive = np.flatnonzero((pages["last"] > -math.inf) & (pages["gone"] == 0))
        if not len(alive):
            return rate
        clock_rates = self.clocks.rates()[pages["host"][alive]] / SECONDS_A_DAY
        if self._planned > 5:
            off = (self._visits + 5) / (self._planned + 5)
            self.correction = float(np.clip(self.correction * off**0.2, 0.1, 10))
        wanted = rate / self.correction

        def spent(price: float) -> float:
            return float((clock_rates / self._needed(alive, price)).sum())

        self.price = price_for(wanted, spent, self.price or 1.0)
        pages["needed"][alive] = self._needed(alive, self.price)
        self._visits, self._planned = 0, rate * SECONDS_A_DAY
        return rate

    def next_visit(self, row: int) -> float:
        return float(self.next_visits(np.array([row]))[0])

    def next_visits(self, rows: np.ndarray | slice = slice(None)) -> Array:
        """``next_visit`` of these rows, of all by default."""
        pages = self.pages
        last, hosts = pages["last"][rows], pages["host"][rows]
        needed = pages["needed"][rows].astype(float)
        known_until = (self.clocks.groups["day"][hosts] + 1.0) * SECONDS_A_DAY
        left = needed - self.clocks.elapsed_of(hosts, last)
        # The most overdue page comes first: its time is in the past.
        ahead = np.where(left > 0, left / self.clocks.rates()[hosts], left / np.maximum(needed, 1e-9))
        due = np.maximum(known_until + ahead * SECONDS_A_DAY, last)
        gone = pages["gone"][rows]
        due = np.where(gone == 0, due, np.where(gone == 1, last + SECOND_LOOK, math.inf))
        pages["due_at"][rows] = due
        return due

    def explain(self, row: int) -> Mapping[str, float]:
        return {}
