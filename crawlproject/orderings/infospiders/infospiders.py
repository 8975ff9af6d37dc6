"""InfoSpiders (paper 000 section 3.5): a population of agents that learn, reproduce and die in the course of a crawl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import log

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.infospiders.agents import Agent, LinkNet, Prospect
from crawlproject.orderings.infospiders.proximity import keyword_proximity
from crawlproject.orderings.learning.seeded_random import SeededDraw
from crawlproject.orderings.learning.waiting_urls import WaitingUrls
from crawlproject.pages.text.vectors import cosine
from crawlproject.records import CrawlUrl, Link, Page

REVISIONS = 256  # waiting URLs that get a new score after a page, at most
TOLERANCE = 0.2  # how far the sum of an agent's frontier, as a logarithm, may be from what its scores have
SEEDS_FIRST = 40.0  # above any link: the largest draw of ``gumbel`` is 36.8


class InfoSpiders(BaseOrdering):
    """Agents in turn draw a link of their own frontier with probability proportional to ``exp(beta * sigma)`` (eq. 7).

    ``sigma`` is ``alpha * page + (1 - alpha) * net``: ``page`` is the cosine of the agent's keywords and the page that
    holds the link, ``net`` the output of the agent's net for the keywords around the link. ``beta`` of the paper is
    called ``greediness``. After each page the net is taught, with ``rate``, what the page was worth; a page of average
    worth keeps an agent's energy as it is, a better one adds to it; at ``reproduction`` the agent has an offspring, at
    0 it dies and its parent takes its links. There are at most ``population`` agents, one a seed at first, born with
    half the energy it takes to reproduce.

    As a priority, such a draw is ``beta * sigma - ln(total) + g``, where ``total`` sums ``exp(beta * sigma)`` over the
    agent's frontier and ``g`` is a Gumbel variate, fixed for each URL: the highest of them is the draw of an agent with
    equal chances, and of a link of its frontier by eq. 7. An offspring takes half of the total, so both halves come up
    twice as often as before. Totals move with every page; scores follow when they are ``TOLERANCE`` behind.

    The paper names no values: all defaults are ours.
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
        self.reproduction = reproduction
        self.population = population
        self._draw = SeededDraw(context.random)
        self._agents: dict[int, Agent] = {}
        self._born = 0
        self._waiting: WaitingUrls[Prospect] = WaitingUrls()
        self._unsettled: dict[Agent, Iterator[str]] = {}  # agents whose links need new scores, and which still do
        self._pages = 0
        self._worth = 0.0
        self._page: Page | None = None  # the latest page, and whose links are on it
        self._owner: Agent | None = None

    @property
    def agents(self) -> list[Agent]:
        """The living, the oldest first."""
        return list(self._agents.values())

    # ------------------------------------------------------------ the contract

    def score(self, page: Page, link: Link) -> float:
        if page is not self._page:
            self._find_links(page, self._agent_of(page))
        prospect = self._waiting.get(link.url)
        if prospect is None:  # fetched before: nobody will
            return min(0.0, self.greediness * self.alpha * page.relevance) + self._gumbel(link.url)
        return self._score(link.url, prospect)

    def seed_score(self, url: str) -> float:
        return SEEDS_FIRST

    def observe(self, page: Page) -> None:
        agent = self._agent_of(page)
        prospect = self._end(page.url)
        worth = cosine(agent.keywords, page.counts)
        self._pages += 1
        self._worth += worth
        if prospect is not None:
            agent.net.learn(prospect.inputs, worth, self.rate)
        self._feed(agent, worth * self._pages / self._worth if self._worth else 1.0)
        self._find_links(page, agent)
        if agent.energy >= self.reproduction and len(self._agents) < self.population:
            self._reproduce(agent, page)
        elif agent.energy <= 0:
            self._die(agent)

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """The number of the agent that the links belong to."""
        agent = self._owner if page is self._page else None
        return (float((agent or self._agent_of(page)).number),)

    def revise(self) -> Iterable[tuple[str, float]]:
        for _ in range(REVISIONS):
            found = self._next_unsettled()
            if found is None:
                return
            yield found
        first = next(iter(self._unsettled))
        self._unsettled[first] = self._unsettled.pop(first)  # next time it is another agent's turn

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
        heir = int(url.inherited[0]) if url.inherited else -1
        if heir in self._agents:
            return heir
        if self._agents and (url.parent is not None or len(self._agents) >= self.population):
            return next(iter(self._agents))
        return self._born  # the one that its page will bear

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        prospect = self._waiting.get(url.url)
        if prospect is None:
            return {}
        parts = {
            "net": self.greediness * (1 - self.alpha) * prospect.net,
            "page": self.greediness * self.alpha * prospect.page,
            "chance": self._gumbel(url.url),
        }
        parts["turn"] = url.score - sum(parts.values())
        return dict(sorted(parts.items(), key=lambda part: -part[1]))

    # ------------------------------------------------------------ links

    def _find_links(self, page: Page, agent: Agent) -> None:
        """The links of a page join the frontier of the agent, unless another one thinks more of them."""
        self._page, self._owner = page, agent
        inputs = keyword_proximity(page.terms, [link.anchor_span for link in page.links], agent.columns)
        estimates = agent.net.estimate(inputs)
        worth = cosine(agent.keywords, page.counts)
        for row, link in enumerate(page.links):
            if self._waiting.has_ended(link.url):
                continue
            prospect = Prospect(agent, inputs[row].copy() if inputs[row].any() else None, float(estimates[row]), worth)
            known = self._waiting.get(link.url)
            if known is None or self._sigma(prospect) > self._sigma(known):
                if known is not None:
                    known.agent.remove(link.url)
                self._wait(link.url, prospect)
        self._settle(agent)

    def _settle(self, agent: Agent) -> None:
        """Let the scores of an agent's links follow its total, when they are too far behind."""
        if abs(agent.drift()) <= TOLERANCE:
            return
        agent.offset += agent.drift()
        if agent not in self._unsettled:
            self._unsettled[agent] = iter(list(agent.links))

    def _next_unsettled(self) -> tuple[str, float] | None:
        """A waiting link whose score may be behind, with its new score."""
        while self._unsettled:
            agent, links = next(iter(self._unsettled.items()))
            for url in links:
                prospect = self._waiting.get(url)
                if prospect is not None and prospect.agent is agent:
                    return url, self._score(url, prospect)
            del self._unsettled[agent]
        return None

    def _sigma(self, prospect: Prospect) -> float:
        return self.alpha * prospect.page + (1 - self.alpha) * prospect.net

    def _strength(self, prospect: Prospect) -> float:
        """``beta * sigma``, moved by the same for all links so that it is 0 at most: no exponential overflows."""
        return self.greediness * (self._sigma(prospect) - 1)

    def _score(self, url: str, prospect: Prospect) -> float:
        # Above 0 only while the total is behind: the total has this link in it.
        return min(0.0, self._strength(prospect) + prospect.agent.offset) + self._gumbel(url)

    def _gumbel(self, url: str) -> float:
        """A standard Gumbel variate: -3.6 to 36.8."""
        uniform = (int(self._draw(url) * 2**52) + 0.5) / 2**52
        return -log(-log(uniform))

    def _wait(self, url: str, prospect: Prospect) -> None:
        forgotten = self._waiting.put(url, prospect)
        if forgotten:
            forgotten[1].agent.remove(forgotten[0])
        prospect.agent.add(url, self._strength(prospect))

    def _end(self, url: str) -> Prospect | None:
        prospect = self._waiting.end(url)
        if prospect is not None:
            prospect.agent.remove(url)
        return prospect

    # ------------------------------------------------------------ life and death

    def _agent_of(self, page: Page) -> Agent:
        """Who fetched the page, or fetches for the living when that one is dead; a seed gets an agent of its own."""
        prospect = self._waiting.get(page.url)
        if prospect is not None:
            return prospect.agent
        agent = self._agents.get(int(page.inherited[0])) if page.inherited else None
        if agent is not None:
            return agent
        if self._agents and (page.parent is not None or len(self._agents) >= self.population):
            return next(iter(self._agents.values()))
        return self._bear(dict(self.context.judge.query))

    def _bear(self, keywords: dict[str, float]) -> Agent:
        return self._live(Agent(self._born, keywords, LinkNet.untaught(len(keywords)), self.reproduction / 2))

    def _live(self, agent: Agent) -> Agent:
        self._agents[agent.number] = agent
        self._born += 1
        return agent

    def _feed(self, agent: Agent, worth: float) -> None:
        """A page of this worth, 1 being the mean of all pages; the fetch costs 1."""
        agent.energy = min(agent.energy + worth - 1, self.reproduction)

    def _reproduce(self, agent: Agent, page: Page) -> None:
        child = self._live(agent.reproduce(self._born, page))
        for url in child.links:
            prospect = self._waiting.get(url)
            if prospect is not None:
                prospect.agent = child
        self._settle(agent)
        self._settle(child)

    def _die(self, agent: Agent) -> None:
        """The last agent lives on with the energy of a newborn."""
        if len(self._agents) == 1:
            agent.energy = self.reproduction / 2
            return
        del self._agents[agent.number]
        heir = self._agents.get(agent.parent) or next(iter(self._agents.values()))
        if self._owner is agent:
            self._owner = heir
        for url in list(agent.links):
            prospect = self._waiting.get(url)
            agent.remove(url)
            if prospect is not None:
                prospect.agent = heir
                heir.add(url, self._strength(prospect))
        heir.offset += heir.drift()
        self._unsettled[heir] = iter(list(heir.links))
