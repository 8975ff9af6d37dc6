"""Cash: an example by hand, and that none is made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.link_based import OpicCash


def test_a_page_hands_on_its_cash_in_equal_parts() -> None:
    cash = OpicCash(["a"])
    assert cash.spend("a", ["b", "c", "b"]) == ["b", "c"]
    assert (cash.of("a"), cash.of("b"), cash.of("c")) == (0, 0.5, 0.5)
    cash.spend("b", ["a", "c"])
    assert (cash.of("a"), cash.of("c")) == (0.25, 0.75)


def test_a_redirect_takes_its_cash_along() -> None:
    cash = OpicCash(["a"])
    cash.spend("a", ["old", "new"])
    assert cash.merge("old", "new") == 1
    assert cash.of("old") == 0


nodes = st.integers(0, 5)


@given(st.lists(st.tuples(nodes, st.lists(nodes, max_size=5)), max_size=10))
def test_no_cash_is_made(pages: list[tuple[int, list[int]]]) -> None:
    cash = OpicCash([0, 1])
    for page, targets in pages:
        cash.spend(page, targets)
    assert sum(cash.cash.values()) <= 2 + 1e-9
