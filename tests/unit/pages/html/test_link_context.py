from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadInput
from crawlproject.pages.html.document import AggregationNodes
from crawlproject.pages.html.parse import parse_document

# Like Figure 2 of paper 000 and paper 003: links in list items, among text at several depths.
TAG_TREE = (
    b"<html><head><title>Projects</title></head><body><h4>Projects</h4><ul>"
    b'<li><a href="lamp.html">LAMP</a> Linkage analysis with multiple processors.</li>'
    b'<li><a href="nice.html">NICE</a> The <b>network</b> infrastructure for exploration.</li></ul></body></html>'
)


def contexts(level: int | str, body: bytes = TAG_TREE) -> list[str]:
    document = parse_document(body, aggregation_level=level)
    return [" ".join(document.text[slice(*link.context)].split()) for link in document.links]


def test_level_0_is_the_link_itself() -> None:
    assert contexts(0) == ["LAMP", "NICE"]


def test_level_1_is_the_parent_with_all_text_at_any_depth() -> None:
    assert contexts(1) == [
        "LAMP Linkage analysis with multiple processors.",
        "NICE The network infrastructure for exploration.",
    ]


def test_level_2_is_shared_by_the_links_of_a_list() -> None:
    assert len(set(contexts(2))) == 1
    assert contexts(2)[0].startswith("LAMP Linkage") and contexts(2)[0].endswith("exploration.")


@pytest.mark.parametrize("level", [4, 9, "root"])
def test_the_root_and_all_above_it_are_the_whole_page(level: int | str) -> None:
    assert contexts(level) == [f"Projects {contexts(2)[0]}"] * 2


@pytest.mark.parametrize("level", [-1, "top", "1", 1.5, None])
def test_another_level_is_refused_with_the_wish(level: Any) -> None:
    with pytest.raises(BadInput, match='from 0 up or "root"'):
        AggregationNodes(level)


trees = st.recursive(
    st.sampled_from(["x", "LINK"]), lambda children: st.lists(children, max_size=4).map(tuple), max_leaves=30
)


@given(trees, st.integers(0, 5))
def test_contexts_are_the_sub_trees_of_the_ancestors(tree: Any, level: int) -> None:
    nodes = AggregationNodes(level)
    wanted: list[list[int]] = []
    position = 0

    def visit(node: Any, path: list[list[int]]) -> None:
        nonlocal position
        nodes.starts.append(position)
        here = [position, 0]
        path = [*path, here]
        if node == "LINK":
            nodes.link()
            wanted.append(path[max(0, len(path) - 1 - level)])
        elif node == "x":
            position += 1
        else:
            for child in node:
                visit(child, path)
        here[1] = position
        nodes.leave(position)

    visit(tree, [])
    nodes.finish(position)
    assert nodes.contexts == [(start, end) for start, end in wanted]
