"""Document frequencies by term number."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.terms import TermStatistics

texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=8)


def test_idf_and_mean_length_after_two_pages() -> None:
    table = TermStatistics()
    coral, reef, steam = table.numbers(["coral", "reef", "steam"]).tolist()
    assert (coral, reef, steam) == (1, 2, 3), "0 is no term"
    assert table.idf(coral) == pytest.approx(log(2)), "before the first page"
    distinct, counts = table.observe(table.numbers(["reef", "coral", "reef", "reef"]))
    assert dict(zip(distinct.tolist(), counts.tolist(), strict=True)) == {reef: 3, coral: 1}
    table.observe(table.numbers(["reef"]))
    assert table.documents == 2 and table.mean_length == 2.5
    assert table.idf(reef) == pytest.approx(log(1 + 3 / 3))
    assert table.idf(coral) == pytest.approx(log(1 + 3 / 2))
    assert table.idf(steam) == pytest.approx(log(1 + 3 / 1))


@given(texts)
def test_counts_pages_as_a_counter_does(pages: list[list[str]]) -> None:
    table, frequency = TermStatistics(), Counter[str]()
    for page in pages:
        table.observe(table.numbers(page))
        frequency.update(set(page))
    idfs = table.idfs()
    for term, number in zip("abcdef", table.numbers("abcdef").tolist(), strict=True):
        expected = log(1 + (len(pages) + 1) / (frequency[term] + 1))
        assert table.idf(number) == pytest.approx(expected) and idfs[number] == pytest.approx(expected)


def test_there_is_always_room_for_every_term() -> None:
    table = TermStatistics()
    table.observe(table.numbers(["first"]))
    last = table.observe(table.numbers(f"term{n}" for n in range(10_000)))[0][-1]
    assert len(table.idfs()) > last
    assert table.idf(1) == table.idf(last) == pytest.approx(log(1 + 3 / 2)), "the first is remembered"
    short = np.array([0.0, 7.0])
    assert table.grown(short)[1] == 7 and table.grown(short)[2:].sum() == 0
