"""The k rule, which bars hosts from a visit, and when it may be set aside; and the precedence classes of hosts (``base``)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from itertools import chain, count
from typing import Any

from crawlproject.frontier.host_queue import LazyHeap
from crawlproject.records import ACTIVE, FIRST, INACTIVE, SPARE, WASTE

CLASSES = range(WASTE + 1)


class KRule:
    """The last ``min(k, hosts) - 1`` picks bar their hosts. ``hosts`` counts those up to class ``ACTIVE`` with waiting URLs.

    ``asleep`` counts further hosts, all of whose URLs are held, and which are not in memory. They only make the window longer.
    ``foresee`` is called with a time, and wakes those of them that have a URL that may be taken by then.

    ``strict``: while k hosts wait, no barred host is taken, even if all others rest (paper 000 section 2.1); otherwise the
    crawl never stops for the rule.
    ``dormant`` holds the hosts of which no URL may be taken before some time, each as ``(time, number, host queue)``:
    every URL is held, or the host is blocked. They do not count towards the k hosts that must wait.

    Picks that left the window are remembered for a while, because the window may grow again, and picks may be given back. Each
    step costs O(1).
    """

    def __init__(self, k: int, *, strict: bool = True) -> None:
        self.k = k
        self.strict = strict
        self.hosts = 0
        self.asleep = 0
        self.foresee: Callable[[float], object] = lambda at: None
        self.dormant: LazyHeap[tuple[Any, ...]] = LazyHeap(lambda item: item[-1].dormant_item is item)
        self._inside: OrderedDict[int, Hashable] = OrderedDict()  # the picks that bar, oldest first
        self._outside: OrderedDict[int, Hashable] = OrderedDict()  # older ones
        self._picks: dict[Hashable, list[int]] = {}  # the numbers of each host's picks, ascending
        self._numbers = count()
        self._listeners: list[Callable[[Hashable], None]] = []

    def listen(self, changed: Callable[[Hashable], None]) -> None:
        """Call ``changed`` with every host that the rule starts or stops barring."""
        self._listeners.append(changed)

    def count_host(self, change: int, asleep: int = 0) -> None:
        """Change the numbers of hosts with waiting URLs and of hosts asleep."""
        self.hosts += change
        self.asleep += asleep
        if self.hosts + self.asleep < self.k + (change + asleep > 0):  # otherwise the window keeps its size
            self._fit()

    def set_hosts(self, hosts: int, asleep: int = 0) -> None:
        """Set how many hosts count, and how many are asleep."""
        self.hosts = hosts
        self.asleep = asleep
        self._fit()

    def pick(self, host: Hashable, leases: int) -> None:
        """Note a pick of the host. Picks are remembered as long as up to ``leases`` of them may be given back."""
        number = next(self._numbers)
        self._inside[number] = host
        self._picks.setdefault(host, []).append(number)
        while self._outside and len(self._outside) + len(self._inside) >= self.k + leases:
            number, oldest = self._outside.popitem(last=False)
            numbers = self._picks[oldest]
            numbers.remove(number)
            if not numbers:
                del self._picks[oldest]
        self._fit(host)

    def give_back(self, host: Hashable) -> None:
        """Do not count the host's last pick, unless it is so old that it is forgotten."""
        numbers = self._picks.get(host)
        if numbers:
            number = numbers.pop()
            if not numbers:
                del self._picks[host]
            if self._inside.pop(number, None) is None:
                del self._outside[number]
        self._fit(host)

    def bars(self, host: Hashable) -> bool:
        """Whether one of the picks in the window was of the host."""
        numbers = self._picks.get(host)
        return numbers is not None and numbers[-1] in self._inside

    def last_pick(self, host: Hashable) -> int:
        """The number of the host's last pick; a higher number is later. The host must have one."""
        return self._picks[host][-1]

    def picks(self) -> Iterator[Any]:
        """The hosts of the last picks, oldest first: as many as the rule may still need."""
        return chain(self._outside.values(), self._inside.values())

    def allows_barred(self, at: float) -> bool:
        """Whether a barred host may be taken at ``at``: if strict, only if fewer than k hosts wait then, without dormant ones."""
        if not self.strict:
            return True
        missing = self._missing()
        if missing > 0 and self.asleep:
            self.foresee(at)
            missing = self._missing()
        return missing > 0 and self.dormant.count_until(at, missing) < missing

    def _missing(self) -> int:
        """By how many the waiting hosts, without the dormant ones, fall short of k."""
        return self.k - self.hosts + len(self.dormant)

    def _fit(self, *changed: Hashable) -> None:
        """Adjust the window to its size. Report the hosts that it now bars or frees, and those that ``changed``."""
        size = max(min(self.k, self.hosts + self.asleep) - 1, 0)
        moved = []
        while len(self._inside) > size:
            number, host = self._inside.popitem(last=False)
            self._outside[number] = host
            moved.append(host)
        while len(self._inside) < size and self._outside:
            number, host = self._outside.popitem()
            self._inside[number] = host
            self._inside.move_to_end(number, last=False)
            moved.append(host)
        for listener in self._listeners:
            for host in moved:
                listener(host)
            for host in changed:
                listener(host)


class HostClasses:
    """In which class a host is visited, how many hosts of each class are awake, and up to which class URLs are taken.

    The floors are stored as ranks: a rank is a negative score, and the least rank is the best. ``demoted`` holds the hosts
    above ``ACTIVE``, whether they have URLs or not.
    """

    highest_active = ACTIVE
    """The highest class that a URL of a host up to ``ACTIVE`` has of its own."""

    def __init__(self) -> None:
        self.ceiling = WASTE
        self.elsewhere: int | None = None  # the lowest class of an awake host in another frontier
        self.has_floor = False
        self.floor = math.inf  # the highest rank of an active host
        self.spare = math.inf  # the highest rank of a spare host
        self.demoted: dict[Hashable, int] = {}
        self._awake = [0 for _ in CLASSES]

    def set_floor(self, floor: float, spare: float) -> None:
        """Change the floors. The caller places the hosts whose class changes."""
        self.floor, self.spare = floor, max(floor, spare)
        self.has_floor = floor < math.inf

    def demote(self, host: Hashable, precedence: int) -> None:
        """Set the class of a host; one not above ``ACTIVE`` removes the class set before."""
        if precedence > ACTIVE:
            self.demoted[host] = precedence
        else:
            self.demoted.pop(host, None)

    def of_host(self, host: Hashable) -> int:
        """The class of the host itself."""
        return self.demoted.get(host, ACTIVE)

    def of(self, host: Hashable, precedence: int, rank: float) -> int:
        """The class in which a URL waits, given its host, its own class and its rank."""
        if precedence > FIRST and self.demoted:
            precedence = max(precedence, self.demoted.get(host, precedence))
        if precedence != ACTIVE or rank <= self.floor:
            return precedence
        return self.by_floors(precedence, rank)

    def by_floors(self, precedence: int, rank: float) -> int:
        """The class of a URL regardless of its host."""
        if precedence != ACTIVE or rank <= self.floor:
            return precedence
        return SPARE if rank <= self.spare else INACTIVE

    def count_awake(self, old: int | None, new: int | None) -> None:
        """Move an awake host from class ``old`` to ``new``; None: no class."""
        if old is not None:
            self._awake[old] -= 1
        if new is not None:
            self._awake[new] += 1

    def is_awake(self, precedence: int) -> bool:
        """Whether a host of this class is awake."""
        return self._awake[precedence] > 0

    def lowest_awake(self) -> int | None:
        """The lowest class that has an awake host."""
        return next((precedence for precedence in CLASSES if self._awake[precedence]), None)


class OneClass(HostClasses):
    """All hosts are active, as under a commitment to several URLs."""

    highest_active = WASTE

    def of(self, host: Any, precedence: int, rank: float) -> int:
        return ACTIVE
