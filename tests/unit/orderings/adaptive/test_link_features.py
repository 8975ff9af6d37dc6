"""The evidence about waiting URLs, as numbers."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest

from crawlproject.orderings.adaptive.link_features import KINDS, LinkFeatures
from crawlproject.orderings.adaptive.link_table import ANCHOR, AROUND, WORDS, LinkTable, Rows
from crawlproject.orderings.adaptive.terms import TermStatistics


class Evidence:
    """Evidence for the keywords coral and reef, in a table of rows that are made by hand."""

    def __init__(self, *without: str) -> None:
        self.table, self.terms = LinkTable(), TermStatistics()
        self.all = LinkFeatures(self.table, self.terms, self.terms.numbers(["coral", "reef"]), without)

    def row(self, url: str, worth: float = 0.0, groups: Rows | None = None, **texts: str) -> int:
        (row,) = self.table.add([url], worth)
        columns = {"anchor": ANCHOR, "around": AROUND, "words": WORDS}
        for name, text in texts.items():
            numbers = self.terms.numbers(text.split())
            self.table.terms[row, columns[name].start : columns[name].start + len(numbers)] = numbers
        self.table.groups[row] = self.join(url, url, (url, ""), url) if groups is None else groups
        return row

    def join(self, host: str, folder: str, place: tuple[str, str], family: str) -> Rows:
        return self.all.join([host], [folder], [place], family)[0]

    def of(self, row: int, output: int = 0) -> dict[str, float]:
        return dict(zip(KINDS, self.all.of(np.array([row]))[output, 0].tolist(), strict=True))


def test_texts_and_parents_by_hand() -> None:
    evidence = Evidence()
    row = evidence.row("a", 0.2, anchor="coral", around="steam engine", words="coral reef")
    evidence.table.meet(row, 0.6)
    counts = {"reef": 1, "polyp": 1}
    evidence.all.feedback.observe(1.0, *evidence.terms.observe(evidence.terms.numbers(Counter(counts).elements())))
    evidence.all.refresh()
    found = evidence.of(row)
    assert found["anchor"] == found["words"] == 1.0, "a keyword of two is above 0.4 of their idf"
    assert found["around"] == 0.0 and found["always"] == 1.0
    # coral is the rarer keyword: 1 of the 2 at which feedback has its full weight; reef adds its share
    reef = log(1 + 2 / 2) / log(1 + 2 / 1)
    assert (found["anchor feedback"], found["words feedback"]) == pytest.approx((0.5, (1 + reef) / 2))
    assert (found["best parent"], found["mean parent"], found["parents"]) == pytest.approx((0.6, 0.4, log(1.8)))


def test_group_means_by_hand() -> None:
    """Shrunk with two members more: the host to all pages, folder and place to the host, the family to the parent."""
    evidence = Evidence()
    groups = evidence.join("h", "h/f", ("h", "ul a"), "p")
    row = evidence.row("a", 0.6, groups)
    everywhere = 0.05
    assert [evidence.of(row)[kind] for kind in ("host", "folder", "place", "family")] == pytest.approx(
        [everywhere] * 3 + [0.6]
    )
    evidence.all.learn(groups, np.array([1.0, 0.3]))
    worth, prospect = evidence.of(row), evidence.of(row, output=1)
    host = (1 + 2 * (1.05 / 2)) / 3
    assert worth["host"] == pytest.approx(host)
    assert worth["folder"] == worth["place"] == pytest.approx((1 + 2 * host) / 3)
    assert worth["family"] == pytest.approx((1 + 2 * 0.6) / 3)
    behind = (0.3 + 2 * (0.35 / 2)) / 3
    assert prospect["host"] == pytest.approx(behind)
    assert prospect["family"] == pytest.approx((0.3 + 2 * behind) / 3), "nobody knows what lies behind a parent"


def test_of_a_seed_only_the_host_is_known() -> None:
    evidence = Evidence()
    row = evidence.row("a", 0.0, evidence.join("h", "h/f", ("h", ""), "p"))
    evidence.all.learn_host("h", np.array([1.0, 1.0]))
    found = evidence.of(row)
    assert found["host"] == found["folder"] == found["place"] > 0.5 and found["family"] == 0


def test_what_is_left_out_is_nothing_and_the_rest_stays() -> None:
    everything, some = Evidence(), Evidence("anchor", "always")
    for evidence in (everything, some):
        evidence.row("a", 0.5, anchor="coral", words="reef")
        evidence.all.refresh()
    assert some.of(0) == {**everything.of(0), "anchor": 0.0, "always": 0.0} != everything.of(0)


def test_terms_that_came_after_the_last_refresh_weigh_nothing() -> None:
    evidence = Evidence()
    evidence.all.refresh()
    row = evidence.row("a", anchor="coral")
    evidence.terms.numbers(f"term{n}" for n in range(9000))
    late = evidence.row("b", anchor="term8999")
    assert (evidence.of(row)["anchor"], evidence.of(late)["anchor"]) == (1.0, 0.0)
    assert evidence.of(late)["anchor feedback"] == 0.0


def test_a_moved_row_changes_host_and_folder_alone() -> None:
    evidence = Evidence()
    row = evidence.row("a", 0.6, evidence.join("h", "h/f", ("h", ""), "p"))
    evidence.all.learn(evidence.table.groups[row], np.array([1.0, 1.0]))
    before = evidence.of(row)
    evidence.all.move(evidence.table.groups[row], "other", "other/f")
    after = evidence.of(row)
    assert after["host"] < before["host"] and after["folder"] < before["folder"] and after["family"] == before["family"]


def test_what_a_host_has_shown_outlives_its_rows_what_a_page_has_shown_does_not() -> None:
    evidence = Evidence()
    groups = evidence.join("h", "h/f", ("h", ""), "p")
    evidence.all.learn(groups, np.array([1.0, 1.0]))
    evidence.all.leave(groups[None])
    row = evidence.row("a", 0.0, evidence.join("h", "h/f", ("h", ""), "p"))
    found = evidence.of(row)
    assert min(found["host"], found["folder"], found["place"]) > 0.5 and found["family"] == 0
