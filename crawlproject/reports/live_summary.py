"""The summary of a running crawl, read incrementally from its history for the dashboard.

No line is read twice. Memory grows with the number of hosts, not with the number of pages.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from crawlproject.errors import BadCrawlDir
from crawlproject.records import AGENT, Visit
from crawlproject.reports.tallies import BestPages, HostTableRow, HostTally, pause_of
from crawlproject.storage.append_log import START, TailReader, unexpected
from crawlproject.storage.read import HISTORY, CrawlInfo, visit_from
from crawlproject.urls.hosts import host_of

BEST = 40  # best pages kept
LATEST = 12  # latest fetches kept
HOSTS = 15  # hosts listed
WINDOW = 100  # pages in the moving harvest rate
_POINTS = 400  # points of the harvest curve; if there are more, every second one is dropped
AGENTS = 150  # most agents listed: the latest to fetch
FOUND = 3  # best pages of each agent
_AGENTS = 2_000  # most agents counted separately: the latest to fetch
_KINDS = 100  # kinds of errors counted separately


@dataclass(slots=True)
class AgentTally:
    """The pages that one agent of an ordering fetched; ``best`` are the ``FOUND`` most relevant, best first."""

    number: int
    pages: int = 0
    relevant: int = 0
    relevance: float = 0.0
    best: list[FoundPage] = field(default_factory=list)

    def add(self, found: FoundPage, *, relevant: bool) -> None:
        self.pages += 1
        self.relevant += relevant
        self.relevance += found.visit.relevance
        self.best = sorted([*self.best, found], key=lambda page: -page.visit.relevance)[:FOUND]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A fetch: ``number`` counts from 1; ``agent`` is None in orderings without agents."""

    number: int
    visit: Visit
    agent: int | None


class LiveSummary:
    """The counts of the crawl in ``folder``, up to the line that ``advance`` has reached.

    ``curve`` samples the crawl as tuples: pages stored, harvest rate so far, harvest rate of the latest ``WINDOW`` pages.
    """

    def __init__(self, folder: Path, info: CrawlInfo, threshold: float) -> None:
        self._path = folder / HISTORY
        self._pause = pause_of(info)
        self._threshold = threshold
        self._start()

    def _start(self) -> None:
        self._place = START
        self.fetches = self.pages = self.relevant = self.duplicates = self.redirects = self.listings = self.size = 0
        self.relevance = 0.0
        self.last_at: float | None = None
        self.failures: Counter[str] = Counter()
        self.latest: deque[FoundPage] = deque(maxlen=LATEST)
        self._agents: dict[int, AgentTally] = {}  # in the order of their latest fetches
        self.curve: list[tuple[int, float, float]] = []
        self.gaps = self.too_soon = 0
        self.smallest_gap: float | None = None
        self._best = BestPages(BEST)
        self._hosts: dict[str, HostTally] = {}
        self._window: deque[bool] = deque(maxlen=WINDOW)
        self._stride = 1
        self._busiest: tuple[int, list[HostTableRow]] = (0, [])

    # ------------------------------------------------------------ reading

    def advance(self, most: int = 5_000) -> bool:
        """Read up to ``most`` new lines; return whether the end of the file was reached.

        A history that was truncated or replaced is read again from its beginning. Raises ``BadCrawlDir`` for a damaged line.
        """
        follower = TailReader(self._path, self._place)
        if follower.restarted:
            self._start()
        before = self.fetches
        for line in islice(follower, most):
            number = self.fetches + 1
            try:
                self._add(visit_from(line, f"{self._path}, line {number}"))
            except BadCrawlDir:
                raise
            except (ValueError, TypeError, LookupError, AttributeError) as damage:  # a field of the wrong type
                raise unexpected(self._path, number, damage) from None
        self._place = follower.place
        return self.fetches - before < most

    def _add(self, visit: Visit) -> None:
        self.fetches += 1
        self.size += visit.size
        self.last_at = visit.at
        agent = _agent_of(visit)
        found = FoundPage(self.fetches, visit, agent)
        self.latest.append(found)
        self._add_to_host(visit)
        if visit.number > 1:
            return  # all further counts are of first visits
        if visit.md5:
            self._add_page(found)
        elif visit.redirect:
            self.redirects += 1
        elif visit.is_listing:
            self.listings += 1
        else:
            self._add_failure(visit)

    def _add_to_host(self, visit: Visit) -> None:
        tally = self._hosts.setdefault(host_of(visit.url), HostTally())
        gaps, too_soon = tally.gaps, tally.too_soon
        tally.add(visit, page=bool(visit.md5) and visit.number == 1, pause=self._pause)
        self.gaps += tally.gaps - gaps
        self.too_soon += tally.too_soon - too_soon
        if tally.smallest_gap is not None:
            gap, smallest = tally.smallest_gap, self.smallest_gap
            self.smallest_gap = gap if smallest is None else min(gap, smallest)

    def _add_page(self, found: FoundPage) -> None:
        visit = found.visit
        relevant = visit.relevance >= self._threshold
        self.pages += 1
        self.relevance += visit.relevance
        self.relevant += relevant
        self._window.append(relevant)
        if visit.duplicate_of:
            self.duplicates += 1
        if found.agent is not None:
            tally = self._agents.pop(found.agent, None) or AgentTally(found.agent)
            tally.add(found, relevant=relevant)
            self._agents[found.agent] = tally
            if len(self._agents) > _AGENTS:
                del self._agents[next(iter(self._agents))]
        if self.pages % self._stride == 0:
            self._draw()
        self._best.add(found.number, visit)

    def _draw(self) -> None:
        self.curve.append((self.pages, self.relevant / self.pages, sum(self._window) / len(self._window)))
        if len(self.curve) > _POINTS:
            self.curve = self.curve[1::2]
            self._stride *= 2

    def _add_failure(self, visit: Visit) -> None:
        kind = visit.error if visit.error in self.failures or len(self.failures) < _KINDS else "other"
        self.failures[kind] += 1

    # ------------------------------------------------------------ results

    @property
    def harvest(self) -> float | None:
        """Share of relevant pages so far; None before the first page."""
        return self.relevant / self.pages if self.pages else None

    @property
    def recent(self) -> float | None:
        """Share of relevant pages among the latest ``WINDOW``."""
        return sum(self._window) / len(self._window) if self._window else None

    @property
    def hosts(self) -> int:
        """Hosts visited."""
        return len(self._hosts)

    def agents(self) -> list[AgentTally]:
        """Return the tallies of the ``AGENTS`` agents that fetched last, sorted by number."""
        latest = islice(reversed(self._agents.values()), AGENTS)
        return sorted(latest, key=lambda tally: tally.number)

    def best(self) -> list[FoundPage]:
        """Return the most relevant pages, the earlier one first on a tie."""
        return [FoundPage(number, visit, _agent_of(visit)) for number, visit in self._best.ranked()]

    def busiest(self) -> list[HostTableRow]:
        """Return the hosts with the most pages; with 1,000 hosts or more, recomputed only after 2 % more fetches."""
        counted, lines = self._busiest
        if self.fetches > counted * 1.02 or (self.fetches != counted and len(self._hosts) < 1_000):
            top = heapq.nsmallest(
                HOSTS, self._hosts.items(), key=lambda item: (-item[1].pages, -item[1].fetches, item[0])
            )
            lines = [tally.row(host) for host, tally in top]
            self._busiest = self.fetches, lines
        return lines


def _agent_of(visit: Visit) -> int | None:
    number = visit.signs.get(AGENT)
    return int(number) if isinstance(number, int | float) else None
