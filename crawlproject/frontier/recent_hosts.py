"""The hosts of the last picks: the memory behind the k rule."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from itertools import count


class RecentHosts:
    """The sequence of picked hosts; the last ``size`` picks bar their hosts. Each step costs O(1).

    Picks that left the window are remembered for a while: the window may grow again, and picks may be given back.
    """

    def __init__(self) -> None:
        self._inside: OrderedDict[int, Hashable] = OrderedDict()  # the picks that bar, oldest first
        self._outside: OrderedDict[int, Hashable] = OrderedDict()  # older ones
        self._picks: dict[Hashable, list[int]] = {}  # the numbers of each host's picks, ascending
        self._numbers = count()

    def __iter__(self) -> Iterator[Hashable]:
        """The hosts of all remembered picks, oldest first."""
        yield from self._outside.values()
        yield from self._inside.values()

    def pick(self, host: Hashable) -> None:
        """Append a pick. ``fit`` restores the size."""
        number = next(self._numbers)
        self._inside[number] = host
        self._picks.setdefault(host, []).append(number)

    def give_back(self, host: Hashable) -> None:
        """Strike out the host's last pick, as if it had not been. ``fit`` restores the size."""
        numbers = self._picks.get(host)
        if not numbers:
            return  # so old that it is forgotten
        number = numbers.pop()
        if not numbers:
            del self._picks[host]
        if self._inside.pop(number, None) is None:
            del self._outside[number]

    def bars(self, host: Hashable) -> bool:
        """Whether one of the last ``size`` picks was of the host."""
        numbers = self._picks.get(host)
        return numbers is not None and numbers[-1] in self._inside

    def last(self, host: Hashable) -> int:
        """The number of the host's last pick; higher is later. The host has one."""
        return self._picks[host][-1]

    def fit(self, size: int) -> list[Hashable]:
        """Let the window be the last ``size`` picks; the hosts of the picks that came in or went out."""
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
        return moved

    def remember(self, picks: int) -> None:
        """Forget the oldest picks outside the window until ``picks`` are left."""
        while self._outside and len(self._outside) + len(self._inside) > picks:
            number, host = self._outside.popitem(last=False)
            numbers = self._picks[host]
            numbers.remove(number)
            if not numbers:
                del self._picks[host]
