"""The virtual crawler of the benchmark against Figure 1 of paper 002 as it is written: sort the queue after every page."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.virtual_crawler import Backlinks, Estimate, Fixed, Opic, Ranks, Web, buffered, crawl

CRAWLERS: dict[str, Callable[[int], Estimate]] = {
    "breadth-first": lambda nodes: Fixed([0.0] * nodes),
    "random": lambda nodes: Fixed(np.random.default_rng(1).random(nodes).tolist()),
    "backlinks": Backlinks,
    "pagerank": lambda nodes: Ranks(growth=0.3),
    "opic": lambda nodes: Opic(0),
}


def a_web(*links: tuple[int, int], start: int = 0) -> Web:
    edges = np.array(links, np.int32)
    return Web(edges[:, 0], edges[:, 1], start)


def by_figure_1(web: Web, score: Estimate) -> list[int]:
    queue, crawled = [0], []
    while queue:
        node = queue.pop(0)
        crawled.append(node)
        score.visit(node, web[node])
        queue += [target for target in web[node] if target not in queue and target not in crawled]
        arrived = {node: place for place, node in enumerate(sorted(queue, key=seen(web, crawled).index))}
        queue.sort(key=lambda node: (-score(node), arrived[node]))
    return crawled


def seen(web: Web, crawled: list[int]) -> list[int]:
    """All nodes in the order in which they were first seen."""
    return list(dict.fromkeys([0, *(target for node in crawled for target in web[node])]))


webs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40).map(
    lambda links: a_web(*links)
)


@pytest.mark.parametrize("name", CRAWLERS)
@settings(max_examples=30)
@given(web=webs)
def test_figure_1(name: str, web: Web) -> None:
    make = CRAWLERS[name]
    order = crawl(web, make(len(web)))
    assert order == by_figure_1(web, make(len(web)))
    assert sorted(order) == list(range(len(web)))


def test_only_what_can_be_reached_is_the_web() -> None:
    """From 5: 5 -> 3 -> 5 and 3 -> 4, numbered 0, 1, 2; 4 has no links, 7 is not reached."""
    web = a_web((5, 3), (3, 5), (3, 4), (3, 4), (7, 5), start=5)
    assert len(web) == 3
    assert [web[node] for node in range(3)] == [[1], [0, 2], []]
    assert web.links.sum() == 3


def test_backlinks_lead_into_the_cluster_first() -> None:
    """Paper 002 Figure 3: 1 leads to the cluster 3, 4, 5, whose pages link to each other; 2 waits."""
    web = a_web((0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (3, 4), (3, 5), (4, 3), (4, 5), (5, 3))
    assert crawl(web, Backlinks(6)) == [0, 1, 2, 3, 4, 5]
    busier = a_web((0, 1), (0, 2), (1, 3), (1, 4), (1, 1), (3, 4), (3, 5), (4, 3), (4, 5), (5, 3), (0, 3))
    assert crawl(busier, Backlinks(6)) == [0, 1, 3, 4, 5, 2]


def test_a_buffer_keeps_what_most_pages_link_to() -> None:
    web = a_web((0, 1), (0, 2), (1, 2), (2, 3), (3, 2))
    assert buffered(web, [0, 1, 2, 3], Backlinks(4), 1) == [2]
