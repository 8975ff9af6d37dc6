"""Shares out a budget of visits: one price for a visit, and each page's interval at that price.

All allocations of the literature have one form. A page that was visited ``t`` ago has diverged from its copy by D(t). The
next visit is worth U(t) = t D(t) - ∫ D from 0 to t (C. Olston, S. Pandey: Recrawl scheduling based on information longevity.
WWW 2008, section 4); at the best intervals U is the same for every page that is visited at all. This value is the price of a
visit, the Lagrange multiplier of the budget (J. Cho, H. Garcia-Molina: Effective page refresh policies for web crawlers. ACM
TODS 28(4), 2003, section 5.3). A higher price means longer intervals, so one search for the price spends the budget.
The budget is the fetch rate of a crawl that never ends (``rate_of``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.options import RevisitOptions

Array = npt.NDArray[np.float64]
SECONDS_A_DAY = 86_400.0
TOLERANCE = 1e-4  # of the budget, relative
MAX_STEPS = 200
WEEK = 7 * 86_400.0

_PRICES = 1e-100, 1e100  # bounds of the first guess, well inside what a float can hold
_LONGEST_LINE = 86_400.0  # seconds: a revisit that would wait longer comes again earlier


def price_for(budget: float, spent: Callable[[float], float], guess: float = 1.0) -> float:
    """The price at which ``spent(price)``, which falls continuously as the price rises, equals ``budget``.

    Both are in visits per second. False position (Illinois) on logarithms, to a relative 1e-4 of the budget. When no price
    spends as much as the budget (all pages given up, or no page), returns the lowest price tried, which may be the next
    ``guess``; ``inf`` when the budget is 0.
    """
    if budget <= 0:
        return math.inf

    def excess(log_price: float) -> float:
        return math.log(max(spent(math.exp(log_price)), 1e-300) / budget)

    low = high = math.log(min(max(guess, _PRICES[0]), _PRICES[1]))
    low_excess = high_excess = excess(low)
    step = 1.0
    while low_excess < 0 and step < MAX_STEPS:
        high, high_excess = low, low_excess
        low -= step
        low_excess = excess(low)
        step *= 2
    step = 1.0
    while high_excess > 0 and step < MAX_STEPS:
        low, low_excess = high, high_excess
        high += step
        high_excess = excess(high)
        step *= 2
    if low_excess <= TOLERANCE:
        return math.exp(low)
    for _ in range(MAX_STEPS):
        middle = low + (high - low) * low_excess / (low_excess - high_excess)
        if not low < middle < high:
            middle = (low + high) / 2
        found = excess(middle)
        if abs(found) <= TOLERANCE or high - low < 1e-12:
            return math.exp(middle)
        if found > 0:
            low, low_excess = middle, found
            high_excess /= 2
        else:
            high, high_excess = middle, found
            low_excess /= 2
    return math.exp((low + high) / 2)


def freshness_gain(x: Array) -> Array:
    """g(x) = 1 - (1 + x) e^-x: U of binary freshness, times rate, for a page visited every x mean times between changes.

    Cho and Garcia-Molina 2003, section 5.3 (the derivative of F(rate, frequency) by the frequency).
    """
    small = x * x / 2 - x**3 / 3 + x**4 / 8
    return np.where(x < 1e-3, small, -np.expm1(-x) - x * np.exp(-x))


def age_gain(x: Array) -> Array:
    """h(x) = x^2 / 2 + x e^-x - (1 - e^-x): U of age, times the square of the rate (same section)."""
    small = x**3 / 3 - x**4 / 8 + x**5 / 30
    return np.where(x < 1e-2, small, x * x / 2 + x * np.exp(-x) + np.expm1(-x))


@cache
def _freshness_table() -> tuple[Array, Array]:
    x = np.exp(np.linspace(math.log(1e-6), math.log(36), 8192))
    return np.log(freshness_gain(x)), np.log(x)


@cache
def _age_table() -> tuple[Array, Array]:
    x = np.exp(np.linspace(math.log(1e-6), math.log(1e6), 8192))
    return np.log(age_gain(x)), np.log(x)


def freshness_interval(y: Array) -> Array:
    """The x with g(x) = y, from a table; ``inf`` for y >= 1, where no visit is worth the price."""
    known, answers = _freshness_table()
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.exp(np.interp(np.log(y), known, answers))
    return np.where(y < 1, np.where(y < math.exp(known[0]), np.sqrt(2 * np.maximum(y, 0)), x), math.inf)


def age_interval(y: Array) -> Array:
    """The x with h(x) = y, from a table. It exists for every y, so no page is given up."""
    known, answers = _age_table()
    with np.errstate(divide="ignore"):
        x = np.exp(np.interp(np.log(y), known, answers))
    x = np.where(y < math.exp(known[0]), np.cbrt(3 * y), x)
    return np.where(y > math.exp(known[-1]), np.sqrt(2 * y + 2), x)


class Pace:
    """Spaces fetches evenly, ``rate`` a second; after a pause at most ``burst`` of them begin at once."""

    def __init__(self, burst: int = 10) -> None:
        self.rate = 0.0  # fetches a second; 0: any number
        self._burst = burst
        self._next = 0.0

    def next_time(self) -> float:
        """When the next fetch may begin, in seconds since the epoch."""
        return self._next if self.rate else 0.0

    def taken(self, now: float) -> None:
        """Note that a fetch begins."""
        if self.rate:
            self._next = max(self._next, now - self._burst / self.rate) + 1.0 / self.rate


class Slots(Pace):
    """Limits revisits to ``rate`` a second, and to ``share`` of the fetches that begin while others are ready.

    A crawl may be slower than its rate: then revisits that are due at their rate would leave nothing for new pages. So each
    revisit lets ``1 / share - 1`` other fetches pass, if others come. A revisit that comes too soon gets a time to come again,
    its place in a line that moves at ``rate``. Only a fetch that begins uses up a slot; otherwise the revisits in the line would
    put off each other for ever. The line itself is not stored.
    """

    def __init__(self) -> None:
        super().__init__(burst=1)
        self.share = 1.0
        self._last_in_line = 0.0
        self._owed = 0.0  # other fetches that come first
        self._yielded = math.inf  # since when other fetches may come first, and none has come
        self._has_begun = False  # whether the fetch that is taken next is a revisit

    def any_taken(self) -> None:
        """Note that a fetch begins, a revisit or another one."""
        if not self._has_begun:
            self._owed = max(0.0, self._owed - 1.0)
            self._yielded = math.inf
        self._has_begun = False

    def begin(self, now: float) -> float:
        """When a revisit may begin. ``now``: at once, and its slot is used; later: ask again at that time."""
        free = self.next_time()
        if free <= now:
            nobody_came = self._yielded < now
            if self._owed < 1.0 or nobody_came:
                self._owed = (0.0 if nobody_came else self._owed) + 1.0 / self.share - 1.0
                self._yielded = math.inf
                self._has_begun = True
                self.taken(now)
                return now
            self._yielded = min(self._yielded, now)
            free = now + 1.0 / self.rate
        last = self._last_in_line if self._last_in_line < now + _LONGEST_LINE else 0.0
        self._last_in_line = max(free, last + 1.0 / self.rate)
        return self._last_in_line


def rate_of(options: RevisitOptions, present: int) -> float:
    """Fetches a second of a crawl whose collection has ``present`` pages: ``CRAWL_RATE``, or each page once a week."""
    return options.crawl_rate / 3600.0 or max(1, present) / WEEK
