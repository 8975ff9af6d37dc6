"""The value of a page by BM25."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.terms import Bm25Worth, TermStatistics

counts = st.dictionaries(st.sampled_from(["coral", "reef", "steam"]), st.integers(1, 50))


def worth_after(*pages: dict[str, int]) -> Bm25Worth:
    table = TermStatistics()
    query = ("coral", "reef")
    worth = Bm25Worth(table, dict(zip(query, table.numbers(query).tolist(), strict=True)))
    for page in pages:
        table.observe(table.numbers(Counter(page).elements()))
    return worth


def test_by_hand() -> None:
    """One of two keywords that are equally rare, once, on a page of mean length: 1 / (1 + 1.2) of a half."""
    worth = worth_after({"coral": 1, "reef": 1, "steam": 8})
    assert worth({"coral": 1, "steam": 9}, 10) == pytest.approx((0.5 / 2.2 / 0.3) ** 1.5)
    assert worth({"coral": 1, "steam": 19}, 20) == pytest.approx((0.5 / (1 + 1.2 * 1.5) / 0.3) ** 1.5)
    assert worth({"coral": 1, "reef": 1}, 10) == 1.0, "1 / 2.2 is above 0.3"
    assert worth({"steam": 10}, 10) == 0.0


def test_a_rare_keyword_is_worth_more() -> None:
    worth = worth_after({"reef": 1}, {"reef": 1}, {"reef": 1})
    assert worth({"coral": 1}, 1) > worth({"reef": 1}, 1)


def test_before_any_page() -> None:
    assert worth_after()({}, 0) == 0.0 < worth_after()({"reef": 1}, 1) <= 1


@given(st.lists(counts, max_size=4), counts, st.integers(1, 500))
def test_from_0_to_1_more_with_more_keywords(seen: list[dict[str, int]], page: dict[str, int], length: int) -> None:
    worth = worth_after(*seen)
    assert 0 <= worth(page, length) <= worth({**page, "reef": page.get("reef", 0) + 1}, length) <= 1
    assert worth(page, 2 * length) <= worth(page, length)
