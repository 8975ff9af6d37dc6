"""A heap whose items may die while they are inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Any, Generic, TypeVar

Item = TypeVar("Item", bound=tuple[Any, ...])

_FEW = 16  # dead items that are not worth a rebuild


class LazyHeap(Generic[Item]):
    """A min-heap of tuples with lazy deletion.

    An item is dead as soon as ``alive(item)`` is False. Whoever lets an item die reports it with ``died``, once. The
    dead leave when they come to the top, or all together when they outnumber the living: so the memory is that of the
    living, and each operation costs O(log n) amortised. ``items`` is the heap, with the dead: for a quick look at its head.
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
        """How many living items begin with ``key`` or less, ``most`` at most. O(``most`` + dead items on the way)."""
        return sum(1 for _ in islice(self.until(key), most))

    def until(self, key: float) -> Iterator[Item]:
        """The living items that begin with ``key`` or less, in no order. O(items found + dead items on the way)."""
        items, places = self.items, [0]
        while places:
            place = places.pop()
            if place < len(items) and items[place][0] <= key:
                if self._alive(items[place]):
                    yield items[place]
                places += (2 * place + 1, 2 * place + 2)

    def last(self, n: int) -> list[Item]:
        """Up to ``n`` living items from the end of the heap, where its least items are not, unless it is short."""
        return list(islice(filter(self._alive, reversed(self.items)), n))

    def pop(self) -> Item | None:
        """Take the least living item out."""
        item = self.first()
        if item is not None:
            heappop(self.items)
        return item

    def died(self, item: object = None) -> None:
        """An item inside is not alive any more; it does not matter which one."""
        self._dead += 1
        if self._dead > _FEW and 2 * self._dead > len(self.items):
            self.items = [item for item in self.items if self._alive(item)]
            self._dead = 0
            heapify(self.items)
