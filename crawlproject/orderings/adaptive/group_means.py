"""Shrunk means over small groups."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


class GroupMeans:
    """Sums of ``width`` values per member, by group. The name of a group is any hashable; it is stored as a number.

    A mean over few members is unreliable, so it is shrunk: ``(sum + strength * prior) / (members + strength)``, as if there
    were ``strength`` more members with the value of the prior.

    A number is valid while somebody uses it (``join``, ``leave``). Of the groups that nobody uses, those with members are
    remembered, the latest ``remembered`` of them.
    """

    def __init__(self, width: int, strength: float, remembered: int = 16_384) -> None:
        self._strength = strength
        self._remembered = remembered
        self._numbers: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._users: list[int] = []
        self._unused: OrderedDict[int, None] = OrderedDict()  # with members, the one left first in front
        self._free: list[int] = []
        self._sums = np.zeros((1024, width))
        self._members = np.zeros(1024)

    def __len__(self) -> int:
        return len(self._numbers)

    def join(self, name: Hashable) -> int:
        """The number of a group that is used once more; a new one for a new name."""
        number = self._numbers.get(name)
        if number is None:
            number = self._new(name)
        elif not self._users[number]:
            self._unused.pop(number, None)
        self._users[number] += 1
        return number

    def leave(self, number: int) -> None:
        """The group is used once less."""
        self._users[number] -= 1
        if self._users[number]:
            return
        if not self._members[number]:
            self._forget(number)
            return
        self._unused[number] = None
        if len(self._unused) > self._remembered:
            oldest, _ = self._unused.popitem(last=False)
            self._forget(oldest)

    def add(self, number: int, values: Vector) -> None:
        """Add a member to a group that is used."""
        self._sums[number] += values
        self._members[number] += 1

    def means(self, numbers: Rows, priors: Vector) -> Vector:
        """The shrunk means, one row for each of ``numbers``; ``priors`` has the same shape, or is one row for all."""
        members = self._members[numbers][:, None]
        return (self._sums[numbers] + self._strength * priors) / (members + self._strength)

    def _new(self, name: Hashable) -> int:
        if self._free:
            number = self._free.pop()
            self._names[number] = name
            self._sums[number] = 0.0
            self._members[number] = 0.0
        else:
            number = len(self._names)
            self._names.append(name)
            self._users.append(0)
            if number == len(self._members):
                self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
                self._members = np.concatenate([self._members, np.zeros_like(self._members)])
        self._numbers[name] = number
        return number

    def _forget(self, number: int) -> None:
        del self._numbers[self._names[number]]
        self._names[number] = None
        self._free.append(number)
