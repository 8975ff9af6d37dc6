"""Clicks and MaxNDCG (paper 004 section 4.1), worked out by hand."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.errors import BadInput
from crawlproject.evaluation.question import ClickLog, Question

X, Y, Z = (f"http://{name}.example/" for name in "xyz")
LOG = ClickLog({"reef": {X: 3, Y: 2, Z: 1}, "train": {Z: 4}})


def test_the_clicks_that_crawled_pages_attracted() -> None:
    assert LOG.click_share([Y, "http://other.example/", Z], {}) == pytest.approx([0.2, 0.2, 0.7])


def test_max_ndcg_ranks_the_crawled_pages_as_well_as_is_possible() -> None:
    """After y, z and x the ranking for "reef" is y; y, z; x, y, z. The only page for "train" is z."""
    ideal = 3 + 2 / log2(3) + 1 / 2
    reef = [2 / ideal, (2 + 1 / log2(3)) / ideal, 1]
    assert LOG.max_ndcg([Y, Z, X], {}) == pytest.approx([reef[0] / 2, (reef[1] + 1) / 2, 1])


def test_a_page_that_has_moved_counts_where_it_is() -> None:
    moved = {X: Y}
    assert LOG.click_share([Y], moved) == pytest.approx([0.5])
    ideal = 5 + 1 / log2(3)
    assert LOG.max_ndcg([Y], moved) == pytest.approx([5 / ideal / 2])


@settings(max_examples=25)
@given(st.permutations([X, Y, Z, "http://other.example/"]))
def test_both_rise_to_one_in_any_order(pages: list[str]) -> None:
    for curve in (LOG.click_share(pages, {}), LOG.max_ndcg(pages, {})):
        assert all(curve[1:] >= curve[:-1] - 1e-12) and curve[-1] == pytest.approx(1)


def test_a_file_of_clicks(tmp_path: Path) -> None:
    path = tmp_path / "clicks.tsv"
    path.write_text(f"# query, URL, clicks\nreef\tHTTP://X.example\t1\n\nreef\t{X}\t2\nreef\t{Y}\t0.5\n")
    assert ClickLog.read(path).clicks == {"reef": {X: 3, Y: 0.5}}
    path.write_text(path.read_text(), encoding="utf-8-sig")  # as a spreadsheet writes it
    assert ClickLog.read(path).clicks == {"reef": {X: 3, Y: 0.5}}


@pytest.mark.parametrize(
    "line", ["reef", f"reef\t{X}", f"reef\t{X}\tmany", f"reef\t{X}\t0", f"reef\t{X}\tnan", "reef\tmailto:x\t1"]
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "clicks.tsv"
    path.write_text(f"reef\t{X}\t1\n{line}\n")
    with pytest.raises(BadInput, match=r"clicks.tsv, line 2: expected"):
        ClickLog.read(path)


def test_without_a_usable_file_the_error_says_what_to_do(tmp_path: Path) -> None:
    for content in (b"", b"\xff"):
        (tmp_path / "clicks.tsv").write_bytes(content)
        with pytest.raises(BadInput, match=r"clicks.tsv: expected"):
            ClickLog.read(tmp_path / "clicks.tsv")
    with pytest.raises(BadInput, match="expected --clicks FILE"):
        Question("ndcg")
