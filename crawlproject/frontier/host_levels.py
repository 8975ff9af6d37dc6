"""The precedence floor, as in Heritrix: which hosts are active.

A host is ``ACTIVE`` when its best URL that may be taken is above the floor, ``SPARE`` when it is above the second, lower
floor, and else ``INACTIVE``. Without a floor, and when all its URLs are held, it is active.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.k_rule import KRule
from crawlproject.frontier.lazy_heap import LazyHeap

ACTIVE, SPARE, INACTIVE = range(3)


class HostLevels:
    """The levels of the hosts in memory. The floors are ranks here: a rank is a negative score, and the least is the best.

    ``rule`` counts the active hosts, when there is a floor. A host is *dormant* when no URL of it may be taken before some
    time: each is held, or the host is blocked.
    """

    def __init__(self, rule: KRule) -> None:
        self.floor = math.inf  # the highest rank of an active host
        self.spare = math.inf  # of a spare one
        self.active: dict[Hashable, HostQueue] = {}
        self._rule = rule
        self._spares = 0
        self.dormant_spares: LazyHeap[tuple[Any, ...]] = LazyHeap(lambda item: item[-1].dormant_item is item)

    def set(self, floor: float, spare: float) -> None:
        """Change the floors. The caller places the hosts whose level changes: all, when there was no floor or is none now."""
        self.floor, self.spare = floor, max(floor, spare)

    @property
    def are_set(self) -> bool:
        return self.floor < math.inf

    def of(self, best: Any) -> int:
        """The level of a host whose best URL that may be taken is ``best`` (None: there is none)."""
        if best is None or best.rank <= self.floor:
            return ACTIVE
        return SPARE if best.rank <= self.spare else INACTIVE

    def enter(self, host: HostQueue, level: int | None, wakes: float) -> None:
        """The host is at this level now (None: it has no URL), and dormant until ``wakes`` (0: it is not)."""
        if level == INACTIVE:
            wakes = 0.0
        old, item = host.level, host.dormant_item
        if item is not None and (level != old or item[0] != wakes):
            host.dormant_item = item = None
            self._dormant(old).died()
        host.level = level
        self._spares += (level == SPARE) - (old == SPARE)
        if wakes and item is None and level is not None:
            host.dormant_item = (wakes, id(host), host)
            self._dormant(level).push(host.dormant_item)
        if not self.are_set or (level == ACTIVE) == (old == ACTIVE):
            return
        if level == ACTIVE:
            self.active[host.name] = host
        else:
            del self.active[host.name]
        self._rule.count_host(1 if level == ACTIVE else -1)  # last, for the rule may place hosts, and this one again

    def any_awake(self) -> bool:
        """Whether a URL of an active or spare host may be taken sooner or later, as things are."""
        return self._rule.hosts > len(self._rule.dormant) or self._spares > len(self.dormant_spares)

    def _dormant(self, level: int | None) -> LazyHeap[tuple[Any, ...]]:
        return self._rule.dormant if level == ACTIVE else self.dormant_spares
