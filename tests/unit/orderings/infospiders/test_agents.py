"""The agents of InfoSpiders on numbers worked out by hand (paper 000 section 3.5)."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from support.pages import a_page_of

from crawlproject.orderings.infospiders_agents import Agent, LinkNet


class TestNet:
    def test_one_step_of_back_propagation(self) -> None:
        """Inputs 1 and 0.5 with weights 2: the sum is -3 + 2 + 1 = 0, the output 1/2; the target is 0.9."""
        net = LinkNet.untaught(2)
        inputs = np.array([1.0, 0.5])
        assert net.estimate(inputs) == pytest.approx(0.5)
        net.learn(inputs, 0.9, rate=0.1)
        assert net.weights == pytest.approx(np.array([2.04, 2.02]))
        assert net.bias == pytest.approx(-2.96)

    def test_it_learns_which_keyword_helps(self) -> None:
        net = LinkNet.untaught(2)
        for _ in range(2000):
            net.learn(np.array([1.0, 0.0]), 0.8, rate=0.1)
            net.learn(np.array([0.0, 1.0]), 0.1, rate=0.1)
        assert net.estimate(np.eye(2)) == pytest.approx(np.array([0.8, 0.1]), abs=0.02)

    def test_an_offspring_has_one_more_input_that_says_nothing_yet(self) -> None:
        net = LinkNet.untaught(2)
        child = net.offspring()
        assert child.estimate(np.array([1.0, 0.5, 9.0])) == net.estimate(np.array([1.0, 0.5]))
        assert child.estimate(np.array([1.0, 0.5])) == net.estimate(np.array([1.0, 0.5]))  # seen before its birth


class TestAgent:
    def test_reproduction_halves_energy_and_frontier_and_adds_the_most_frequent_term(self) -> None:
        agent = Agent(0, {"coral": 1.0}, LinkNet.untaught(1), energy=8.0)
        for number in range(4):
            agent.add(f"http://a.example/{number}", log(number + 1))
        page = a_page_of(text="coral coral coral polyp polyp algae")
        child = agent.reproduce(1, page)
        assert child.keywords == {"coral": 1.0, "polyp": 1.0}
        assert agent.keywords == {"coral": 1.0}
        assert (agent.energy, child.energy) == (4.0, 4.0)
        assert list(agent.links) == ["http://a.example/0", "http://a.example/2"]
        assert (agent.total, child.total) == (pytest.approx(1 + 3), pytest.approx(2 + 4))

    def test_the_total_is_right_after_much_better_links_are_gone(self) -> None:
        """exp(-100) is lost in a sum with 1; it must be there when the 1 is gone."""
        agent = Agent(0, {"coral": 1.0}, LinkNet.untaught(1), energy=8.0)
        agent.add("http://a.example/best", 0.0)
        agent.add("http://a.example/poor", -100.0)
        agent.remove("http://a.example/best")
        agent.remove("http://a.example/unknown")
        assert agent.total == pytest.approx(exp(-100))
        assert agent.drift() == pytest.approx(100)
