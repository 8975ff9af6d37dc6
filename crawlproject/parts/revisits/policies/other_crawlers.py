"""The revisit policies of other crawlers, as baselines."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.base import Outcome
from crawlproject.parts.revisits.estimators.base import ALL, Rows
from crawlproject.parts.revisits.policies.shared import IntervalPolicy

FIRST = 30 * SECONDS_A_DAY
SHORTEST = 60.0
LONGEST = 365 * SECONDS_A_DAY


class Heritrix(IntervalPolicy):
    """A fixed delay, like Heritrix's ``rescheduleDelaySeconds``.

    Every page is due ``delay`` days after its last visit, whatever the budget. If the budget is too small, the pages that are
    due for longest come first.
    """

    name = "heritrix"

    def __init__(self, *, estimator: str = "naive", delay: float = 30.0) -> None:
        super().__init__(estimator=estimator)
        self.delay = delay
        self.price = 1.0

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        return np.full(len(self.pages["last"][rows]), self.delay * SECONDS_A_DAY)

    def plan(self, now: float, rate: float, new_value: float | None = None) -> float:
        return rate


class Nutch(IntervalPolicy):
    """The intervals of Apache Nutch's ``AdaptiveFetchSchedule``.

    The interval grows by 0.4 after a visit without a change and shrinks by 0.2 after a visit with one. It is at least the time
    since the last change, and counts from a time that is moved back by 0.3 of that time (the defaults of
    ``db.fetch.schedule.adaptive.*`` and ``db.fetch.interval.default``). All intervals are stretched by one factor to spend the
    budget, a notion that Nutch lacks. 12 bytes a page more.
    """

    name = "nutch"
    columns = MappingProxyType({"own": ("f4", FIRST), "modified": ("f8", 0)})

    def __init__(
        self, *, estimator: str = "naive", increase: float = 0.4, decrease: float = 0.2, sync: float = 0.3
    ) -> None:
        super().__init__(estimator=estimator)
        self.increase = increase
        self.decrease = decrease
        self.sync = sync

    def meet(self, outcome: Outcome) -> None:
        self.pages["modified"][outcome.row] = outcome.modified or outcome.at

    def learn(self, outcome: Outcome, interval: float) -> None:
        row, schedule = outcome.row, self.pages
        own = float(schedule["own"][row])
        if outcome.changed:
            schedule["modified"][row] = outcome.modified or outcome.at
        own *= 1 - self.decrease if outcome.changed else 1 + self.increase
        own = max(own, outcome.at - float(schedule["modified"][row]))
        schedule["own"][row] = min(max(own, SHORTEST), LONGEST)

    def intervals(self, price: float, rows: Rows = ALL) -> Array:
        own = self.pages["own"][rows].astype(np.float64)
        since = np.maximum(self.pages["last"][rows] - self.pages["modified"][rows], 0)
        return price * np.maximum(own - self.sync * since, SHORTEST)
