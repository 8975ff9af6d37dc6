"""One host's politeness clock and its waiting URLs, in a heap with lazy deletion."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import islice
from sys import intern
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from crawlproject.records import ACTIVE, CrawlUrl

NO_FIRST = (math.inf,)  # the comparison key for the first URL of a host without one: it sorts after every URL
Item = TypeVar("Item", bound=tuple[Any, ...])

_WEB = frozenset(("http:", "https:"))
_FEW = 16  # this many dead items are not worth a rebuild


def queue_of(url: str) -> str:
    """The name of the queue that a URL joins: its host, as ``urls.hosts.host_of`` returns it.

    Interned, because every waiting URL holds a reference. A spider's own requests may have other schemes (``ftp:``,
    ``data:``): their queue is named after scheme and authority.
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


class QueueEntry(NamedTuple):
    """A waiting URL as the heaps compare it: least ``precedence`` first, then least ``rank``, then least ``arrival``.

    ``precedence`` is the URL's own class. ``rank`` is the negative score, or the position in a committed batch. ``arrival``
    numbers the URLs in the order they came. ``revision`` distinguishes two entries of one URL whose score changed and
    changed back, so that records are never compared. ``host`` names the queue (see ``queue_of``).
    """

    precedence: int
    rank: float
    arrival: int
    revision: int
    record: CrawlUrl
    host: str

    @property
    def not_before(self) -> float:
        return self.record.not_before


class RankedQueue(Protocol):
    """Entries in the order in which they are taken: a ``LazyHeap``, or something like it."""

    def push(self, item: Any) -> None: ...
    def first(self) -> Any: ...
    def died(self, item: Any) -> None: ...


class HostQueue:
    """The waiting URLs of a host, its politeness clock and its block.

    ``ready`` holds the URLs that may be taken, politeness and block aside, in order. ``held`` holds those whose ``not_before``
    has not come, by time (None until there is one). ``size`` counts both. ``due`` is the time of the next polite visit,
    ``blocked_until`` the end of the block (0: none), ``leased`` whether a URL is being fetched, and ``has_classes`` whether any
    URL was ever in a class other than ``ACTIVE``. The rest belongs to ``HostStates``: the ``state``, the host's ``key`` and
    ``item`` in the heap of that state, its items in the heaps that wake it, the class in which it is visited
    (``precedence``) and in which it is ``awake``, whether the k rule ``counts`` it, and the key of its first URL
    (``first_key``).
    """

    __slots__ = (
        "_alive",
        "_now",
        "awake",
        "blocked_until",
        "counts",
        "dormant_item",
        "due",
        "first_key",
        "has_classes",
        "held",
        "item",
        "key",
        "leased",
        "name",
        "precedence",
        "ready",
        "ripening_item",
        "size",
        "state",
    )

    def __init__(self, name: Hashable, alive: Callable[[Any], bool], ready: RankedQueue | None = None) -> None:
        self.name: Any = name
        self.size = 0
        self.due = -math.inf
        self.blocked_until = 0.0
        self.leased = False
        self.state: int | None = None
        self.precedence: int | None = None
        self.awake: int | None = None
        self.counts = False
        self.has_classes = False
        self.key: tuple[float, ...] = ()
        self.first_key: tuple[float, ...] = NO_FIRST
        self.item: tuple[Any, ...] | None = None
        self.ripening_item: tuple[Any, ...] | None = None
        self.dormant_item: tuple[Any, ...] | None = None
        self._alive = alive
        self.ready: Any = LazyHeap(alive) if ready is None else ready
        self.held: LazyHeap[tuple[float, Any]] | None = None
        self._now = 0.0  # URLs whose time came up to this one have left ``held``

    def add(self, entry: Any) -> None:
        self.size += 1
        if entry.precedence != ACTIVE:
            self.has_classes = True
        not_before = entry.not_before
        if not_before <= self._now:
            self.ready.push(entry)
            return
        if self.held is None:
            self.held = LazyHeap(lambda item: self._alive(item[1]))
        self.held.push((not_before, entry))

    def remove(self, entry: Any) -> None:
        """Report that ``entry`` is no longer alive."""
        self.size -= 1
        if self.held is not None and entry.not_before > self._now:
            self.held.died()
        else:
            self.ready.died(entry)

    def release_held(self, now: float) -> None:
        """Make the URLs ready whose ``not_before`` has come."""
        if self.held is None or now <= self._now:
            return
        while (item := self.held.first()) and item[0] <= now:
            self.held.pop()
            self.ready.push(item[1])
        self._now = now

    def heads(self) -> Iterator[Any]:
        """The first URL that may be taken, and all that are held."""
        if self.size and (first := self.ready.first()) is not None:
            yield first
        if self.held is not None:
            yield from (entry for _, entry in self.held)

    def next_release(self) -> float | None:
        """The time at which the next held URL may be taken."""
        item = self.held.first() if self.held is not None else None
        return item[0] if item else None


class LazyHeap(Generic[Item]):
    """A min-heap of tuples with lazy deletion.

    An item is dead as soon as ``alive(item)`` is False. The caller that lets an item die reports it once with ``died``. Dead
    items leave when they reach the top, or all together when they outnumber the living: memory stays proportional to the
    living, and each operation costs O(log n) amortised. ``items`` is the heap with its dead items, for a quick look at its head.
    """

    __slots__ = ("_alive", "_dead", "items")

    def __init__(self, alive: Callable[[Item], bool], items: Iterable[Item] = ()) -> None:
        self._alive = alive
        self.items = list(items)
        self._dead = 0
        heapify(self.items)

    def __len__(self) -> int:
        """Living items."""
        return len(self.items) - self._dead

    def __iter__(self) -> Iterator[Item]:
        """The living items, in no particular order."""
        return filter(self._alive, self.items)

    def push(self, item: Item) -> None:
        heappush(self.items, item)

    def first(self) -> Item | None:
        """The least living item; it stays inside."""
        items = self.items
        while items:
            if self._alive(items[0]):
                return items[0]
            heappop(items)
            self._dead -= 1
        return None

    def count_until(self, key: float, most: int) -> int:
        """The number of living items that begin with ``key`` or less, at most ``most``. O(``most`` + dead items on the way)."""
        return sum(1 for _ in islice(self.until(key), most))

    def until(self, key: float) -> Iterator[Item]:
        """The living items that begin with ``key`` or less, in no particular order. O(items found + dead items on the way)."""
        items, places = self.items, [0]
        while places:
            place = places.pop()
            if place < len(items) and items[place][0] <= key:
                if self._alive(items[place]):
                    yield items[place]
                places += (2 * place + 1, 2 * place + 2)

    def last(self, n: int) -> list[Item]:
        """Up to ``n`` living items from the end of the heap. Unless it is short, its least items are not among them."""
        return list(islice(filter(self._alive, reversed(self.items)), n))

    def pop(self) -> Item | None:
        """Remove and return the least living item."""
        item = self.first()
        if item is not None:
            heappop(self.items)
        return item

    def died(self, item: object = None) -> None:
        """Report that an item inside is no longer alive; it does not matter which one."""
        self._dead += 1
        if self._dead > _FEW and 2 * self._dead > len(self.items):
            self.items = list(filter(self._alive, self.items))
            self._dead = 0
            heapify(self.items)
