"""Omniscient: the nearest target first, knowing the whole graph. The upper bound that others are measured against.

Only a rehearsal can run it. The plan is made before the crawl: from the pages crawled so far, walk the shortest path to
the nearest target not yet crawled, and again from there (paper 004 section 4 compares with such a crawl).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from crawlproject.orderings.base import BaseOrdering, Graph, OrderingContext
from crawlproject.records import Link, Page


class Omniscient(BaseOrdering):
    """A URL scores higher the earlier it is in the plan; URLs outside the plan come last."""

    needs_targets = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        assert context.graph is not None, "the registry refuses a context without a graph"
        plan = nearest_target_plan(context.graph, context.topic.seeds, context.targets)
        self._rank = {url: rank for rank, url in enumerate(plan)}
        self._last = len(self._rank)

    def score(self, page: Page, link: Link) -> float:
        return -float(self._rank.get(link.url, self._last))

    def seed_score(self, url: str) -> float:
        return -float(self._rank.get(url, self._last))


def nearest_target_plan(graph: Graph, seeds: Iterable[str], targets: Iterable[str]) -> list[str]:
    """The crawl order in which each next target costs the fewest fetches.

    Searches by distance from everything planned so far; when it finds a target, the path to it joins the plan and becomes a
    new origin. Costs O(links log links) per re-opened region; the distance of a URL only falls.
    """
    wanted = set(targets)
    plan: dict[str, None] = {}
    distance: dict[str, int] = {}
    came_from: dict[str, str] = {}
    heap: list[tuple[int, int, str]] = []
    for seed in seeds:
        distance[seed] = 1
        heapq.heappush(heap, (1, len(heap), seed))
    pushes = len(heap)
    while heap and wanted:
        d, _, url = heapq.heappop(heap)
        if d > distance[url]:
            continue
        if url in wanted:
            for step in _path(url, came_from, plan):
                plan[step] = None
                distance[step] = 0
                wanted.discard(step)
                heapq.heappush(heap, (0, pushes := pushes + 1, step))
            continue
        for linked in graph(url) or ():
            if d + 1 < distance.get(linked, d + 2):
                distance[linked] = d + 1
                came_from[linked] = url
                heapq.heappush(heap, (d + 1, pushes := pushes + 1, linked))
    return list(plan)


def _path(url: str, came_from: dict[str, str], plan: dict[str, None]) -> list[str]:
    """The unplanned steps that lead to ``url``, first step first."""
    steps: list[str] = []
    step: str | None = url
    while step is not None and step not in plan:
        steps.append(step)
        step = came_from.get(step)
    return steps[::-1]
