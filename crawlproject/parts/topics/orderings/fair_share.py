"""Fair shares: how much each topic of a crawl counts now, so that none starves.

A fetch serves every topic to which it was expected to be worth something, each by its part of that worth. A topic is guaranteed
``fairness`` times its quota of the fetches; quotas are in proportion to the weights that people gave. A topic that got less is
owed the difference, and the more it is owed, the more it counts. The rest of the fetches goes where the worth is.

Attention counts, not success: a topic of which the web has nothing gets its share of the attempts, and no more.
This is deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) for fetches that serve several queues at a time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

FAIRNESS = 0.5  # share of its quota that a topic is guaranteed
PATIENCE = 16.0  # owed fetches that make a topic count e times as much
MOST_OWED = 256.0  # fetches: a topic that had nothing to fetch for long does not take over the crawl afterwards
LEAST_VALUE = 0.01  # expected worth that a fetch counts for at least, so that what topics lack all along is no debt


class FairShare:
    """The weights of topics by name, in the order in which they joined.

    ``fairness`` 0: the given weights stay; 1: fetches are shared out by weight, whatever they bring.
    """

    def __init__(self, fairness: float = FAIRNESS) -> None:
        self.fairness = fairness
        self.names: list[str] = []
        self.served = np.zeros(0)  # fetches for each topic so far, as sums of parts
        self.owed = np.zeros(0)  # fetches
        self._base = np.zeros(0)  # the given weights; 0 when a topic has enough
        self._weights = np.zeros(0)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def weights(self) -> Vector:
        """The factors by which the values of topics are multiplied; their sum is the number of topics that still want pages."""
        return self._weights

    def join(self, name: str, weight: float = 1.0) -> None:
        """Add a topic, which is owed nothing. Raises ``ValueError`` for a weight of 0 or less, and for a known name."""
        if not weight > 0 or name in self.names:
            raise ValueError(f"topic {name!r}: expected a new name and a weight above 0, not {weight!r}")
        self.names.append(name)
        self.served, self.owed, self._base = (
            np.append(values, value) for values, value in ((self.served, 0.0), (self.owed, 0.0), (self._base, weight))
        )
        self._weigh()

    def leave(self, name: str) -> None:
        """Remove a topic. Raises ``ValueError`` for an unknown name."""
        index = self.names.index(name)
        del self.names[index]
        self.served, self.owed, self._base = (
            np.delete(values, index) for values in (self.served, self.owed, self._base)
        )
        self._weigh()

    def has_enough(self, name: str) -> None:
        """Let a topic count for nothing from now on, since it wants no more pages. Raises ``ValueError`` for an unknown name."""
        index = self.names.index(name)
        self._base[index] = self.owed[index] = 0.0
        self._weigh()

    def values(self, of_topics: Vector) -> Vector:
        """What URLs are worth to all topics together: ``of_topics`` is (topics, URLs)."""
        return np.asarray(self._weights @ of_topics, dtype=np.float64)

    def fetched(self, expected: Vector) -> None:
        """Note that a URL was fetched of which each topic expected this worth, (topics,)."""
        parts = self._weights * np.maximum(expected, LEAST_VALUE)
        total = parts.sum()
        if not total > 0:  # no topic wants anything
            return
        parts /= total
        self.served += parts
        self.owed = np.clip(self.owed + self.fairness * self._base / self._base.sum() - parts, 0.0, MOST_OWED)
        self._weigh()

    def _weigh(self) -> None:
        weights = self._base * np.exp(self.owed / PATIENCE)
        total = weights.sum()
        self._weights = weights * (np.count_nonzero(self._base) / total) if total > 0 else weights
