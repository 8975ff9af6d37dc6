"""The crawlers of the link graph experiment (paper 002 Figure 1)."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.virtual_crawler import Drawn, Nothing, Web, crawl

STAR = [(0, node) for node in range(1, 101)]


def web(edges: list[tuple[int, int]]) -> Web:
    sources, targets = np.array(edges, np.int32).T
    return Web(sources, targets, 0)


def test_the_random_crawler_draws_old_and_new_nodes_alike() -> None:
    """Each of 100 nodes links to one node of its own: after 50 pages, any in the queue is equally likely to be next."""
    graph = web([*STAR, *((node, 100 + node) for node in range(1, 101))])
    far, expected = 0, 0.0
    trials = 400
    for seed in range(trials):
        order = crawl(graph, Drawn(np.random.default_rng(seed).exponential(size=len(graph)).tolist()))
        near = set(graph[0])
        fetched_near = sum(node in near for node in order[:51])
        fetched_far = 50 - fetched_near
        waiting_far = fetched_near - fetched_far
        expected += waiting_far / (100 - fetched_near + waiting_far)
        far += order[51] not in near
    assert far / trials == pytest.approx(expected / trials, abs=0.09)


def test_without_an_estimate_the_crawl_is_breadth_first() -> None:
    graph = web([(0, 1), (0, 2), (1, 3), (2, 4), (3, 5)])
    assert crawl(graph, Nothing()) == [0, 1, 2, 3, 4, 5]
