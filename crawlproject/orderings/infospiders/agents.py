"""The agents of InfoSpiders: their keywords, nets, energy, links and offspring (paper 000 section 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log

import numpy as np

from crawlproject.records import Page

MAX_KEYWORDS = 48
RECOUNT = 64  # removals after which a total is summed again


class LinkNet:
    """A neural net with one input unit per keyword and one output unit, the logistic function of their weighted sum.

    It predicts the similarity of the page behind a link. Untaught, it rates a link without keywords near 0 and one whose
    anchor has all keywords high.
    """

    def __init__(self, weights: np.ndarray, bias: float) -> None:
        self.weights = weights
        self.bias = bias

    @classmethod
    def untaught(cls, inputs: int) -> LinkNet:
        return cls(np.full(inputs, 4.0 / inputs), -3.0)

    def estimate(self, inputs: np.ndarray) -> np.ndarray:
        """The output for each row of ``inputs``, between 0 and 1. Inputs beyond those of the net are ignored."""
        known = inputs[..., : len(self.weights)]
        return np.exp(-np.logaddexp(0.0, -(self.bias + known @ self.weights[: known.shape[-1]])))  # no overflow

    def learn(self, inputs: np.ndarray | None, target: float, rate: float) -> None:
        """One step of back-propagation, along the gradient of the cross entropy."""
        inputs = np.zeros(0) if inputs is None else inputs[: len(self.weights)]
        step = rate * (target - float(self.estimate(inputs)))
        self.weights[: len(inputs)] += step * inputs
        self.bias += step

    def offspring(self) -> LinkNet:
        """A copy with one more input, of weight 0."""
        return LinkNet(np.append(self.weights, 0.0), self.bias)


@dataclass(slots=True, eq=False)
class Agent:
    """One searcher: a keyword vector, a net, an energy, and a frontier of its own.

    ``keywords`` maps terms to weights; their order is that of the net's inputs. ``links`` maps each waiting URL to its
    weight in the draw of eq. 7, ``exp(beta * sigma)``, and ``total`` is their sum. ``parent`` is the number of
    an agent, -1 for one born of a seed; ``keyword`` is the one that the parent has not, ``born`` the number of pages observed
    by then. ``offset`` is the ``-ln(total)`` used in the scores given so far. ``time`` is that of its last draw; one draw takes
    1 on average.
    """

    number: int
    keywords: dict[str, float]
    net: LinkNet
    energy: float
    parent: int = -1
    keyword: str = ""
    born: int = 0
    links: dict[str, float] = field(default_factory=dict)
    total: float = 0.0
    offset: float = 0.0
    time: float = 0.0
    removals: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.columns = {term: column for column, term in enumerate(self.keywords)}

    def add(self, url: str, strength: float) -> None:
        """A link enters the frontier; ``strength`` is ``beta * sigma``, or less by a constant."""
        self.remove(url)
        weight = exp(strength)
        self.links[url] = weight
        self.total += weight

    def remove(self, url: str) -> None:
        """A link leaves the frontier, if it is there."""
        weight = self.links.pop(url, None)
        if weight is None:
            return
        self.removals += 1
        if 2 * weight > self.total or self.removals % RECOUNT == 0:
            self.total = sum(self.links.values())  # a difference of almost equal numbers would be inexact
        else:
            self.total -= weight

    def drift(self) -> float:
        """The error of ``offset``."""
        return -log(self.total) - self.offset if self.total > 0 else 0.0

    def reproduce(self, number: int, page: Page) -> Agent:
        """An offspring with half of the energy, half of the frontier, and one keyword more.

        The new keyword is the most frequent term of ``page`` that is not a keyword (ties in alphabetical order). The
        offspring gets every second link, in the order in which they were added.
        """
        keywords, net = dict(self.keywords), LinkNet(self.net.weights.copy(), self.net.bias)
        fresh = [(-count, term) for term, count in page.counts.items() if term not in keywords]
        added = ""
        if fresh and len(keywords) < MAX_KEYWORDS:
            added = min(fresh)[1]
            keywords[added] = 1.0
            net = self.net.offspring()
        self.energy /= 2
        child = Agent(number, keywords, net, self.energy, self.number, added, offset=self.offset, time=self.time)
        for url in list(self.links)[1::2]:
            child.links[url] = self.links.pop(url)
        self.total, child.total = sum(self.links.values()), sum(child.links.values())
        return child


@dataclass(slots=True)
class Prospect:
    """A waiting link: its agent, the inputs of the net, the two estimates of its worth, and its clock.

    The clock rings after an exponential time whose rate is the link's share of its agent's frontier. At the agent's time
    ``since`` it had ``left`` to go, in units of the mean; ``log_rate`` is the logarithm of the rate since then.
    """

    agent: Agent
    inputs: np.ndarray | None
    net: float
    page: float
    left: float
    since: float
    log_rate: float = 0.0

    def sigma(self, alpha: float) -> float:
        """The estimated worth of the link, by page and net."""
        return alpha * self.page + (1 - alpha) * self.net

    def strength(self, alpha: float, greediness: float) -> float:
        """``beta * sigma``, shifted equally for all links so that it is at most 0: no exponential overflows."""
        return greediness * (self.sigma(alpha) - 1)

    def change_rate(self, log_rate: float) -> None:
        """The rate is another one from the agent's present time on, if the clock has not rung by then."""
        passed = max(0.0, self.agent.time - self.since)
        left = self.left - passed * exp(self.log_rate)
        if left > 0:
            self.left = left
            self.since += passed
            self.log_rate = log_rate

    def log_time(self) -> float:
        """The logarithm of the time at which the clock rings."""
        log_left = log(self.left) - self.log_rate
        return float(np.logaddexp(log(self.since), log_left)) if self.since > 0 else log_left
