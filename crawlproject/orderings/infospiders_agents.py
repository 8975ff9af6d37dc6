"""The population of InfoSpiders (paper 000 section 3.5): agents with keywords, nets, energy, links and offspring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log

import numpy as np

from crawlproject.orderings.base import AgentLife
from crawlproject.records import Page

MAX_KEYWORDS = 48
RECOUNT = 64  # removals after which a total is summed anew


class Population:
    """At most ``limit`` living agents. An agent reproduces at the energy ``reproduction`` and is born with half of it."""

    def __init__(self, limit: int, reproduction: float) -> None:
        self._limit = limit
        self._reproduction = reproduction
        self._living: dict[int, Agent] = {}
        self.born = 0  # the number of the next agent
        self._dead: dict[int, AgentLife] = {}  # in the order of their deaths
        self._pages = 0

    @property
    def living(self) -> list[Agent]:
        """The living agents, oldest first."""
        return list(self._living.values())

    def owner(self, number: int, *, seed: bool) -> Agent | None:
        """The living agent with this number, or the oldest agent if it is dead; None for a seed that needs a new agent."""
        agent = self._living.get(number)
        if agent is None and self._living and (not seed or len(self._living) >= self._limit):
            agent = next(iter(self._living.values()))
        return agent

    def bear(self, keywords: Mapping[str, float]) -> Agent:
        """Add an agent without a parent; its time begins at that of the agent furthest behind, so it gets no extra turns."""
        agent = Agent(self.born, dict(keywords), LinkNet.untaught(len(keywords)), self._reproduction / 2)
        agent.time = min((other.time for other in self._living.values()), default=0.0)
        return self._add(agent)

    def feed(self, agent: Agent, worth: float) -> None:
        """Add the worth of a page to the energy, relative to the mean of all pages, and subtract 1 for the fetch."""
        self._pages += 1
        agent.energy = min(agent.energy + worth - 1, self._reproduction)

    def may_reproduce(self, agent: Agent) -> bool:
        return agent.energy >= self._reproduction and len(self._living) < self._limit

    def reproduce(self, agent: Agent, page: Page) -> Agent:
        """Add the offspring of an agent, with half of its energy and frontier."""
        return self._add(agent.reproduce(self.born, page))

    def bury(self, agent: Agent) -> Agent | None:
        """Remove an agent and return its heir. The last agent stays, with the energy of a newborn; then return None."""
        if len(self._living) == 1:
            agent.energy = self._reproduction / 2
            return None
        self._dead[agent.number] = self._life(agent, died=self._pages)
        del self._living[agent.number]
        return self._living.get(agent.parent) or next(iter(self._living.values()))

    def _add(self, agent: Agent) -> Agent:
        self._living[agent.number] = agent
        agent.born = self._pages
        self.born += 1
        return agent

    def family(self, most: int) -> list[AgentLife]:
        """See ``BaseOrdering.family``."""
        shown = [self._life(agent) for agent in self._living.values()][:most]
        dead: dict[int, AgentLife] = {}
        for life in shown:
            while len(shown) + len(dead) < most and (found := self._dead.get(life.parent)) and life.parent not in dead:
                dead[life.parent] = life = found
        for number in reversed(self._dead):
            if len(shown) + len(dead) >= most:
                break
            dead.setdefault(number, self._dead[number])
        return [*shown, *(dead[number] for number in sorted(dead))]

    def _life(self, agent: Agent, died: int | None = None) -> AgentLife:
        energy = min(1.0, max(0.0, agent.energy / self._reproduction))
        waiting = len(agent.links) if died is None else 0  # the heir has its links
        return AgentLife(agent.number, agent.parent, agent.born, died, energy, waiting, agent.keyword)


class LinkNet:
    """A neural net with one input unit per keyword and one output unit, the logistic function of their weighted sum.

    It predicts the similarity of the page behind a link. Before training, it rates a link without keywords near 0, and a
    link whose anchor has all keywords high.
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
        """Take one step of back-propagation, along the gradient of the cross entropy."""
        inputs = np.zeros(0) if inputs is None else inputs[: len(self.weights)]
        step = rate * (target - float(self.estimate(inputs)))
        self.weights[: len(inputs)] += step * inputs
        self.bias += step

    def offspring(self) -> LinkNet:
        """A copy with one more input, of weight 0."""
        return LinkNet(np.append(self.weights, 0.0), self.bias)


@dataclass(slots=True, eq=False)
class Agent:
    """One searcher with its own keywords, net, energy and frontier.

    ``keywords`` maps terms to weights, in the order of the net's inputs. ``links`` maps each waiting URL to its weight in
    the draw of eq. 7, ``exp(beta * sigma)``; ``total`` is the sum of these weights. ``parent`` is the number of the parent,
    -1 for an agent born of a seed; ``keyword`` is the keyword that the parent lacks, or empty; ``born`` is the number of
    pages observed before its birth. ``offset`` is the ``-ln(total)`` used in the scores so far. ``time`` is the time of its
    last draw; a draw takes 1 on average.
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
        """Add a link to the frontier; ``strength`` is ``beta * sigma``, up to a constant that is the same for all links."""
        self.remove(url)
        weight = exp(strength)
        self.links[url] = weight
        self.total += weight

    def remove(self, url: str) -> None:
        """Remove a link from the frontier, if it is there."""
        weight = self.links.pop(url, None)
        if weight is None:
            return
        self.removals += 1
        if 2 * weight > self.total or self.removals % RECOUNT == 0:
            self.total = sum(self.links.values())  # a difference of nearly equal numbers would be inexact
        else:
            self.total -= weight

    def drift(self) -> float:
        """The error of ``offset``."""
        return -log(self.total) - self.offset if self.total > 0 else 0.0

    def reproduce(self, number: int, page: Page) -> Agent:
        """The offspring, with half of the energy, half of the frontier, and one more keyword.

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
    ``since``, the time to the ring was ``left``, in units of its mean; ``log_rate`` is the logarithm of the rate since
    then.
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
        """``beta * sigma``, shifted equally for all links to at most 0, so that no exponential overflows."""
        return greediness * (self.sigma(alpha) - 1)

    def change_rate(self, log_rate: float) -> None:
        """Change the rate from the agent's current time on, unless the clock has rung by then."""
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
