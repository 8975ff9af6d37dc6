"""The positions of the nodes of a graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from crawlproject.reports.graph_layout import layout, nearest, pairs_within, radial_tree

NONE = np.zeros((0, 2), dtype=np.int64)


def distances(at):
    gaps = at[:, None, :] - at[None, :, :]
    return np.sqrt((gaps**2).sum(axis=2))


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 40))
    parents = [draw(st.integers(-1, node - 1)) for node in range(n)]
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))
    groups = [draw(st.integers(0, 3)) for _ in range(n)]
    return parents, np.array(edges, dtype=np.int64).reshape(-1, 2), groups


@settings(max_examples=60)
@given(graphs())
def test_every_graph_has_a_drawing_and_always_the_same(graph):
    at = layout(*graph, rounds=20)
    assert at.shape == (len(graph[0]), 2) and np.isfinite(at).all()
    assert (layout(*graph, rounds=20) == at).all()


def test_no_node_has_a_drawing():
    assert layout([], NONE, []).shape == (0, 2)


def test_nodes_do_not_lie_on_each_other():
    n = 120
    sizes = [0.2 + 0.3 * (node % 3) for node in range(n)]
    at = layout([-1] + [0] * (n - 1), NONE, [0] * n, sizes=sizes)
    gaps = distances(at)
    overlaps = sum(gaps[a, b] < 0.9 * (sizes[a] + sizes[b]) for a in range(n) for b in range(a))
    assert overlaps < n / 20


def test_two_sites_with_one_link_between_them_lie_apart():
    """Two stars of 30, joined at their centres: nodes are nearer to their own centre than to the other one."""
    parents = [-1, *[0] * 29, 0, *[30] * 29]
    groups = [0] * 30 + [1] * 30
    at = layout(parents, NONE, groups)
    middles = [at[:30].mean(axis=0), at[30:].mean(axis=0)]
    own = [np.linalg.norm(at[node] - middles[groups[node]]) for node in range(60)]
    other = [np.linalg.norm(at[node] - middles[1 - groups[node]]) for node in range(60)]
    assert sum(a < b for a, b in zip(own, other, strict=True)) >= 57


def test_linked_nodes_are_nearer_than_others():
    rng = np.random.default_rng(1)
    parents = [-1] + [int(rng.integers(0, node)) for node in range(1, 200)]
    at = layout(parents, NONE, [0] * 200)
    gaps = distances(at)
    linked = np.mean([gaps[node, parents[node]] for node in range(1, 200)])
    assert linked < 0.4 * gaps.mean()


def test_a_tree_is_in_rings():
    """A root with two children, the first of which has two children, worked out by hand."""
    at = radial_tree(np.array([-1, 0, 0, 1, 1]))
    assert np.hypot(*at.T) == pytest.approx([0, 1, 1, 2, 2])
    angle = np.degrees(np.arctan2(at[:, 1], at[:, 0])) % 360
    assert angle[1:] == pytest.approx([135, 315, 67.5, 202.5])  # three quarters and one; two halves of these three


@pytest.mark.parametrize("size", [2, 3, 40, 500])
def test_neighbours_are_those_of_a_tree_of_scipy(size):
    at = np.random.default_rng(size).normal(size=(size, 2)) * np.sqrt(size)
    at[: size // 4] = at[0]  # some at the same place
    assert nearest(at) == pytest.approx(cKDTree(at).query(at, k=2)[0][:, 1], rel=1e-12)
    expected = cKDTree(at).query_pairs(2.0)
    found = list(map(tuple, pairs_within(at, 2.0).tolist()))
    assert found == sorted(expected)
