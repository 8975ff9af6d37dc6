"""The double Q-learning of TRES (van Hasselt, Guez and Silver 2016) with experience replay."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np

from crawlproject.orderings.tres.q_network import Adam, QNetwork, Rows

CAPACITY = 20_000  # transitions in the replay memory; the oldest is dropped
BATCH = 60  # transitions replayed per training step
TRAIN_EVERY = 3  # pages per training step
FOLLOW_EVERY = 500  # pages from one copy of the network to the next


class Transition(NamedTuple):
    """A followed link: its features, the reward of the page behind it, and the features of the links of that page."""

    features: Rows
    reward: float
    following: Rows


class DoubleQLearner:
    """Learns ``Q(link) = reward + discount * Q'(best link of the page)``, where Q chooses the best link.

    Q' is the copy of Q made by the last ``follow``. ``random`` gives the initial weights.
    """

    def __init__(self, random: Random, inputs: int, discount: float) -> None:
        self.discount = discount
        self.online = QNetwork(random, inputs)
        self.target = QNetwork(random, inputs)
        self.follow()
        self._adam = Adam(self.online.parameters)
        self._transitions: list[Transition] = []
        self._next = 0  # the place of the next transition

    def remember(self, transition: Transition) -> None:
        """Store a transition; its page must have links."""
        if len(self._transitions) < CAPACITY:
            self._transitions.append(transition)
        else:
            self._transitions[self._next] = transition
        self._next = (self._next + 1) % CAPACITY

    def follow(self) -> None:
        self.target.become(self.online)

    def train(self, random: Random) -> None:
        """Train on a random batch of the stored transitions."""
        if self._transitions:
            batch = random.sample(self._transitions, min(BATCH, len(self._transitions)))
            features = np.array([transition.features for transition in batch])
            self._adam.step(self.online.parameters, self.online.gradients(features, self.wanted(batch)))

    def wanted(self, batch: Sequence[Transition]) -> Rows:
        """The target value of each link of the batch."""
        starts = np.cumsum([0, *(len(transition.following) for transition in batch)])
        values = self.online(np.concatenate([transition.following for transition in batch]))
        best = [
            transition.following[values[start:end].argmax()]
            for transition, (start, end) in zip(batch, pairwise(starts), strict=True)
        ]
        rewards = np.array([transition.reward for transition in batch], np.float32)
        return rewards + self.discount * self.target(np.array(best))
