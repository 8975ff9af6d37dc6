"""Omniscient: knows the whole graph and the targets, and fetches the pages of a plan. The reference for other orderings.

Only a rehearsal can run it. The plan is made before the crawl (``path_plan``). One URL is active at a time, so host rotation
does not affect the order. Paper 004 section 4 compares with such a crawl.

The best plan would be a Steiner tree, which is NP-hard to find; this plan is greedy, so it is not a proven bound. Rehearsals
write a proven bound beside their runs (``least_pages`` in ``web_graph.py``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from crawlproject.orderings.base import BaseOrdering, Graph, OrderingContext, PassageLinks, RedirectLinks
from crawlproject.records import Link, Page

NEXT = 1e9  # the score of the next URL of the plan, and the floor: all others are inactive
_START = ""  # stands for a page that links to all seeds, and costs nothing


class Omniscient(BaseOrdering):
    """Fetches the URLs of the plan one after the other, and follows no other link."""

    needs_targets = True
    seeds_first = False  # the plan decides when a seed is fetched
    floor = NEXT

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        assert context.graph is not None, "the registry refuses a context without a graph"
        plan = path_plan(context.graph, context.topic.seeds, context.targets)
        self._ranks = {url: rank for rank, url in enumerate(plan)}
        self._plan = iter(plan)
        self._next: str | None = next(self._plan, None)
        self._ended: set[str] = set()

    def score(self, page: Page, link: Link) -> float | None:
        rank = self._ranks.get(link.url)
        if rank is None:
            return None
        return NEXT if link.url == self._next else -float(rank)

    def seed_score(self, url: str) -> float:
        return -float(self._ranks.get(url, len(self._ranks)))

    def revise(self) -> Iterator[tuple[str, float]]:
        while self._next in self._ended:
            self._next = next(self._plan, None)
            if self._next is not None and self._next not in self._ended:
                yield self._next, NEXT

    def observe(self, page: Page) -> None:
        self._ended.add(page.url)

    def failed(self, url: str) -> None:
        self._ended.add(url)

    def redirected(self, url: str, target: str) -> None:
        self._ended.add(url)

    def too_deep(self, url: str) -> None:
        self._ended.add(url)

    def postponed(self, url: str) -> None:
        self._ended.add(url)


def path_plan(graph: Graph, seeds: Sequence[str], targets: Iterable[str]) -> dict[str, str | None]:
    """A crawl order of the targets and of the pages that lead to them: each URL with the page that it is reached from.

    A seed is reached from no page (None); it costs a page like any other, so one that leads to no target is left out.
    A target that a planned page links to comes next, since no order can do better than one target per page. If there is
    none, the next path is the one that leads to the most targets per page that is not a target (Smith's rule: the best order
    of independent jobs by mean completion time; W. E. Smith, Various optimizers for single-stage production, 1956).
    """
    return _Planner(graph, seeds, targets).plan()


class _Planner:
    """Makes the plan. *Free* URLs cost nothing on a path: targets, which pay for themselves, and what is not kept as a page.

    ``_closure[url]`` has a bit for each target that can be reached from a free ``url`` through free URLs, including its own.
    ``_behind[url]`` has the bits of all free links of a page that is not free.
    """

    def __init__(self, graph: Graph, seeds: Sequence[str], targets: Iterable[str]) -> None:
        self._links = reachable(graph, seeds)
        self._links[_START] = tuple(dict.fromkeys(seeds))
        bits = {url: 1 << number for number, url in enumerate(sorted(arrivals(graph, targets) & self._links.keys()))}
        free = [url for url, links in self._links.items() if url in bits or isinstance(links, PassageLinks)]
        self._bits = bits
        self._closure = _closures(self._links, free, bits)
        self._remaining = (1 << len(bits)) - 1
        self._plan: dict[str, str | None] = {}
        self._cost: dict[str, int] = {}  # pages on the path to a URL, with it, that are neither planned nor free
        self._came_from: dict[str, str] = {}
        self._behind: dict[str, int] = {}  # page -> targets behind its free links, as bits
        self._candidates: list[tuple[float, int, str]] = []

    def plan(self) -> dict[str, str | None]:
        self._add([(_START, None)])
        while self._remaining and self._candidates:
            rate, cost, url = heappop(self._candidates)
            current = self._rate(url)
            if url in self._plan or cost > self._cost[url] or not current:
                continue
            if current > rate:  # some of its targets were planned meanwhile
                heappush(self._candidates, (current, cost, url))
            else:
                self._add(self._path(url))
        return {url: parent or None for url, parent in self._plan.items() if url != _START}

    def _rate(self, url: str) -> float:
        """Minus the unplanned targets behind ``url`` per page that is not a target."""
        return -(self._behind[url] & self._remaining).bit_count() / max(1, self._cost[url])

    def _path(self, url: str) -> list[tuple[str, str | None]]:
        steps: list[tuple[str, str | None]] = []
        while url not in self._plan:
            steps.append((url, self._came_from[url]))
            url = self._came_from[url]
        return steps[::-1]

    def _add(self, steps: Iterable[tuple[str, str | None]]) -> None:
        """Plan these URLs, each followed by the free URLs that lead to unplanned targets; then search from all of them."""
        added: list[str] = []
        for first in steps:
            waiting = deque([first])
            while waiting:
                url, parent = waiting.popleft()
                if url in self._plan:
                    continue
                self._plan[url] = parent
                self._remaining &= ~self._bits.get(url, 0)
                added.append(url)
                waiting += [(link, url) for link in self._links[url] if self._closure.get(link, 0) & self._remaining]
        self._look_from(added)

    def _look_from(self, origins: Iterable[str]) -> None:
        """Find paths from newly planned URLs by a breadth-first search in which free URLs cost nothing."""
        waiting: deque[str] = deque()
        for url in origins:
            self._cost[url] = 0
            waiting.append(url)
        while waiting:
            url = waiting.popleft()
            for link in self._links[url]:
                cost = self._cost[url] + (link not in self._closure)
                if link not in self._links or self._cost.get(link, cost + 1) <= cost:
                    continue
                self._cost[link] = cost
                self._came_from[link] = url
                if link in self._closure:
                    waiting.appendleft(link)
                else:
                    waiting.append(link)
                    self._propose(link, cost)

    def _propose(self, url: str, cost: int) -> None:
        if url not in self._behind:
            self._behind[url] = 0
            for link in self._links[url]:
                self._behind[url] |= self._closure.get(link, 0)
        if self._behind[url] & self._remaining:
            heappush(self._candidates, (self._rate(url), cost, url))


def arrivals(graph: Graph, urls: Iterable[str]) -> set[str]:
    """The URLs, with redirects replaced by where they end."""
    return {_arrival(graph, url) for url in urls}


def _arrival(graph: Graph, url: str) -> str:
    passed: set[str] = set()
    while isinstance(links := graph(url), RedirectLinks) and links and url not in passed:
        passed.add(url)
        url = links[0]
    return url


def reachable(graph: Graph, seeds: Iterable[str]) -> dict[str, Sequence[str]]:
    """All pages and redirects that can be reached from the seeds, nearest first, with their links."""
    found: dict[str, Sequence[str]] = {}
    queue = deque(seeds)
    while queue:
        url = queue.popleft()
        if url not in found and (links := graph(url)) is not None:
            found[url] = links
            queue.extend(link for link in links if link not in found)
    return found


def _closures(links: dict[str, Sequence[str]], free: Sequence[str], bits: dict[str, int]) -> dict[str, int]:
    """For each free URL, the targets that it reaches: itself and what its free links reach, computed as a fixed point."""
    closure = {url: bits.get(url, 0) for url in free}
    changed = True
    while changed:
        changed = False
        for url in reversed(free):
            reach = closure[url]
            for link in links[url]:
                reach |= closure.get(link, 0)
            if reach != closure[url]:
                closure[url] = reach
                changed = True
    return closure
