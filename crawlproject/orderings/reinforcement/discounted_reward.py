"""Future discounted reward along known paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

STILL = 1e-3  # a smaller change of value is not propagated


@dataclass(slots=True)
class _Step:
    parent: str | None
    reward: float
    next: float = 0.0  # the best value of a step after this one


class DiscountedRewards:
    """Steps of a crawl and their values: ``Q = reward + discount * best Q of the steps that followed``, as known so far.

    A step is the fetch of a URL, which led on to the URLs that were found on it. Values grow as better steps follow.
    Only the latest ``limit`` steps are kept.
    """

    def __init__(self, discount: float, limit: int) -> None:
        self._discount = discount
        self._limit = limit
        self._steps: dict[str, _Step] = {}

    def add(self, url: str, parent: str | None, reward: float) -> str | None:
        """Add a step at the end of its path; return the step that was dropped for it, if any."""
        forgotten = None
        if url not in self._steps and len(self._steps) >= self._limit:
            forgotten = next(iter(self._steps))
            del self._steps[forgotten]
        self._steps[url] = _Step(parent, reward)
        value = reward
        while parent is not None and (step := self._steps.get(parent)) is not None and value > step.next + STILL:
            step.next = value
            value = step.reward + self._discount * step.next
            parent = step.parent
        return forgotten

    def items(self) -> Iterator[tuple[str, float]]:
        """Each step and its value, the oldest first."""
        return ((url, step.reward + self._discount * step.next) for url, step in self._steps.items())


def graph_values(
    rewards: npt.NDArray[np.float64],
    sources: npt.NDArray[np.int32],
    targets: npt.NDArray[np.int32],
    discount: float,
    steps: int,
) -> npt.NDArray[np.float64]:
    """The value of going to each node when paths of up to ``steps`` more links are looked at.

    ``rewards`` has one entry a node; links go from ``sources[i]`` to ``targets[i]``. It is value iteration: a path may come
    back to a node, and is paid there again.
    """
    values = rewards.copy()
    for _ in range(steps):
        best = np.zeros(len(rewards))
        np.maximum.at(best, sources, values[targets])
        values = rewards + discount * best
    return values
