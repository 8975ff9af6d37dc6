"""The population of InfoSpiders: which agents live, and whose turn a page is (paper 000 section 3.5)."""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.orderings.base import AgentLife
from crawlproject.orderings.infospiders.agents import Agent, LinkNet
from crawlproject.records import Page


class Population:
    """At most ``limit`` living agents, born with half the energy at which an agent reproduces (``reproduction``)."""

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
        """The living agent with this number, or a stand-in for a dead one; None for a seed that needs a new agent."""
        agent = self._living.get(number)
        if agent is None and self._living and (not seed or len(self._living) >= self._limit):
            agent = next(iter(self._living.values()))
        return agent

    def bear(self, keywords: Mapping[str, float]) -> Agent:
        """A new agent without a parent; its turn comes no earlier than that of the others."""
        agent = Agent(self.born, dict(keywords), LinkNet.untaught(len(keywords)), self._reproduction / 2)
        agent.time = min((other.time for other in self._living.values()), default=0.0)
        return self._add(agent)

    def feed(self, agent: Agent, worth: float) -> None:
        """Add the worth of a page, relative to the mean of all pages, and subtract 1 for the fetch."""
        self._pages += 1
        agent.energy = min(agent.energy + worth - 1, self._reproduction)

    def may_reproduce(self, agent: Agent) -> bool:
        return agent.energy >= self._reproduction and len(self._living) < self._limit

    def reproduce(self, agent: Agent, page: Page) -> Agent:
        """The offspring of an agent, with half of its energy and frontier."""
        return self._add(agent.reproduce(self.born, page))

    def bury(self, agent: Agent) -> Agent | None:
        """Remove an agent and return its heir; the last one gets the energy of a newborn instead, and None is returned."""
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
        """As ``BaseOrdering.family``."""
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
        waiting = len(agent.links) if died is None else 0  # the heir has them
        return AgentLife(agent.number, agent.parent, agent.born, died, energy, waiting, agent.keyword)
