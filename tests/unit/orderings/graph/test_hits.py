"""Hubs and authorities of graphs small enough to compute by hand."""

from __future__ import annotations

import numpy as np
import pytest

from crawlproject.orderings.link_graph import adjacency, hits


def test_two_hubs_that_share_one_authority() -> None:
    """0 -> 2, 3 and 1 -> 2: a = (2, 1) and h = (3, 2) at first; the fixed point is the golden ratio."""
    hubs, authorities = hits(adjacency([0, 0, 1], [2, 3, 2], 4))
    golden = (1 + 5**0.5) / 2
    assert hubs == pytest.approx([golden / (1 + golden), 1 / (1 + golden), 0, 0])
    assert authorities == pytest.approx([0, 0, golden / (1 + golden), 1 / (1 + golden)])


def test_a_weight_counts_like_as_many_links() -> None:
    weighted = hits(adjacency([0, 0, 1], [2, 3, 2], 4, weights=[2, 1, 1]))
    repeated = hits(adjacency([0, 0, 0, 1], [2, 2, 3, 2], 4))
    assert np.array_equal(weighted, repeated)


def test_forward_and_backward_weights_may_differ() -> None:
    """0 -> 2 and 1 -> 2; the page 1 is off the topic, so what it recommends is worth a tenth to it as a hub."""
    links = adjacency([0, 1], [2, 2], 3)
    backward = adjacency([0, 1], [2, 2], 3, weights=[1.0, 0.1])
    hubs, authorities = hits(links, backward)
    assert hubs == pytest.approx([10 / 11, 1 / 11, 0])
    assert authorities == pytest.approx([0, 0, 1])


def test_a_graph_without_links_has_neither() -> None:
    hubs, authorities = hits(adjacency([], [], 3))
    assert hubs.tolist() == authorities.tolist() == [0, 0, 0]
    assert [len(scores) for scores in hits(adjacency([], [], 0))] == [0, 0]
