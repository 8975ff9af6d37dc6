"""Double Q-learning of TRES (van Hasselt, Guez and Silver 2016), with a memory of steps that are replayed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np

from crawlproject.orderings.tres.q_network import Adam, QNetwork, Rows

CAPACITY = 20_000  # steps that are remembered; the oldest is dropped
BATCH = 60  # steps that are replayed at a time
TRAIN_EVERY = 3  # steps
FOLLOW_EVERY = 500  # steps from one copy of the network to the next


class Step(NamedTuple):
    """A link that was followed: its features, what the page behind it was worth, and the features of that page's links."""

    features: Rows
    reward: float
    following: Rows


class DoubleQLearner:
    """Learns ``Q(link) = reward + discount * Q'(best link of the page)``, the best by Q.

    Q' is the copy of Q made at the last ``follow``. ``random`` is asked for each batch.
    """

    def __init__(self, random: Random, inputs: int, discount: float) -> None:
        self.discount = discount
        self.online = QNetwork(random, inputs)
        self.target = QNetwork(random, inputs)
        self.follow()
        self._adam = Adam(self.online.parameters)
        self._steps: list[Step] = []
        self._next = 0  # place of the next step to be remembered

    def remember(self, step: Step) -> None:
        """A step whose page has links."""
        if len(self._steps) < CAPACITY:
            self._steps.append(step)
        else:
            self._steps[self._next] = step
        self._next = (self._next + 1) % CAPACITY

    def follow(self) -> None:
        self.target.become(self.online)

    def train(self, random: Random) -> None:
        """Replay a batch of the steps remembered."""
        if self._steps:
            batch = random.sample(self._steps, min(BATCH, len(self._steps)))
            features = np.array([step.features for step in batch])
            self._adam.step(self.online.parameters, self.online.gradients(features, self.wanted(batch)))

    def wanted(self, batch: Sequence[Step]) -> Rows:
        """The value that each step should have."""
        starts = np.cumsum([0, *(len(step.following) for step in batch)])
        values = self.online(np.concatenate([step.following for step in batch]))
        best = [
            step.following[values[start:end].argmax()]
            for step, (start, end) in zip(batch, pairwise(starts), strict=True)
        ]
        rewards = np.array([step.reward for step in batch], np.float32)
        return rewards + self.discount * self.target(np.array(best))
