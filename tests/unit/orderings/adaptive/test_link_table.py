"""Rows of waiting URLs, against a dictionary."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.link_table import LinkTable

names = st.sampled_from("abcdef")
steps = st.lists(st.tuples(st.sampled_from(["link", "end", "rename"]), names, names, st.floats(0, 1)), max_size=60)


def test_the_life_of_a_row() -> None:
    table = LinkTable()
    (row,) = table.add(["a"], 0.4)
    assert (table.row("a"), table.row("b"), len(table)) == (row, None, 1)
    assert not table.meet(row, 0.2) and table.meet(row, 0.9)
    assert (table.best[row], table.total[row], table.links[row]) == pytest.approx((0.9, 1.5, 3))
    assert table.told[row] == -math.inf
    table.told[row] = 0.5
    assert table.rename("a", "b") == row == table.row("b") and table.row("a") is None
    assert list(table.urls(table.waiting())) == ["b"]
    table.remove(np.array([row]))
    assert len(table) == 0 == len(table.waiting())
    assert table.add(["c"], 0.1) == [row], "a row is used again"
    assert (table.best[row], table.total[row], table.links[row], table.told[row]) == (0.1, 0.1, 1, -math.inf)


@given(steps)
def test_rows_are_never_mixed_up(moves: list[tuple[str, str, str, float]]) -> None:
    table, model = LinkTable(rows=1), dict[str, list[float]]()
    for move, url, other, worth in moves:
        row = table.row(url)
        assert (row is not None) == (url in model)
        if move == "link":
            if row is None:
                table.add([url], worth)
            else:
                assert table.meet(row, worth) == (worth > max(model[url]))
            model.setdefault(url, []).append(worth)
        elif move == "end" and row is not None:
            table.remove(np.array([row]))
            del model[url]
        elif move == "rename" and url in model and other not in model:
            table.rename(url, other)
            model[other] = model.pop(url)
    rows = table.waiting()
    assert sorted(table.urls(rows)) == sorted(model) and len(table) == len(model)
    for url, row in zip(table.urls(rows), rows.tolist(), strict=True):
        met = model[url]
        assert table.row(url) == row
        assert (table.best[row], table.links[row]) == (max(met), len(met))
        assert table.total[row] == pytest.approx(sum(met))
    assert len(table.best) <= 8, "rows are used again: there were never more than six URLs"
