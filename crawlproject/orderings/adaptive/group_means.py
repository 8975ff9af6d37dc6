"""Shrunk means over small groups."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


class GroupMeans:
    """Sums of ``width`` values per member, by group. The name of a group is any hashable; it is stored as a number.

    A mean over few members is unreliable, so it is shrunk: ``(sum + strength * prior) / (members + strength)``, as if there
    were ``strength`` more members with the value of the prior.
    """

    def __init__(self, width: int, strength: float) -> None:
        self._strength = strength
        self._numbers: dict[Hashable, int] = {}
        self._sums = np.zeros((1024, width))
        self._members = np.zeros(1024)

    def number(self, name: Hashable) -> int:
        """The number of a group; a new one for a new name."""
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self._members):
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._members = np.concatenate([self._members, np.zeros_like(self._members)])
        return number

    def add(self, number: int, values: Vector) -> None:
        """Add a member to a group."""
        self._sums[number] += values
        self._members[number] += 1

    def means(self, numbers: Rows, priors: Vector) -> Vector:
        """The shrunk means, one row for each of ``numbers``; ``priors`` has the same shape, or is one row for all."""
        members = self._members[numbers][:, None]
        return (self._sums[numbers] + self._strength * priors) / (members + self._strength)
