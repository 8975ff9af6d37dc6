"""The Tree-Frontier of TRES: a regression tree over followed links, whose leaves contain the waiting links."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

DEPTH = 18  # maximum number of splits above a leaf
LEAST = 5  # followed links that a leaf needs to be split

Rows = npt.NDArray[np.float32]


class HasFeatures(Protocol):
    features: Rows


Waiting = TypeVar("Waiting", bound=HasFeatures)


class Node(Generic[Waiting]):
    """A leaf, or a split: links whose ``feature`` is at most ``threshold`` are in ``below``, the others in ``above``."""

    __slots__ = (
        "above", "below", "depth", "feature", "followed", "highest", "lowest", "place", "rewards", "threshold", "waiting",
    )  # fmt: skip

    def __init__(self, depth: int, place: int) -> None:
        self.depth = depth
        self.place = place  # its index in the list of leaves
        self.waiting: list[Waiting] = []
        self.followed: list[Rows] = []
        self.rewards: list[float] = []
        self.lowest: Rows = np.array(np.inf, np.float32)  # minimum of each feature in ``followed``
        self.highest: Rows = np.array(-np.inf, np.float32)
        self.feature = -1
        self.threshold = 0.0
        self.below = self.above = self

    def learn(self, features: Rows, reward: float) -> None:
        self.followed.append(features)
        self.rewards.append(reward)
        self.lowest = np.minimum(self.lowest, features)
        self.highest = np.maximum(self.highest, features)

    @property
    def may_be_split(self) -> bool:
        """Whether a split may be searched; it is not for a leaf whose links all have the same features."""
        return len(self.rewards) >= LEAST and self.depth < DEPTH and not np.array_equal(self.lowest, self.highest)


class TreeFrontier(Generic[Waiting]):
    """A tree whose leaves contain waiting links; it grows with the rewards of followed links.

    ``add`` puts a waiting link into the leaf of its features. ``learn`` adds the reward of a followed link, and may split
    its leaf, where the variance of rewards falls most. A link that no longer waits may stay in its leaf until it is drawn.
    """

    def __init__(self) -> None:
        self._root: Node[Waiting] = Node(0, 0)
        self.leaves = [self._root]

    def add(self, waiting: Waiting, features: list[float]) -> None:
        """Put ``waiting`` into its leaf; ``features`` are its features as plain numbers."""
        self._leaf(features).waiting.append(waiting)

    def learn(self, features: Rows, reward: float) -> None:
        leaf = self._leaf(features.tolist())
        leaf.learn(features, reward)
        if leaf.may_be_split and (found := best_split(np.array(leaf.followed), np.array(leaf.rewards))):
            self._split(leaf, *found)

    def representatives(self, random: Random, waits: Callable[[Waiting], bool]) -> list[Waiting]:
        """One link from each leaf, drawn from its links that still wait (``waits``)."""
        drawn: list[Waiting] = []
        for leaf in self.leaves:
            waiting = leaf.waiting
            while waiting:
                place = int(random.random() * len(waiting))
                if waits(waiting[place]):
                    drawn.append(waiting[place])
                    break
                waiting[place] = waiting[-1]
                waiting.pop()
        return drawn

    def _leaf(self, features: list[float]) -> Node[Waiting]:
        node = self._root
        while node.feature >= 0:
            node = node.below if features[node.feature] <= node.threshold else node.above
        return node

    def _split(self, leaf: Node[Waiting], feature: int, threshold: float) -> None:
        leaf.feature, leaf.threshold = feature, threshold
        leaf.below = self.leaves[leaf.place] = Node(leaf.depth + 1, leaf.place)
        leaf.above = Node(leaf.depth + 1, len(self.leaves))
        self.leaves.append(leaf.above)
        for waiting in leaf.waiting:
            side = leaf.below if waiting.features[feature] <= threshold else leaf.above
            side.waiting.append(waiting)
        for features, reward in zip(leaf.followed, leaf.rewards, strict=True):
            side = leaf.below if features[feature] <= threshold else leaf.above
            side.learn(features, reward)
        leaf.waiting, leaf.followed, leaf.rewards = [], [], []


def best_split(features: Rows, rewards: npt.NDArray[np.float64]) -> tuple[int, float] | None:
    """The feature and threshold that lower the variance of ``rewards`` most, the first of equals; None if none lowers it.

    The variance within each side is weighted by its number of rows (CART, Breiman and others 1984). ``features`` has a row
    for each reward.
    """
    order = features.argsort(axis=0, kind="stable")
    values = np.take_along_axis(features, order, axis=0)
    sums = rewards[order].cumsum(axis=0)
    below = np.arange(1.0, len(rewards))[:, None]  # number of rows on the lower side
    total, count = sums[-1], len(rewards)
    # The mean of squares is constant: the variance falls by the excess of the sides' squared means over that of all rows.
    within = sums[:-1] ** 2 / below + (total - sums[:-1]) ** 2 / (count - below)
    falls = np.where(values[:-1] < values[1:], within - total**2 / count, 0.0) / count
    best = int(falls.T.argmax())
    feature, row = divmod(best, count - 1)
    return (feature, float(values[row, feature])) if falls[row, feature] > 1e-12 else None
