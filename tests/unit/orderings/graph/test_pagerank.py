"""PageRank: worked examples, the definition by brute force, and the growing graph against the finished one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.orderings.link_graph import LinkGraph, adjacency
from crawlproject.orderings.pagerank import GrowingPageRank, flow, pagerank


def by_the_definition(links: np.ndarray, damping: float) -> np.ndarray:
    """The equations of paper 002 section 2, one per page, solved directly."""
    nodes = len(links)
    full = np.where(links.sum(axis=1, keepdims=True) == 0, 1.0, links)
    shares = full / full.sum(axis=1, keepdims=True)
    return np.linalg.solve(np.eye(nodes) - damping * shares.T, np.full(nodes, 1 - damping))


def test_two_pages_that_link_to_each_other_are_worth_one_each() -> None:
    assert pagerank(adjacency([0, 1], [1, 0], 2)) == pytest.approx([1, 1])


def test_a_chain_with_an_end() -> None:
    """0 -> 1 -> 2, and 2 links to all three. By hand: x0 = 0.1 + 0.3 x2, x1 = x0 + 0.9 x0, x2 = x0 + 0.9 x1; sum 3."""
    ranks = pagerank(adjacency([0, 1], [1, 2], 3), tolerance=1e-12)
    assert ranks == pytest.approx([3 / 5.61, 3 * 1.9 / 5.61, 3 * 2.71 / 5.61])
    assert ranks[0] == pytest.approx(0.1 + 0.3 * ranks[2])


def test_figure_2_of_a_crawl_in_progress() -> None:
    """Page 0 was fetched and links to 1 and 2, of which 1 was fetched and links to 2."""
    assert flow(adjacency([0, 0, 1], [1, 2, 2], 3)) == pytest.approx([0.1, 0.145, 0.2755])


def test_jumps_may_lead_to_trusted_pages_only() -> None:
    assert flow(adjacency([0, 0, 1], [1, 2, 2], 3), jumps=[1, 0, 0]) == pytest.approx([0.1, 0.045, 0.0855])
    ranks: GrowingPageRank[str] = GrowingPageRank(jump=lambda node: float(node == "seed"))
    ranks.expand("seed", ["a", "b"])
    ranks.expand("a", ["b"])
    assert (ranks.rank("b"), ranks.rank("unheard of")) == (pytest.approx(0.0855), 0.0)
    ranks.expand("stranger", ["seed"])
    ranks.merge("seed", "stranger")
    ranks.solve()
    assert ranks.rank("stranger") > 0.1 and ranks.rank("stranger") == ranks.rank("seed"), "the trust has moved"


def test_a_graph_without_links() -> None:
    assert pagerank(adjacency([], [], 3)).tolist() == [1, 1, 1]
    assert len(pagerank(adjacency([], [], 0))) == 0


nodes = st.integers(0, 5)
webs = st.lists(st.tuples(nodes, st.lists(nodes, max_size=5)), max_size=7)


@settings(max_examples=30)
@given(webs, st.floats(0.1, 0.95))
def test_the_same_as_the_definition(pages: list[tuple[int, list[int]]], damping: float) -> None:
    graph: LinkGraph[int] = LinkGraph()
    for page, targets in pages:
        graph.add_page(page, targets)
    ranks = pagerank(graph.matrix(), damping=damping, tolerance=1e-12)
    assert ranks == pytest.approx(by_the_definition(graph.matrix().toarray(), damping), rel=1e-6)


def test_a_fetched_page_hands_on_its_rank_at_once() -> None:
    ranks: GrowingPageRank[str] = GrowingPageRank()
    ranks.expand("a", ["b", "c"])
    assert ranks.rank("b") == pytest.approx(0.1 + 0.9 * 0.1 / 2)
    ranks.expand("b", ["c"])
    assert ranks.rank("c") == pytest.approx(0.145 + 0.9 * 0.145)
    assert ranks.rank("unheard of") == pytest.approx(0.1)


def test_what_is_handed_on_further_waits_for_the_solution() -> None:
    ranks: GrowingPageRank[str] = GrowingPageRank()
    ranks.expand("b", ["c"])
    ranks.expand("a", ["b"])
    assert ranks.rank("c") == pytest.approx(0.19)
    assert [ranks.graph.nodes[number] for number in ranks.solve()] == ["c"]
    assert ranks.rank("c") == pytest.approx(0.1 + 0.9 * 0.19)


def test_a_solution_is_due_when_the_pages_have_grown() -> None:
    ranks: GrowingPageRank[int] = GrowingPageRank(growth=0.5)
    due = []
    for page in range(10):
        ranks.expand(page, [page + 1])
        due.append(ranks.due)
        if ranks.due:
            ranks.solve()
    assert [page + 1 for page, now in enumerate(due) if now] == [1, 2, 4, 7]


def test_a_redirect_takes_its_rank_along() -> None:
    ranks: GrowingPageRank[str] = GrowingPageRank()
    ranks.expand("a", ["old", "new"])
    ranks.merge("old", "new")
    assert ranks.rank("new") == ranks.rank("old") == pytest.approx(0.1 + 0.9 * 0.1)
    ranks.merge("new", "newer")
    ranks.solve()
    assert ranks.rank("newer") == pytest.approx(0.19)


@settings(max_examples=30)
@given(webs)
def test_solved_it_is_the_flow_of_the_graph_and_never_fell(pages: list[tuple[int, list[int]]]) -> None:
    ranks: GrowingPageRank[int] = GrowingPageRank(tolerance=1e-12)
    for page, targets in pages:
        before = [ranks.rank(node) for node in range(6)]
        ranks.expand(page, targets)
        ranks.solve()
        assert all(ranks.rank(node) >= rank - 1e-9 for node, rank in enumerate(before))
    assert [ranks.rank(node) for node in ranks.graph.nodes] == pytest.approx(
        flow(ranks.graph.matrix(), tolerance=1e-12), rel=1e-6
    )
