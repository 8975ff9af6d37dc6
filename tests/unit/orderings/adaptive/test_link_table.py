"""Rows of waiting URLs, against a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.link_table import LinkTable, Origin

ORIGIN = Origin("http://p.example/", "reef", 0.5, 3)
names = st.sampled_from("abcdef")
steps = st.lists(st.tuples(st.sampled_from(["link", "end", "rename"]), names, names, st.floats(0, 1)), max_size=60)


def test_the_life_of_a_row() -> None:
    table = LinkTable()
    row = table.add("a", ORIGIN, 0.4)
    assert (table.row("a"), table.url(row), table.origin(row)) == (row, "a", ORIGIN)
    assert (table.row("b"), len(table)) == (None, 1)
    assert not table.meet(row, 0.2) and table.meet(row, 0.9)
    assert (table.best[row], table.total[row], table.links[row]) == pytest.approx((0.9, 1.5, 3))
    table.active[row] = True
    assert table.rename("a", "b") == row == table.row("b") and table.row("a") is None and table.url(row) == "b"
    assert table.remove("b") and not table.remove("b"), "it was attended; then it was there no more"
    assert len(table) == 0 == len(table.waiting())
    assert table.add("c", ORIGIN, 0.1) == row, "a row is used again"
    assert (table.best[row], table.total[row], table.links[row], table.active[row]) == (0.1, 0.1, 1, False)


def test_the_origin_that_is_nearest_to_a_seed_is_kept() -> None:
    table = LinkTable()
    row = table.add("a", ORIGIN, 0.4)
    near, as_near = ORIGIN._replace(depth=2), Origin("http://q.example/", "", 0.0, 2)
    for origin in (ORIGIN._replace(depth=4), near, as_near):
        table.nearer(row, origin)
    assert table.origin(row) == near


@given(steps)
def test_rows_are_never_mixed_up(moves: list[tuple[str, str, str, float]]) -> None:
    table, model = LinkTable(rows=1), dict[str, list[float]]()
    for move, url, other, worth in moves:
        row = table.row(url)
        assert (row is not None) == (url in model)
        if move == "link":
            if row is None:
                table.add(url, Origin(url, "", worth, 0), worth)
            else:
                assert table.meet(row, worth) == (worth > max(model[url]))
            model.setdefault(url, []).append(worth)
        elif move == "end":
            assert not table.remove(url)
            model.pop(url, None)
        elif url in model and other not in model:
            table.rename(url, other)
            model[other] = model.pop(url)
    rows = table.waiting()
    assert sorted(table.urls(rows)) == sorted(model) and len(table) == len(model)
    for url, row in zip(table.urls(rows), rows.tolist(), strict=True):
        met = model[url]
        assert table.row(url) == row and table.origin(row).context_score == met[0]
        assert (table.best[row], table.links[row]) == (max(met), len(met))
        assert table.total[row] == pytest.approx(sum(met))
    assert len(table.best) <= 8, "rows are used again: there were never more than six URLs"
