"""What revisit policies share: the record of each page, its interval between visits, and the search for the price of a visit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array, price_for
from crawlproject.parts.revisits.base import Outcome, Table
from crawlproject.parts.revisits.estimators.base import ALL, Estimator, Evidence, Rows
from crawlproject.parts.revisits.estimators.group_prior import FIRST_GUESS
from crawlproject.parts.revisits.estimators.registry import make_estimator

SECOND_LOOK = SECONDS_A_DAY  # after which a page that was gone is visited again, once
SAMPLE = 65_536  # pages from which the price of a visit is found, at most
LOWEST_RATE = 1 / (100 * 365 * SECONDS_A_DAY)  # changes per second: no page is believed never to change


def sample_of(rows: npt.NDArray[np.integer[Any]]) -> tuple[npt.NDArray[np.integer[Any]], float]:
    """Every k-th of these rows, at most ``SAMPLE``, and their share. The price of a visit differs by a fraction of a percent."""
    sample = rows[:: -(-len(rows) // SAMPLE)]
    return sample, len(sample) / len(rows)


class IntervalPolicy(ABC):
    """A policy that gives each page an interval. A subclass computes it from the price of a visit, which spends the budget.

    ``estimator`` names the estimator of change rates. Between two plans a page gets the interval that its own evidence asks
    for, at the price of the last plan. 21 bytes a page, plus those of the estimator.
    """

    name = ""
    weighs_new: ClassVar[bool] = False
    columns: ClassVar[Mapping[str, tuple[str, float]]] = {}  # what a policy adds for each page, as in ``Table``

    def __init__(self, *, estimator: str = "group_prior") -> None:
        of_all = {"last": ("f8", -math.inf), "interval": ("f4", math.inf), "weight": ("f4", 0.0)}
        self.pages = Table(**of_all, host=("u4", 0), gone=("u1", 0), **self.columns)
        self.estimator: Estimator = make_estimator(estimator)
        self.price: float | None = None
        self.stretch = 1.0  # corrects the intervals when no price spends the budget exactly

    @property
    def bytes_per_page(self) -> int:
        return self.pages.bytes_per_row + self.estimator.bytes_per_page

    @abstractmethod
    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        """Seconds between visits of these rows when a visit costs ``price``: longer when it is dearer; ``inf``: no visit."""

    def observe(self, outcome: Outcome) -> Iterable[int]:
        row, pages = outcome.row, self.pages
        if row >= pages.rows or pages["last"][row] == -math.inf:
            pages.grow(row + 1)
            self.estimator.meet(row, outcome.host, outcome.template)
            self.meet(outcome)
        elif not outcome.gone and not pages["gone"][row]:
            interval = outcome.at - float(pages["last"][row])
            if interval > 0:
                quiet = outcome.at - outcome.modified if outcome.modified else math.nan
                self.estimator.add(
                    Evidence(row, interval, outcome.changed, quiet, outcome.host, outcome.template)
                )  # fmt: skip
                self.learn(outcome, interval)
        pages["last"][row] = outcome.at
        pages["host"][row] = outcome.host
        pages["weight"][row] = outcome.weight
        pages["gone"][row] = min(pages["gone"][row] + 1, 2) if outcome.gone else 0
        pages["interval"][row] = self._interval_now(row)
        return ()

    def meet(self, outcome: Outcome) -> None:  # noqa: B027 - most policies have nothing to add
        """A page was visited for the first time; its columns exist."""

    def learn(self, outcome: Outcome, interval: float) -> None:  # noqa: B027
        """A page was visited again, ``interval`` seconds after the last time."""

    def plan(self, now: float, rate: float, new_value: float | None = None) -> float:
        alive = np.flatnonzero((self.pages["last"] > -math.inf) & (self.pages["gone"] == 0))
        if len(alive) and rate > 0:
            self.price = self.price_of(rate, alive)
            intervals = self.intervals(self.price, alive)
            spent = float((1 / intervals).sum())
            self.stretch = spent / rate if spent > 0 else 1.0
            self.pages["interval"][alive] = intervals * self.stretch
        return rate

    def price_of(self, rate: float, rows: npt.NDArray[np.integer[Any]]) -> float:
        """The price at which visits of these rows cost ``rate``: of many pages from a sample, the rest is ``stretch``."""
        sample, share = sample_of(rows)
        return price_for(
            rate * share, lambda price: float((1 / self.intervals(price, sample)).sum()), self.price or 1.0
        )

    def planned_rate(self) -> float:
        """Visits per second of all pages at their intervals."""
        alive = (self.pages["last"] > -math.inf) & (self.pages["gone"] == 0)
        return float((1 / self.pages["interval"][alive].astype(np.float64)).sum())

    def next_visit(self, row: int) -> float:
        pages = self.pages
        if row >= pages.rows or pages["last"][row] == -math.inf:
            return math.inf
        if pages["gone"][row]:
            return float(pages["last"][row] + SECOND_LOOK) if pages["gone"][row] == 1 else math.inf
        return float(pages["last"][row] + pages["interval"][row])

    def next_visits(self) -> Array:
        last, gone = self.pages["last"], self.pages["gone"]
        after = np.where(gone == 0, self.pages["interval"], np.where(gone == 1, SECOND_LOOK, math.inf))
        return np.where(last > -math.inf, np.maximum(last, 0) + after, math.inf)

    def rates(self, rows: Rows = ALL) -> Array:
        """Estimated changes per second; the mean of all pages where nothing is known of a page."""
        rates = self.estimator.rates(rows)
        unknown = np.isnan(rates)
        if unknown.any():
            known = rates[~unknown] if rows is ALL or unknown.sum() < len(rates) else rates[:0]
            rates = np.where(unknown, known.mean() if len(known) else FIRST_GUESS, rates)
        return np.maximum(rates, LOWEST_RATE)

    def weights(self, rows: Rows = ALL) -> Array:
        """What these pages are worth, above 0."""
        return np.maximum(self.pages["weight"][rows].astype(np.float64), 1e-12)

    def explain(self, row: int) -> Mapping[str, float]:
        rate = float(self.rates(slice(row, row + 1))[0])
        return {
            "changes_a_day": rate * SECONDS_A_DAY,
            "interval_days": float(self.pages["interval"][row]) / SECONDS_A_DAY,
            "weight": float(self.pages["weight"][row]),
        }

    def _interval_now(self, row: int) -> float:
        if self.price is None:
            return math.inf
        return float(self.intervals(self.price, slice(row, row + 1))[0]) * self.stretch
