"""InfoSpiders (paper 000 section 3.5): a population of agents that learn, reproduce and die during the crawl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from math import exp, log

import numpy as np

from crawlproject.orderings.base import AgentLife, BaseOrdering, OrderingContext
from crawlproject.orderings.infospiders_agents import Agent, Population, Prospect
from crawlproject.orderings.learning import ExponentialDraw, SeededDraw, WaitingUrls
from crawlproject.pages.text.vectors import cosine
from crawlproject.records import CrawlUrl, Link, Page, Span

REVISIONS = 256  # most waiting URLs that get a new score after a page
TOLERANCE = 0.2  # largest error of the logarithm of an agent's total in its scores
SEEDS_FIRST = 40.0  # above any link: no clock rings before 1e-16, and -ln of that is 36.8
UNLIKELY = 4.0  # a draw seldom takes longer (2%): a fetch out of turn, due to politeness, advances the time by no more
REACH = 24  # terms considered on either side of a link


class InfoSpiders(BaseOrdering):
    """Agents in turn draw a link of their own frontier with probability proportional to ``exp(beta * sigma)`` (eq. 7).

    ``sigma`` is ``alpha * page + (1 - alpha) * net``: ``page`` is the cosine of the agent's keywords and the page that
    holds the link, ``net`` the output of the agent's net for the keywords around the link. The parameter ``greediness`` is
    the paper's ``beta``. After each page the net learns the worth of the page, with the learning rate ``rate``. A page of
    average worth leaves the agent's energy unchanged, a better one adds to it. At an energy of ``reproduction`` the agent
    has an offspring; at 0 it dies, and its parent inherits its links. There are at most ``population`` agents; at first
    there is one per seed, born with half the energy needed to reproduce.

    A draw is a race of clocks: the clock of a link rings after an exponential time whose rate is ``exp(beta * sigma)`` over
    the total of its agent's frontier; the score is minus the logarithm of that time. Exponential times have no memory, so
    the clock of an agent that rings next is always a draw by eq. 7 among its links, new and old. The mean time to the next
    ring is 1 for every agent, so agents take turns. Totals change with every page; rates and scores are updated when the
    logarithm of a total is off by ``TOLERANCE``. An offspring takes half of the total, so both halves are drawn twice as
    often as before.

    The paper gives no values: all defaults are this project's.
    """

    learns = True

    def __init__(
        self,
        context: OrderingContext,
        *,
        alpha: float = 0.5,
        greediness: float = 160.0,
        rate: float = 0.1,
        reproduction: float = 8.0,
        population: int = 32,
    ) -> None:
        super().__init__(context)
        self.alpha = alpha
        self.greediness = greediness
        self.rate = rate
        self._draw = ExponentialDraw(SeededDraw(context.random))
        self.population = population
        self.reproduction = reproduction
        self._agents = Population(population, reproduction)
        self._waiting: WaitingUrls[Prospect] = WaitingUrls()
        self._unsettled: dict[Agent, Iterator[str]] = {}  # agents whose links need new scores, and the links left to do
        self._pages = 0
        self._worth = 0.0
        self._page: Page | None = None  # the latest page; the next attribute is the owner of its links
        self._owner: Agent | None = None

    @property
    def agents(self) -> list[Agent]:
        """The living agents, oldest first."""
        return self._agents.living

    # ------------------------------------------------------------ the contract

    def score(self, page: Page, link: Link) -> float:
        if page is not self._page:
            agent = self._agent_of(page)
            self._find_links(page, agent, agent.time)
        prospect = self._waiting.get(link.url)
        if prospect is None:  # fetched before
            return -log(self._draw(link.url))
        return self._score(prospect)

    def seed_score(self, url: str) -> float:
        return SEEDS_FIRST

    def observe(self, page: Page) -> None:
        agent = self._agent_of(page)
        start = self._pass_time(page.url, agent)
        prospect = self._end(page.url)
        worth = cosine(agent.keywords, page.counts)
        self._pages += 1
        self._worth += worth
        if prospect is not None:
            agent.net.learn(prospect.inputs, worth, self.rate)
        self._agents.feed(agent, worth * self._pages / self._worth if self._worth else 1.0)
        self._find_links(page, agent, start)
        if self._agents.may_reproduce(agent):
            self._reproduce(agent, page)
        elif agent.energy <= 0:
            self._die(agent)

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        agent = self._owner if page is self._page else None
        return (float((agent or self._agent_of(page)).number),)

    def revise(self) -> Iterable[tuple[str, float]]:
        for _ in range(REVISIONS):
            found = self._next_unsettled()
            if found is None:
                return
            yield found
        first = next(iter(self._unsettled))
        self._unsettled[first] = self._unsettled.pop(first)  # another agent's turn next time

    def redirected(self, url: str, target: str) -> None:
        prospect = self._end(url)
        if prospect and not self._waiting.has_ended(target) and self._waiting.get(target) is None:
            self._wait(target, prospect)

    def failed(self, url: str) -> None:
        self._end(url)

    def agent(self, url: CrawlUrl) -> int | None:
        prospect = self._waiting.get(url.url)
        if prospect is not None:
            return prospect.agent.number
        owner = self._agents.owner(int(url.inherited[0]) if url.inherited else -1, seed=url.parent is None)
        return self._agents.born if owner is None else owner.number

    def family(self, most: int) -> list[AgentLife]:
        return self._agents.family(most)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        prospect = self._waiting.get(url.url)
        if prospect is None:
            return {}
        parts = {
            "net": self.greediness * (1 - self.alpha) * prospect.net,
            "page": self.greediness * self.alpha * prospect.page,
            "chance": -log(self._draw(url.url)),
        }
        parts["turn"] = url.score - sum(parts.values())
        return dict(sorted(parts.items(), key=lambda part: -part[1]))

    # ------------------------------------------------------------ links

    def _find_links(self, page: Page, agent: Agent, start: float) -> None:
        """Add each link of a page to the frontier of ``agent``, unless an agent already rates it as high.

        Their clocks start at ``start``.
        """
        self._page, self._owner = page, agent
        inputs = keyword_proximity(page.terms, [link.anchor_span for link in page.links], agent.columns)
        estimates = agent.net.estimate(inputs)
        worth = cosine(agent.keywords, page.counts)
        found: list[Prospect] = []
        for row, link in enumerate(page.links):
            if self._waiting.has_ended(link.url):
                continue
            near = inputs[row].copy() if inputs[row].any() else None
            prospect = Prospect(agent, near, float(estimates[row]), worth, self._draw(link.url), start)
            known = self._waiting.get(link.url)
            if known is None or prospect.sigma(self.alpha) > known.sigma(self.alpha):
                if known is not None:
                    known.agent.remove(link.url)
                self._wait(link.url, prospect)
                found.append(prospect)
        self._settle(agent)
        for prospect in found:
            prospect.log_rate = self._log_rate(prospect)

    def _settle(self, agent: Agent) -> None:
        """Queue new scores for the links of an agent if its total has changed too much."""
        if abs(agent.drift()) <= TOLERANCE:
            return
        agent.offset += agent.drift()
        if agent not in self._unsettled:
            self._unsettled[agent] = iter(list(agent.links))

    def _next_unsettled(self) -> tuple[str, float] | None:
        """A waiting link whose score may be out of date, with its new score."""
        while self._unsettled:
            agent, links = next(iter(self._unsettled.items()))
            for url in links:
                prospect = self._waiting.get(url)
                if prospect is not None and prospect.agent is agent:
                    return url, self._score(prospect)
            del self._unsettled[agent]
        return None

    def _pass_time(self, url: str, agent: Agent) -> float:
        """Advance the agent's time to the ring of the clock of ``url``; the time at which the clocks of its links begin."""
        prospect = self._waiting.get(url)
        if prospect is None:
            return agent.time
        latest = agent.time + UNLIKELY
        log_time = prospect.log_time()
        rung = exp(log_time) if log_time < log(latest) else latest
        agent.time = max(agent.time, rung)
        return rung

    def _score(self, prospect: Prospect) -> float:
        prospect.change_rate(self._log_rate(prospect))
        return -prospect.log_time()

    def _log_rate(self, prospect: Prospect) -> float:
        # Above 0 only while the total is out of date, since the total includes this link.
        return min(0.0, prospect.strength(self.alpha, self.greediness) + prospect.agent.offset)

    def _wait(self, url: str, prospect: Prospect) -> None:
        forgotten = self._waiting.put(url, prospect)
        if forgotten:
            forgotten[1].agent.remove(forgotten[0])
        prospect.agent.add(url, prospect.strength(self.alpha, self.greediness))

    def _end(self, url: str) -> Prospect | None:
        prospect = self._waiting.end(url)
        if prospect is not None:
            prospect.agent.remove(url)
        return prospect

    # ------------------------------------------------------------ life and death

    def _agent_of(self, page: Page) -> Agent:
        """The agent that fetched the page, or a living one if that agent is dead; a seed gets a new agent."""
        prospect = self._waiting.get(page.url)
        if prospect is not None:
            return prospect.agent
        agent = self._agents.owner(int(page.inherited[0]) if page.inherited else -1, seed=page.parent is None)
        return agent or self._agents.bear(self.context.judge.query)

    def _reproduce(self, agent: Agent, page: Page) -> None:
        child = self._agents.reproduce(agent, page)
        for url in child.links:
            prospect = self._waiting.get(url)
            if prospect is not None:
                prospect.agent = child
        self._settle(agent)
        self._settle(child)

    def _die(self, agent: Agent) -> None:
        """Give the links of a dead agent to its heir, if there is one."""
        heir = self._agents.bury(agent)
        if heir is None:
            return
        if self._owner is agent:
            self._owner = heir
        for url in list(agent.links):
            prospect = self._waiting.get(url)
            agent.remove(url)
            if prospect is not None:
                prospect.since += heir.time - agent.time  # the time left to the ring stays the same
                prospect.agent = heir
                heir.add(url, prospect.strength(self.alpha, self.greediness))
        heir.offset += heir.drift()
        self._unsettled[heir] = iter(list(heir.links))


def keyword_proximity(terms: Sequence[str], anchors: Sequence[Span], columns: Mapping[str, int]) -> np.ndarray:
    """Distance-weighted frequencies of keywords around links, one row per link and one column per keyword.

    An occurrence inside the anchor counts 1. One outside counts ``1 / (1 + d)``, where ``d`` is its distance from the
    nearer end of the anchor: 1 for the neighbouring term, at most ``REACH``. ``columns`` maps each keyword to its column.

    Only terms within reach of a link are examined, so the cost of a long page depends mainly on its links.
    """
    inputs = np.zeros((len(anchors), len(columns)))
    found = np.full(len(terms) + 2 * REACH, -1)  # the column of each term, with nothing on either side of the text
    found[REACH : REACH + len(terms)] = np.fromiter(map(columns.get, terms, repeat(-1)), np.int64, len(terms))
    if not len(anchors) or found.max(initial=-1) < 0:
        return inputs
    spans = np.asarray(anchors, dtype=np.int64).clip(0, len(terms)) + REACH
    starts, ends = spans.T
    distances = np.arange(1, REACH + 1)
    around = np.hstack([found[starts[:, None] - distances], found[ends[:, None] - 1 + distances]])
    rows, places = np.nonzero(around >= 0)
    weights = np.tile(1 / (1 + distances), 2)[places]
    lengths = np.maximum(ends - starts, 0)
    inside = np.arange(lengths.sum()) + np.repeat(starts - lengths.cumsum() + lengths, lengths)
    anchored = found[inside] >= 0
    rows = np.concatenate([rows, np.repeat(np.arange(len(spans)), lengths)[anchored]])
    cells = rows * len(columns) + np.concatenate([around[around >= 0], found[inside[anchored]]])
    weights = np.concatenate([weights, np.ones(anchored.sum())])
    return np.bincount(cells, weights, inputs.size).reshape(inputs.shape)
