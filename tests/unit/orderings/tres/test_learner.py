"""The network of TRES and double Q-learning, on numbers worked out by hand or by differences."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from crawlproject.orderings.tres.learner import DoubleQLearner, Transition
from crawlproject.orderings.tres.q_network import Adam, QNetwork, Rows


def linear(network: QNetwork, first: float, second: float) -> None:
    """Make it ``first * x + second * y`` for x and y that are not negative."""
    network.parameters = [np.zeros_like(parameter) for parameter in network.parameters]
    for weights in network.parameters[:4:2]:
        weights[0, 0] = weights[1, 1] = 1
    network.parameters[4][0, 0], network.parameters[4][1, 0] = first, second


def rows(*found: tuple[float, float]) -> Rows:
    return np.array(found, np.float32)


def test_the_layers_are_those_of_the_source() -> None:
    shapes = [parameter.shape for parameter in QNetwork(Random(1), 9).parameters]
    assert shapes == [(9, 30), (30,), (30, 15), (15,), (15, 1), (1,)]


def test_below_zero_a_tenth_is_left() -> None:
    """-2 becomes -0.2 behind the first layer and -0.02 behind the second; the last one is linear."""
    network = QNetwork(Random(1), 2)
    linear(network, 3.0, 0.0)
    assert network(rows((-2.0, 0.0), (2.0, 0.0))) == pytest.approx([-0.06, 6.0])


def test_gradients_agree_with_differences() -> None:
    random = np.random.default_rng(5)
    network = QNetwork(Random(5), 3)
    network.parameters = [parameter.astype(float) + 0.1 for parameter in network.parameters]
    inputs, wanted = random.normal(size=(7, 3)), random.normal(size=7)
    found = network.gradients(inputs, wanted)
    for parameter, gradient in zip(network.parameters, found, strict=True):
        for place in list(np.ndindex(parameter.shape))[:: max(1, parameter.size // 9)]:
            errors = []
            for step in (1e-6, -1e-6):
                parameter[place] += step
                errors.append(float(((network(inputs) - wanted) ** 2).mean()))
                parameter[place] -= step
            assert gradient[place] == pytest.approx((errors[0] - errors[1]) / 2e-6, rel=1e-4, abs=1e-7)


def test_the_first_two_steps_of_adam() -> None:
    """The first is the rate, whatever the gradient, 0.001. Of 5, 1 is left; then m = 0.09 + 0.05 and v = 0.000999 + 0.00025."""
    parameter = np.array([1.0])
    adam = Adam([parameter])
    adam.step([parameter], [np.array([5.0])])
    assert parameter[0] == pytest.approx(0.999, abs=1e-6)
    adam.step([parameter], [np.array([0.5])])
    mean, square = (0.09 + 0.05) / (1 - 0.9**2), (0.000999 + 0.00025) / (1 - 0.999**2)
    assert parameter[0] == pytest.approx(0.999 - 0.001 * mean / square**0.5, abs=1e-6)


def test_the_copy_values_the_link_that_the_network_chooses() -> None:
    """By the network the second link is best, 0.5 to 0.2; by the copy it is worth 2 * 0.5 + 3 * 0.1, and the first 3.1."""
    learner = DoubleQLearner(Random(1), 2, discount=0.9)
    linear(learner.online, 1.0, 0.0)
    linear(learner.target, 2.0, 3.0)
    step = Transition(rows((0.0, 0.0))[0], 1.0, rows((0.2, 0.9), (0.5, 0.1)))
    alone = Transition(rows((0.0, 0.0))[0], 0.0, rows((0.1, 0.1)))
    assert learner.wanted([step, alone]) == pytest.approx([1 + 0.9 * 1.3, 0.9 * 0.5])


def trained(learner: DoubleQLearner, times: int) -> DoubleQLearner:
    random = Random(2)
    for _ in range(times):
        learner.train(random)
    return learner


def test_what_was_rewarded_is_worth_more_after_training() -> None:
    learner = DoubleQLearner(Random(1), 2, discount=0.0)
    good, bad = rows((1.0, 0.0))[0], rows((0.0, 1.0))[0]
    for _ in range(10):
        learner.remember(Transition(good, 1.0, rows((0.0, 0.0))))
        learner.remember(Transition(bad, 0.0, rows((0.0, 0.0))))
    assert trained(learner, 800).online(np.array([good, bad])) == pytest.approx([1.0, 0.0], abs=0.05)


def test_the_oldest_steps_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five rewards of the same link the last three are 1; with the first two it would be worth 0.6."""
    monkeypatch.setattr("crawlproject.orderings.tres.learner.CAPACITY", 3)
    learner = DoubleQLearner(Random(1), 2, discount=0.0)
    same = rows((1.0, 0.0))
    for reward in (0, 0, 1, 1, 1):
        learner.remember(Transition(same[0], reward, same))
    assert trained(learner, 800).online(same) == pytest.approx([1.0], abs=0.05)
