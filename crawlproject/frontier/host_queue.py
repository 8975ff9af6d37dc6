"""One host's waiting URLs and its politeness clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from sys import intern
from typing import Any, Protocol

from crawlproject.frontier.entry import QueueEntry
from crawlproject.frontier.lazy_heap import LazyHeap

_WEB = frozenset(("http:", "https:"))


def queue_of(url: str) -> str:
    """The name of the queue that a URL joins: its host, as ``urls.hosts.host_of`` has it.

    Interned, because every waiting URL holds one. A spider's own requests may be of other schemes (``ftp:``,
    ``data:``): these queue by scheme and authority.
    """
    parts = url.split("/", 3)
    if len(parts) < 3:
        return intern(url.partition(":")[0])
    if parts[0] not in _WEB:
        return intern(parts[0] + parts[2])
    authority = parts[2]
    if ":" not in authority:
        return intern(authority)
    bracket = authority.rfind("]") + 1  # after an IPv6 address
    return intern(authority[:bracket] or authority.partition(":")[0])


class RankedQueue(Protocol):
    """Where entries wait by rank: a ``LazyHeap``, or something like it."""

    def push(self, item: Any) -> None: ...
    def first(self) -> Any: ...
    def died(self) -> None: ...


class HostQueue:
    """The URLs of a host that may go, by rank, and those with a ``not_before`` to come, by time.

    ``size`` counts both; ``later``, the second kind, is None until one comes. ``due`` is the time of the next visit,
    ``leased`` tells that a URL is being fetched. The schedule keeps its own marks here: ``heap``, ``key`` and ``item``
    say where the host stands, ``ripens`` when its best URL may change, ``dormant`` that none may go yet.
    """

    __slots__ = (
        "_alive",
        "_ripe",
        "dormant",
        "due",
        "heap",
        "item",
        "key",
        "later",
        "leased",
        "name",
        "ready",
        "ripens",
        "size",
    )

    def __init__(self, name: Hashable, alive: Callable[[Any], bool], ready: RankedQueue | None = None) -> None:
        self.name = name
        self.size = 0
        self.due = -math.inf
        self.leased = False
        self.dormant = False
        self.heap: LazyHeap[Any] | None = None
        self.key: tuple[float, ...] = ()
        self.item: tuple[Any, ...] | None = None
        self.ripens: tuple[Any, ...] | None = None
        self._alive = alive
        self.ready: RankedQueue = LazyHeap(alive) if ready is None else ready
        self.later: LazyHeap[tuple[float, QueueEntry]] | None = None
        self._ripe = 0.0  # what may go at this time has left ``later``

    def add(self, entry: QueueEntry) -> None:
        self.size += 1
        not_before = entry.not_before
        if not_before <= self._ripe:
            self.ready.push(entry)
            return
        if self.later is None:
            self.later = LazyHeap(lambda item: self._alive(item[1]))
        self.later.push((not_before, entry))

    def remove(self, entry: QueueEntry) -> None:
        """Report that ``entry`` is not alive any more."""
        self.size -= 1
        if self.later is not None and entry.not_before > self._ripe:
            self.later.died()
        else:
            self.ready.died()

    def ripen(self, now: float) -> None:
        """Let URLs go whose ``not_before`` has come."""
        if self.later is None or now <= self._ripe:
            return
        while (item := self.later.first()) and item[0] <= now:
            self.later.pop()
            self.ready.push(item[1])
        self._ripe = now

    def best(self) -> QueueEntry | None:
        """The first URL that may go, politeness aside."""
        return self.ready.first()

    def heads(self) -> Iterator[Any]:
        """The first URL that may go, and all that may not yet."""
        if self.size and (first := self.ready.first()) is not None:
            yield first
        if self.later is not None:
            yield from (entry for _, entry in self.later)

    def next_ripe(self) -> float | None:
        """When the next URL may go that may not yet."""
        item = self.later.first() if self.later is not None else None
        return item[0] if item else None

    def opens(self) -> float:
        """From when on a visit is polite and some URL may go; infinite when no URL waits."""
        if self.best() is not None:
            return self.due
        ripe = self.next_ripe()
        return math.inf if ripe is None else max(self.due, ripe)
