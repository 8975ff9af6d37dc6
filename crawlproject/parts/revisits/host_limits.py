"""What hosts can give: a host that rests between visits has no more than so many of them, whatever a plan asks for.

The best plan under such limits has a price for each host that is at its limit, beside the price of all others: the
multiplier of each constraint, as the price of all is that of the budget (Cho and Garcia-Molina 2003, section 5.3). What a host
cannot give goes to the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlproject.parts.revisits.allocation import Array, price_for
from crawlproject.parts.revisits.base import Outcome

Rows = npt.NDArray[np.integer[Any]]
_SLACK = 1e-3  # of a limit, relative


class HostLimits:
    """Visits per second that each host can give, by the pause after its latest visit. Hosts without a pause give any number."""

    def __init__(self) -> None:
        self._pauses: dict[int, float] = {}
        self._prices: dict[int, tuple[float, float]] = {}
        self._at_limit: dict[int, float] = {}

    def note(self, outcome: Outcome) -> None:
        """A visit has shown for how long its host is left alone."""
        if outcome.pause > 0:
            self._pauses[outcome.host] = outcome.pause
        else:
            self._pauses.pop(outcome.host, None)

    def price(self, host: int) -> tuple[float, float] | None:
        """Price and stretch of a visit to a host that is at its limit; None for the others."""
        return self._prices.get(host)

    def share_out(
        self, rows: Rows, hosts: Rows, rate: float, spent: Callable[[Rows, float], Array]
    ) -> tuple[Rows, float]:
        """The rows of hosts below their limits, and the visits per second that are left for them, of ``rate``.

        ``spent`` says how many visits per second each of some rows would get, of so many for all of them.
        """
        self._at_limit = {}
        while self._pauses and len(rows):
            asked = np.bincount(hosts, weights=spent(rows, rate))
            over = [
                int(host)
                for host in np.flatnonzero(asked)
                if (pause := self._pauses.get(int(host))) and asked[host] * pause > 1 + _SLACK
            ]
            if not over:
                break
            self._at_limit |= {host: 1 / self._pauses[host] for host in over}
            rate -= sum(1 / self._pauses[host] for host in over)
            below = ~np.isin(hosts, over)
            rows, hosts = rows[below], hosts[below]
        self._prices = {}
        return rows, max(rate, 0.0)

    def price_the_rest(
        self, rows: Rows, hosts: Rows, frequency: Callable[[float, Rows], Array], guess: float
    ) -> Iterator[tuple[Rows, float, float]]:
        """The rows of each host at its limit with their price and stretch, by ``frequency`` at a price (visits per second)."""
        order = np.argsort(hosts, kind="stable") if self._at_limit else hosts
        sorted_hosts = hosts[order] if self._at_limit else hosts
        for host, limit in self._at_limit.items():
            first, last = np.searchsorted(sorted_hosts, [host, host + 1])
            own = rows[order[first:last]]
            price = price_for(limit, lambda price, own=own: float(frequency(price, own).sum()), guess)  # type: ignore[misc]
            planned = float(frequency(price, own).sum())
            self._prices[host] = price, planned / limit if planned > 0 else 1.0
            yield own, *self._prices[host]

    @property
    def given(self) -> float:
        """Visits per second of the hosts at their limits."""
        return sum(self._at_limit.values())
