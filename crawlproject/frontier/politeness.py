"""How long a host is left alone after a visit, and which hosts are names of one server (004 section 2.3.1, footnote 2)."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

_REMEMBERED = 200_000  # hosts, and addresses that rest


class Politeness:
    """Next visit of a host at ``finish + max(min_delay, crawl_delay, factor * seconds)``.

    ``min_delay`` is in seconds (default 1), ``factor`` multiplies the duration of the last fetch (default 1: a host
    rests as long as it worked). ``margin`` seconds (default 0) are added to a rest that is not 0, for servers that note
    the end of a fetch a moment after the client does. All must be finite and not negative, else ``ValueError``.

    ``longest`` seconds is the longest rest that there can be, whatever hosts ask for (default: any). A frontier that is opened
    again believes no longer one: its clock was set back since.
    """

    def __init__(
        self, min_delay: float = 1.0, factor: float = 1.0, *, margin: float = 0.0, longest: float = math.inf
    ) -> None:
        for name, value in (("min_delay", min_delay), ("factor", factor), ("margin", margin)):
            if not 0.0 <= value < math.inf:
                raise ValueError(f"{name} must be a finite number and not negative, got {value!r}")
        self.min_delay = min_delay
        self.factor = factor
        self.margin = margin
        self.longest = longest
        self._delays: dict[Hashable, float] = {}

    def crawl_delay(self, host: Hashable, seconds: float) -> bool:
        """Remember the delay that the host's robots.txt asks for. False: that is what was known already.

        What is no finite, positive number takes the delay back: robots.txt is written by strangers.
        """
        asked = seconds if 0.0 < seconds < math.inf else 0.0
        if asked == self.asked(host):
            return False
        if asked:
            self._delays[host] = asked
        else:
            del self._delays[host]
        return True

    def asked(self, host: Hashable) -> float:
        """The delay that the host asks for in seconds; 0: none."""
        return self._delays.get(host, 0.0)

    def crawl_delays(self) -> Iterator[tuple[Any, float]]:
        """The hosts that asked for a delay, with the seconds."""
        return iter(self._delays.items())

    def next_visit(self, host: Hashable, finish: float, seconds: float) -> float:
        """The earliest time of the next visit after a fetch that ended at ``finish`` and took ``seconds``."""
        rest = max(self.min_delay, self._delays.get(host, 0.0), self.factor * seconds)
        return finish + rest + self.margin if rest else finish


class AddressClocks:
    """The addresses of hosts, one politeness clock each. A host without a known address is a server of its own.

    Hosts that wait for a visit to their address to end are ``parked`` with it. Nothing of this is durable: an address is
    asked for again after a restart.
    """

    def __init__(self) -> None:
        self._addresses: OrderedDict[Hashable, str] = OrderedDict()
        self._visiting: dict[Hashable, str] = {}  # hosts in process, with the address at which they are
        self._visits: Counter[str] = Counter()
        self._due: dict[str, float] = {}
        self._parked: dict[str, dict[Hashable, None]] = {}

    def due(self, host: Hashable) -> float:
        """When the address of the host may be visited, if nobody visits it."""
        address = self._addresses.get(host)
        return -math.inf if address is None else self._due.get(address, -math.inf)

    def is_visited(self, host: Hashable) -> bool:
        """Whether another host of its address is in process; the host itself is not."""
        address = self._addresses.get(host)
        return address is not None and self._visits[address] > 0

    def are_one(self, host: Hashable, other: Hashable) -> bool:
        """Whether both hosts are known to be at one address."""
        address = self._addresses.get(host)
        return address is not None and address == self._addresses.get(other)

    def park(self, host: Hashable) -> None:
        """The host waits for the end of that visit."""
        self._parked.setdefault(self._addresses[host], {})[host] = None

    def move(self, host: Hashable, address: str, *, in_process: bool) -> Iterable[Hashable]:
        """The host is at ``address``, empty: it is told apart from all others; the hosts that may be visited for that."""
        old = self._addresses.pop(host, "")
        if address:
            self._addresses[host] = address
            if len(self._addresses) > _REMEMBERED:
                self._addresses.popitem(last=False)
        if old == address:
            return ()
        freed = list(self.leave(host))
        if in_process:
            self.visit(host)
        return freed

    def visit(self, host: Hashable) -> None:
        """The host is in process."""
        address = self._addresses.get(host)
        if address is not None and host not in self._visiting:
            self._visiting[host] = address
            self._visits[address] += 1

    def leave(self, host: Hashable) -> Iterable[Hashable]:
        """The host is not in process any more; the hosts that waited for that."""
        address = self._visiting.pop(host, None)
        if address is None:
            return ()
        self._visits[address] -= 1
        if self._visits[address]:
            return ()
        del self._visits[address]
        return self._parked.pop(address, ())

    def rest(self, host: Hashable, until: float, now: float) -> None:
        """The address of the host is not visited before ``until``, nor before the end of an earlier rest."""
        address = self._addresses.get(host)
        if address is None or until <= self._due.get(address, -math.inf):
            return
        self._due[address] = until
        if len(self._due) > _REMEMBERED:
            self._due = {address: due for address, due in self._due.items() if due > now}

    def may_stay(self, host: Hashable, now: float) -> bool:
        """Whether nobody else visits the address of a host in process, and it has rested."""
        address = self._addresses.get(host)
        return address is None or (self._visits[address] <= 1 and self._due.get(address, -math.inf) <= now)
