"""Makes the visits that are worth most now, by the own history of a page, by what the pages around it did, and by one price for
known and new pages.

Pages of a site change in bursts, a rebuild at a time, so they are far from independent. Therefore time is measured by the clock
of a page's group (``clocks``): a visit that found a change moves the clock of all its pages, and the pages that usually change
together become due; a visit that found none holds the clock back. Pages that changed with each burst have high multipliers, so
they are due first and serve as sentinels. A page is due when the gain of a visit reaches the price, which is set so that the
budget is spent.

The rate of change is uncertain: a page's multiplier has a Gamma posterior with shape a and scale b, in units of its
group's clock. When the clock has run x since the last visit, the page has changed with probability D(x) = 1 - (b / (b +
x))^a, and a visit is worth x D(x) - ∫ D, as in ``allocation``: b × v(a, x / b), with

    v(a, z) = (1 - (1 + z)^(1 - a)) / (a - 1) - z (1 + z)^-a.

With a → ∞ this is the freshness optimum of Cho and Garcia-Molina (2003). With few observations it is larger for long
intervals: a page is only given up when enough visits have shown that it changes too fast (for a <= 1 never).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array, price_for
from crawlproject.parts.revisits.base import Outcome, Table
from crawlproject.parts.revisits.estimators.group_prior import FIRST_GUESS
from crawlproject.parts.revisits.policies.adaptive.clocks import Clocks, expected_changes
from crawlproject.parts.revisits.policies.shared import SECOND_LOOK, sample_of

SHAPE = 0.5  # of the prior of a page's multiplier around 1
FOLLOWERS = 64  # pages that a visit brings forward, at most
LOOKED_AT = 4096  # pages of a host that are examined for this; the following ones are examined the next time
DISCOUNT = 1 / 365  # a day: what is expected later than in a year hardly counts
LEAST_SHARE = 0.1  # of the budget for known pages, however much new ones promise
EARLY = 3600.0  # seconds: a visit that is earlier than its due time by more was made because there was budget to spare
STEER, DAMPING = 0.2, 5.0  # exponent of the correction of a plan, and visits that damp it
SHAPES = np.exp(np.linspace(math.log(0.05), math.log(200), 96))
TIMES = np.exp(np.linspace(math.log(1e-7), math.log(1e7), 1024))
LEVELS = np.linspace(math.log(1e-14), math.log(1e4), 1024)


class AdaptiveRevisits:
    """The policy of this project. 41 bytes a page, 0.1 kB a host, 0.6 kB more once the host has 8 pages."""

    name = "adaptive"
    weighs_new: ClassVar[bool] = True

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
        self._correction = 1.0  # visits that became due over visits planned, smoothed
        self._asked = 0  # visits of pages that were due, since the last plan
        self._planned_at, self._planned_rate = 0.0, 0.0
        self._looked_at = 0
        self._members: dict[int, array[int]] = {}  # rows by host

    @property
    def bytes_per_page(self) -> int:
        return self.pages.bytes_per_row + 4

    def observe(self, outcome: Outcome) -> Iterable[int]:
        row, pages, at, host = outcome.row, self.pages, outcome.at, outcome.host
        sooner: list[int] = []
        known = row < pages.rows and pages["last"][row] > -math.inf
        if not known:
            pages.grow(row + 1)
            self.clocks.meet(host, at)
            self._members.setdefault(host, array("I")).append(row)
            pages["host"][row] = host
        self.clocks.advance(host, at)  # whatever was found, so that no page was visited after the last day of its clock
        if known and not outcome.gone and not pages["gone"][row] and at > pages["last"][row]:
            self._asked += not outcome.hint and at + EARLY >= pages["due_at"][row]
            sooner = self._learn(outcome)
        pages["last"][row] = at
        pages["weight"][row] = outcome.weight
        pages["gone"][row] = min(pages["gone"][row] + 1, 2) if outcome.gone else 0
        pages["needed"][row] = self._needed(np.array([row]), self.price)[0] if self.price is not None else math.inf
        return sooner

    def _learn(self, outcome: Outcome) -> list[int]:
        """Learn about the page and its group; return the rows that become due earlier."""
        row, pages, at, host = outcome.row, self.pages, outcome.at, outcome.host
        last, clocks = float(pages["last"][row]), self.clocks
        multiplier = (self.shape + float(pages["changes"][row])) / (self.shape + float(pages["watched"][row]))
        ran = clocks.elapsed(host, last) - clocks.elapsed(host, at)
        pages["watched"][row] += ran
        if not outcome.changed:
            clocks.quiet(host, last, at, multiplier)
            return []
        pages["changes"][row] += expected_changes(multiplier * ran)
        if last < outcome.modified < at:
            clocks.busy(host, outcome.modified - 1, outcome.modified, multiplier)
            clocks.quiet(host, outcome.modified, at, multiplier)
        else:
            clocks.busy(host, last, at, multiplier)
        return self._followers(host, at)

    def _followers(self, host: int, now: float) -> list[int]:
        """Pages of the host that are now due within a day and were not before: the earliest ones, at most 64 of 4,096."""
        members, pages = self._members[host], self.pages
        first = self._looked_at % len(members)
        rows = np.array(members[first : first + LOOKED_AT], dtype=np.int64)
        self._looked_at = first + len(rows)
        before = pages["due_at"][rows]
        due = self._due(rows)
        sooner = np.flatnonzero((due < before - EARLY) & (due <= now + SECONDS_A_DAY))
        best = sooner[np.argsort(due[sooner])[:FOLLOWERS]]
        before[best] = due[best]
        pages["due_at"][rows] = before  # the pages that are not returned keep their due times
        return rows[best].tolist()

    def _needed(self, rows: np.ndarray, price: float) -> Array:
        """How far the clocks of these rows have to run before their next visits, at this price."""
        pages = self.pages
        a = self.shape + pages["changes"][rows].astype(float)
        b = self.shape + pages["watched"][rows].astype(float)
        rate = self.clocks.rates(pages["host"][rows])
        weight = np.maximum(pages["weight"][rows].astype(float), 1e-12)
        return b * time_to_gain(a, price * rate / (weight * b))

    def plan(self, now: float, rate: float, new_value: float | None = None) -> float:
        pages = self.pages
        alive = np.flatnonzero((pages["last"] > -math.inf) & (pages["gone"] == 0))
        if not len(alive) or rate <= 0:
            return rate
        sample, share = sample_of(alive)
        clock_rates = self.clocks.rates(pages["host"][sample]) / SECONDS_A_DAY / share
        self._correct(now)

        def spent(price: float) -> float:
            return self._correction * float((clock_rates / self._needed(sample, price)).sum())

        price = price_for(rate, spent, self.price or 1.0)
        used = rate
        if new_value is not None:
            of_new = new_value / (self.clocks.changes / self.clocks.watched + DISCOUNT)
            if of_new > price:
                price = min(of_new, price_for(rate * LEAST_SHARE, spent, price))
                used = min(rate, spent(price))
        self.price = price
        pages["needed"][alive] = self._needed(alive, price)
        self._planned_at, self._planned_rate, self._asked = now, used, 0
        return used

    def _correct(self, now: float) -> None:
        """Bursts ask for more or fewer visits than even clocks: steer by how many pages became due since the last plan."""
        planned = (now - self._planned_at) * self._planned_rate
        if planned > 0:
            overdue = int(np.count_nonzero((self.pages["due_at"] < now) & (self.pages["gone"] == 0)))
            off = (self._asked + overdue + DAMPING) / (planned + DAMPING)
            self._correction = float(np.clip(self._correction * off**STEER, 0.1, 10.0))

    def planned_rate(self) -> float:
        """Visits per second that evenly running clocks ask for."""
        alive = np.flatnonzero((self.pages["last"] > -math.inf) & (self.pages["gone"] == 0))
        rates = self.clocks.rates(self.pages["host"][alive]) / SECONDS_A_DAY
        return self._correction * float((rates / self.pages["needed"][alive]).sum())

    def next_visit(self, row: int) -> float:
        pages = self.pages
        if row >= pages.rows or pages["last"][row] == -math.inf:
            return math.inf
        last, gone = float(pages["last"][row]), int(pages["gone"][row])
        if gone:
            return last + SECOND_LOOK if gone == 1 else math.inf
        host, needed = int(pages["host"][row]), float(pages["needed"][row])
        left = needed - self.clocks.elapsed(host, last)
        ahead = left / self.clocks.rate(host) if left > 0 else left / needed
        due = max((int(self.clocks.groups["day"][host]) + 1 + ahead) * SECONDS_A_DAY, last)
        pages["due_at"][row] = due
        return due

    def next_visits(self) -> Array:
        due = np.full(self.pages.rows, math.inf)
        known = np.flatnonzero(self.pages["last"] > -math.inf)
        due[known] = self._due(known)
        return due

    def _due(self, rows: npt.NDArray[np.integer[Any]]) -> Array:
        """``next_visit`` of these rows, all of which were visited."""
        pages = self.pages
        last, hosts = pages["last"][rows], pages["host"][rows]
        needed = pages["needed"][rows].astype(float)
        known_until = (self.clocks.groups["day"][hosts] + 1.0) * SECONDS_A_DAY
        left = needed - self.clocks.elapsed_of(hosts, last)
        # The most overdue page comes first: its time is in the past.
        with np.errstate(invalid="ignore"):
            ahead = np.where(left > 0, left / self.clocks.rates(hosts), left / needed)
        due = np.maximum(known_until + ahead * SECONDS_A_DAY, last)
        gone = pages["gone"][rows]
        due = np.where(gone == 0, due, np.where(gone == 1, last + SECOND_LOOK, math.inf))
        pages["due_at"][rows] = due
        return due

    def explain(self, row: int) -> Mapping[str, float]:
        """``changes_a_day``: expected rate; ``stale_now``: probability that the page has changed since its last visit, at the
        end of the last day on which its host was visited; ``host_changes_a_day``: rate of a page with multiplier 1;
        ``multiplier``: that of this page.
        """
        pages, host = self.pages, int(self.pages["host"][row])
        a, b = self.shape + float(pages["changes"][row]), self.shape + float(pages["watched"][row])
        ran = max(0.0, self.clocks.elapsed(host, float(pages["last"][row])))
        rate = self.clocks.rate(host)
        return {
            "changes_a_day": a / b * rate,
            "stale_now": 1 - (b / (b + ran)) ** a,
            "multiplier": a / b,
            "host_changes_a_day": rate,
            "weight": float(pages["weight"][row]),
        }


def visit_gain(shape: Array, z: Array) -> Array:
    """v(a, z) of arrays with one shape; a > 0, z >= 0."""
    log1z = np.log1p(z)
    near = np.abs(shape - 1) < 1e-6
    safe = np.where(near, 2.0, shape)
    integral = np.where(near, log1z, -np.expm1((1 - safe) * log1z) / (safe - 1))
    exact = integral - z * np.exp(-shape * log1z)
    small = shape * z * z / 2 * (1 - 2 * (shape + 1) / 3 * z)
    return np.where(z * (1 + shape) < 1e-4, small, exact)


@cache
def _table() -> Array:
    """log z by shape (rows) and log v (columns); ``inf`` where v is never reached."""
    table = np.empty((len(SHAPES), len(LEVELS)))
    for index, shape in enumerate(SHAPES):
        gains = np.log(visit_gain(np.full(len(TIMES), shape), TIMES))
        table[index] = np.interp(LEVELS, gains, np.log(TIMES), left=math.log(TIMES[0]), right=np.inf)
    return table


def time_to_gain(shape: Array, gain: Array) -> Array:
    """The z with v(shape, z) = gain, interpolated in a table; ``inf`` when there is none."""
    table = _table()
    a = np.interp(np.log(shape), np.log(SHAPES), np.arange(len(SHAPES)))
    with np.errstate(divide="ignore"):
        level = np.interp(np.log(gain), LEVELS, np.arange(len(LEVELS)))
    i, j = np.minimum(a.astype(int), len(SHAPES) - 2), np.minimum(level.astype(int), len(LEVELS) - 2)
    u, v = a - i, level - j
    with np.errstate(invalid="ignore"):
        low = np.where(v > 0, table[i, j] * (1 - v) + table[i, j + 1] * v, table[i, j])
        high = np.where(v > 0, table[i + 1, j] * (1 - v) + table[i + 1, j + 1] * v, table[i + 1, j])
        mixed = np.where(u > 0, low * (1 - u) + high * u, low)
    return np.exp(np.where(np.isnan(mixed), np.inf, mixed))
