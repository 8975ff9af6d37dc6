"""The precedence classes of hosts, as in Heritrix: who comes first, whatever the scores.

The classes are in ``records``, their rules in ``base``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from crawlproject.records import ACTIVE, FIRST, INACTIVE, SPARE, WASTE

CLASSES = range(WASTE + 1)


class HostClasses:
    """In which class a host is visited, how many hosts of each class are awake, and up to which class URLs are taken.

    The floors are ranks here: a rank is a negative score, and the least is the best. ``demoted`` has the hosts above
    ``ACTIVE``, whether they have URLs or not.
    """

    highest_active = ACTIVE
    """The highest class that a URL of a host up to ``ACTIVE`` has of its own."""

    def __init__(self) -> None:
        self.ceiling = WASTE
        self.has_floor = False
        self.floor = math.inf  # the highest rank of an active host
        self.spare = math.inf  # of a spare one
        self.demoted: dict[Hashable, int] = {}
        self._awake = [0 for _ in CLASSES]

    def set_floor(self, floor: float, spare: float) -> None:
        """Change the floors. The caller places the hosts whose class changes."""
        self.floor, self.spare = floor, max(floor, spare)
        self.has_floor = floor < math.inf

    def demote(self, host: Hashable, precedence: int) -> None:
        """The host has this class; one that is not above ``ACTIVE`` is none of its own."""
        if precedence > ACTIVE:
            self.demoted[host] = precedence
        else:
            self.demoted.pop(host, None)

    def of_host(self, host: Hashable) -> int:
        """The class of the host itself."""
        return self.demoted.get(host, ACTIVE)

    def of(self, host: Hashable, precedence: int, rank: float) -> int:
        """The class in which a URL of the host waits that has this class of its own, and this rank."""
        if precedence > FIRST and self.demoted:
            precedence = max(precedence, self.demoted.get(host, precedence))
        if precedence != ACTIVE or rank <= self.floor:
            return precedence
        return self.by_floors(precedence, rank)

    def by_floors(self, precedence: int, rank: float) -> int:
        """The class of a URL, its host aside."""
        if precedence != ACTIVE or rank <= self.floor:
            return precedence
        return SPARE if rank <= self.spare else INACTIVE

    def count_awake(self, old: int | None, new: int | None) -> None:
        """A host that was awake in class ``old`` is so in ``new``; None: in no class."""
        if old is not None:
            self._awake[old] -= 1
        if new is not None:
            self._awake[new] += 1

    def is_awake(self, precedence: int) -> bool:
        """Whether a host of this class is awake."""
        return self._awake[precedence] > 0

    def lowest_awake(self) -> int | None:
        """The lowest class of which a host is awake."""
        return next((precedence for precedence in CLASSES if self._awake[precedence]), None)


class OneClass(HostClasses):
    """All hosts are active: under a commitment to several URLs."""

    highest_active = WASTE

    def of(self, host: Any, precedence: int, rank: float) -> int:
        return ACTIVE
