"""Double Q-learning of TRES (van Hasselt, Guez and Silver 2016), with a memory of transitions that are replayed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np

from crawlproject.orderings.tres.q_network import Adam, QNetwork, Rows

CAPACITY = 20_000  # transitions that are remembered; the oldest is dropped
BATCH = 60  # transitions that are replayed at a time
TRAIN_EVERY = 3  # transitions
FOLLOW_EVERY = 500  # transitions from one copy of the network to the next


class Transition(NamedTuple):
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
        self._transitions: list[Transition] = []
        self._next = 0  # place of the next one to be remembered

    def remember(self, transition: Transition) -> None:
        """A transition to a page that has links."""
        if len(self._transitions) < CAPACITY:
            self._transitions.append(transition)
        else:
            self._transitions[self._next] = transition
        self._next = (self._next + 1) % CAPACITY

    def follow(self) -> None:
        self.target.become(self.online)

    def train(self, random: Random) -> None:
        """Replay a batch of what is remembered."""
        if self._transitions:
            batch = random.sample(self._transitions, min(BATCH, len(self._transitions)))
            features = np.array([transition.features for transition in batch])
            self._adam.step(self.online.parameters, self.online.gradients(features, self.wanted(batch)))

    def wanted(self, batch: Sequence[Transition]) -> Rows:
        """The value that each link should have."""
        starts = np.cumsum([0, *(len(transition.following) for transition in batch)])
        values = self.online(np.concatenate([transition.following for transition in batch]))
        best = [
            transition.following[values[start:end].argmax()]
            for transition, (start, end) in zip(batch, pairwise(starts), strict=True)
        ]
        rewards = np.array([transition.reward for transition in batch], np.float32)
        return rewards + self.discount * self.target(np.array(best))
