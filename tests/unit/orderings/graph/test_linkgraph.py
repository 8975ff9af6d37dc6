"""The link graph: a small web by hand, redirects, and a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.link_graph import LinkGraph


def test_a_web_of_three_pages() -> None:
    graph: LinkGraph[str] = LinkGraph()
    assert list(graph.add_page("a", ["b", "c", "b"])) == [1, 2]
    graph.add_page("b", ["c"])
    assert graph.nodes == ["a", "b", "c"]
    assert [graph.is_expanded(n) for n in range(3)] == [True, True, False]
    assert (len(graph), graph.expanded, graph.links) == (3, 2, 3)
    assert graph.matrix().toarray().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_a_page_that_comes_again_changes_nothing() -> None:
    graph: LinkGraph[str] = LinkGraph()
    graph.add_page("a", ["b"])
    assert not graph.add_page("a", ["b", "c"])
    assert graph.links == 1
    assert graph.find("c") is None


def test_a_redirect_to_an_unknown_page_is_a_new_name() -> None:
    graph: LinkGraph[str] = LinkGraph()
    graph.add_page("a", ["old"])
    assert graph.merge("old", "new") == graph.find("new") == graph.find("old") == 1
    assert graph.nodes == ["a", "new"]


def test_a_redirect_to_a_known_page_brings_its_links() -> None:
    graph: LinkGraph[str] = LinkGraph()
    graph.add_page("a", ["old", "new"])
    graph.add_page("b", ["older"])
    graph.merge("older", "old")
    new = graph.merge("old", "new")
    assert graph.matrix().toarray()[[0, 3], new].tolist() == [2, 1]
    graph.add_page("c", ["older", "old", "new"])
    assert graph.matrix().toarray()[:, new].sum() == 4


def test_redirects_in_a_circle_end() -> None:
    graph: LinkGraph[str] = LinkGraph()
    graph.add_page("a", ["x", "y"])
    graph.merge("x", "y")
    graph.merge("y", "x")
    assert graph.find("x") == graph.find("y")
    assert graph.matrix().sum() == 2


nodes = st.integers(0, 6)


@given(
    st.lists(st.tuples(nodes, st.lists(nodes, max_size=6)), max_size=8), st.lists(st.tuples(nodes, nodes), max_size=4)
)
def test_redirects_keep_all_links(pages: list[tuple[int, list[int]]], redirects: list[tuple[int, int]]) -> None:
    graph: LinkGraph[int] = LinkGraph()
    for page, targets in pages:
        graph.add_page(page, targets)
    for source, target in redirects:
        graph.merge(source, target)
    matrix = graph.matrix()
    assert matrix.sum() == graph.links
    for source, target in redirects[-1:]:
        assert graph.find(source) == graph.find(target)
