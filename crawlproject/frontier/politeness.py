"""How long a host rests after a visit, and which hosts are names of one server (004 section 2.3.1, footnote 2)."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

LONGEST_BLOCK = 3_600.0  # seconds: the longest block, unless hosts may ask for a longer rest or are tried again later

_REMEMBERED = 200_000  # hosts, and addresses that rest


class Politeness:
    """The next visit to a host is at ``finish + max(min_delay, crawl_delay, factor * seconds)``.

    ``min_delay`` is in seconds (default 1). ``factor`` multiplies the duration of the last fetch (default 1: a host
    rests as long as it worked). ``margin`` seconds (default 0) are added to a rest that is not 0, for servers that note
    the end of a fetch a moment after the client does. All must be finite and not negative, else ``ValueError``.

    ``longest`` is the longest possible rest in seconds, whatever hosts ask for (default: infinite). A frontier that is opened
    again shortens any longer rest that it finds, and any block longer than ``longest_block``: the clock must have been set
    back since.
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
        self.longest_block = LONGEST_BLOCK if longest == math.inf else max(LONGEST_BLOCK, longest)
        self._delays: dict[Hashable, float] = {}

    def crawl_delay(self, host: Hashable, seconds: float) -> bool:
        """Remember the delay that the host's robots.txt asks for. False if it was known already.

        A value that is not finite and positive removes the delay: robots.txt is written by strangers.
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
        """The delay that the host asks for, in seconds; 0 if none."""
        return self._delays.get(host, 0.0)

    def crawl_delays(self) -> Iterator[tuple[Any, float]]:
        """The hosts that asked for a delay, with the delay in seconds."""
        return iter(self._delays.items())

    def next_visit(self, host: Hashable, finish: float, seconds: float) -> float:
        """The earliest time of the next visit after a fetch that ended at ``finish`` and took ``seconds``."""
        rest = max(self.min_delay, self._delays.get(host, 0.0), self.factor * seconds)
        return finish + rest + self.margin if rest else finish


class AddressClocks:
    """The addresses of hosts, with one politeness clock each. A host without a known address is a separate server.

    A host is ``parked`` while it waits for a visit to its address to end. Nothing of this is durable: addresses are resolved
    again after a restart.
    """

    def __init__(self) -> None:
        self._addresses: OrderedDict[Hashable, str] = OrderedDict()
        self._visiting: dict[Hashable, str] = {}  # hosts in process, with their addresses
        self._visits: Counter[str] = Counter()
        self._due: dict[str, float] = {}
        self._parked: dict[str, dict[Hashable, None]] = {}

    def due(self, host: Hashable) -> float:
        """When the address of the host may be visited, unless a visit is under way."""
        address = self._addresses.get(host)
        return -math.inf if address is None else self._due.get(address, -math.inf)

    def is_visited(self, host: Hashable) -> bool:
        """Whether another host at the same address is in process; the host itself must not be."""
        address = self._addresses.get(host)
        return address is not None and self._visits[address] > 0

    def are_one(self, host: Hashable, other: Hashable) -> bool:
        """Whether both hosts are known to be at one address."""
        address = self._addresses.get(host)
        return address is not None and address == self._addresses.get(other)

    def park(self, host: Hashable) -> None:
        """Let the host wait for the end of the visit to its address."""
        self._parked.setdefault(self._addresses[host], {})[host] = None

    def move(self, host: Hashable, address: str, *, in_process: bool) -> Iterable[Hashable]:
        """Note that the host is at ``address`` (empty: at no shared one). Return the hosts that may now be visited."""
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
        """Note that the host is in process."""
        address = self._addresses.get(host)
        if address is not None and host not in self._visiting:
            self._visiting[host] = address
            self._visits[address] += 1

    def leave(self, host: Hashable) -> Iterable[Hashable]:
        """Note that the host is no longer in process. Return the hosts that were waiting for that."""
        address = self._visiting.pop(host, None)
        if address is None:
            return ()
        self._visits[address] -= 1
        if self._visits[address]:
            return ()
        del self._visits[address]
        return self._parked.pop(address, ())

    def rest(self, host: Hashable, until: float, now: float) -> None:
        """Do not visit the address of the host before ``until``, nor before the end of an earlier rest."""
        address = self._addresses.get(host)
        if address is None or until <= self._due.get(address, -math.inf):
            return
        self._due[address] = until
        if len(self._due) > _REMEMBERED:
            self._due = {address: due for address, due in self._due.items() if due > now}

    def may_stay(self, host: Hashable, now: float) -> bool:
        """Whether a host in process is the only one visiting its address, and the address has rested."""
        address = self._addresses.get(host)
        return address is None or (self._visits[address] <= 1 and self._due.get(address, -math.inf) <= now)
