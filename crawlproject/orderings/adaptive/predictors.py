"""The predictors of the adaptive ordering: shrunk means over small groups, and ridge regression with a prior."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

FAR_BEHIND = 1.5  # upper limit for the prediction of what lies behind a link


class Means:
    """Sums and means of ``width`` values over the members of each group. Groups are numbers.

    A mean over few members is unreliable, so it is shrunk: ``(sum + strength * prior) / (members + strength)``, as if there
    were ``strength`` more members with the value of the prior. ``sums`` (groups, ``width``) and ``members`` are indexed by
    group; there is ``room`` for so many groups until ``grow``.
    """

    def __init__(self, width: int, strength: float, room: int = 1024) -> None:
        self.strength = strength
        self.sums: Vector = np.zeros((room, width))
        self.members: Vector = np.zeros(room)

    def add(self, number: int, values: Vector) -> None:
        """Add a member to a group in use."""
        self.sums[number] += values
        self.members[number] += 1

    def add_sums(self, numbers: Sequence[int], sums: Vector, members: Vector) -> None:
        """Add several members to each of some groups in use; ``sums`` are the sums of their values."""
        places = np.array(numbers, np.int64)
        np.add.at(self.sums, places, sums)
        np.add.at(self.members, places, members)

    def means(self, numbers: Rows, priors: Vector) -> Vector:
        """The shrunk means, one row for each of ``numbers``; ``priors`` has the same shape, or one row for all."""
        members = self.members[numbers][:, None]
        return (self.sums[numbers] + self.strength * priors) / (members + self.strength)

    def clear(self, number: int) -> None:
        """Reset a number, which another group uses from now on."""
        self.sums[number] = 0.0
        self.members[number] = 0.0

    def grow(self) -> None:
        self.sums = np.concatenate([self.sums, np.zeros_like(self.sums)])
        self.members = np.concatenate([self.members, np.zeros_like(self.members)])


class GroupMeans(Means):
    """Means of named groups, which are numbered here. A name is any hashable.

    A number is valid while the group has users (``join``, ``leave``). Of the groups without users, those with members are
    remembered, the latest ``remembered`` of them. ``others`` are means of other values over the same groups.
    """

    def __init__(self, width: int, strength: float, remembered: int = 16_384) -> None:
        super().__init__(width, strength)
        self._remembered = remembered
        self._numbers: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._users: list[int] = []
        self._unused: OrderedDict[int, None] = OrderedDict()  # with members but no users, left earliest first
        self._free: list[int] = []
        self.others: list[Means] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, name: Hashable) -> int:
        """The number of a group; -1 if there is none."""
        return self._numbers.get(name, -1)

    def name_of(self, number: int) -> Hashable:
        """The name of a group in use."""
        return self._names[number]

    def join(self, name: Hashable) -> int:
        """Add a user to a group, which is created for a new name; return its number."""
        return self.join_all((name,))[0]

    def leave(self, number: int) -> None:
        """Remove a user from a group."""
        self.leave_all((number,))

    def join_all(self, names: Iterable[Hashable]) -> list[int]:
        """``join`` each of them, in this order."""
        known, users, unused = self._numbers.get, self._users, self._unused
        found = []
        for name in names:
            number = known(name)
            if number is None:
                number = self._new(name)
            elif not users[number]:
                unused.pop(number, None)
            users[number] += 1
            found.append(number)
        return found

    def leave_all(self, numbers: Iterable[int]) -> None:
        """``leave`` each of them, in this order."""
        users, unused = self._users, self._unused
        for number in numbers:
            users[number] -= 1
            if users[number]:
                continue
            if not self.members[number]:
                self._forget(number)
                continue
            unused[number] = None
            if len(unused) > self._remembered:
                self._forget(unused.popitem(last=False)[0])

    def _new(self, name: Hashable) -> int:
        if self._free:
            number = self._free.pop()
            self._names[number] = name
            for means in (self, *self.others):
                means.clear(number)
        else:
            number = len(self._names)
            self._names.append(name)
            self._users.append(0)
            if number == len(self.members):
                for means in (self, *self.others):
                    means.grow()
        self._numbers[name] = number
        return number

    def _forget(self, number: int) -> None:
        del self._numbers[self._names[number]]
        self._names[number] = None
        self._free.append(number)


class Ridge:
    """The weights ``w`` that minimise ``sum (y - w.x)^2 + strength * |w - prior|^2`` over the examples so far.

    Without examples ``w`` is the prior, which weighs as much as ``strength`` examples of unit size. Several outputs are
    learned independently, each from its own evidence: ``prior`` has shape (outputs, features).
    """

    def __init__(self, prior: Vector, strength: float) -> None:
        outputs, features = prior.shape
        self.weights = prior.copy()
        self._gram = np.tile(np.eye(features) * strength, (outputs, 1, 1))
        self._moments = prior * strength

    def learn(self, evidence: Vector, outcome: Vector) -> None:
        """Add an example: ``evidence`` of shape (outputs, features), ``outcome`` of shape (outputs,)."""
        self._gram += evidence[:, :, None] * evidence[:, None, :]
        self._moments += outcome[:, None] * evidence

    def add(self, gram: Vector, moments: Vector) -> None:
        """Add several examples: the sums of the products that ``learn`` adds."""
        self._gram += gram
        self._moments += moments

    def solve(self) -> None:
        """Update ``weights``; costs one small linear system per output."""
        self.weights = np.asarray(np.linalg.solve(self._gram, self._moments[:, :, None])[:, :, 0], dtype=np.float64)


def behind_of(predicted: float | Vector) -> float | Vector:
    """A prediction of what lies behind a link, limited to the range from 0 to ``FAR_BEHIND``.

    Values far above 1 are errors of the regression.
    """
    return np.minimum(np.maximum(predicted, 0.0), FAR_BEHIND)
