"""Controlled comparisons of orderings: a shared active set, runs with enough pages and seconds, and the tables."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.pages import a_context, a_link, a_page

from benchmarks import active_set, quality
from benchmarks.active_set import WithActiveSet, register
from benchmarks.quality_runs import BOUND, Asked, Found, Ledger, Row, attempt, measure, read_runs
from crawlproject.errors import BadInput
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.best_first import Dom
from crawlproject.orderings.registry import ORDERINGS, make_ordering
from crawlproject.records import CrawlUrl, Page

TOPIC = Path(__file__).parents[3] / "topics" / "demo.toml"
ROWS = [Row.spelled(text) for text in ("adaptive/as_is", "dom/as_is", "dom/active", "dom/k1")]


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Undo the registrations of a test after it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    known = dict(ORDERINGS)
    yield
    ORDERINGS.clear()
    ORDERINGS.update(known)


# ------------------------------------------------------------ the active set


class ByAnchor(BaseOrdering):
    """The score of a link is the number in its anchor."""

    def score(self, page: object, link: object) -> float:
        return float(link.anchor)


def page_with(scores: list[float], host: str) -> Page:
    """A page with links of these scores."""
    return a_page(f"http://{host}/", links=[a_link(f"http://{host}/{score:g}", anchor=str(score)) for score in scores])


def raised_by(ordering: WithActiveSet, scores: list[float], host: str) -> set[str]:
    """The URLs that are raised to the floor after a page with these scores."""
    page = page_with(scores, host)
    ordering.observe(page)
    assert [ordering.score(page, link) for link in page.links] == scores
    return {url for url, score in ordering.revise() if score == ordering.floor}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> WithActiveSet:
    monkeypatch.setattr(active_set, "SIZE", 3)
    monkeypatch.setattr(active_set, "EVERY", 1)
    ORDERINGS["by_anchor"] = ByAnchor
    ordering = make_ordering(register("by_anchor"), a_context(), {})
    assert isinstance(ordering, WithActiveSet)
    return ordering


def test_the_floor_is_the_score_of_the_last_of_the_best_and_the_best_of_other_hosts_are_raised(
    small: WithActiveSet,
) -> None:
    assert (raised_by(small, [1, 2, 3, 4, 5], "a.example"), small.floor) == (set(), 3)
    assert (raised_by(small, [0.1, 0.2], "b.example"), small.floor) == ({"http://b.example/0.2"}, 3)
    assert (raised_by(small, [7], "c.example"), small.floor) == ({"http://b.example/0.2"}, 4)


def test_what_is_no_longer_raised_falls_back(small: WithActiveSet) -> None:
    raised_by(small, [1, 2, 3, 4, 5], "a.example")
    raised_by(small, [0.1, 0.2], "b.example")
    page = page_with([9], "b.example")
    small.observe(page)
    small.score(page, page.links[0])
    assert ("http://b.example/0.2", 0.2) in list(small.revise()), "its host has one of the best now"


def test_what_ended_does_not_count(small: WithActiveSet) -> None:
    raised_by(small, [1, 2, 3, 4], "a.example")
    small.observe(a_page("http://a.example/1"))
    for score in (2, 3):
        small.refused(f"http://a.example/{score}")
    list(small.revise())
    assert small.floor == -math.inf, "one is left"


def test_an_ordering_with_an_active_set_keeps_the_traits_of_the_other() -> None:
    assert register("dom") == "dom.active"
    ordering = make_ordering("dom.active", a_context(), {})
    assert isinstance(ordering, WithActiveSet) and ordering.inner is Dom
    assert ordering.learns == Dom.learns and ordering.seed_score("http://a.example/") == 1.0
    assert ordering.explain(CrawlUrl("http://a.example/", 0.0)) == {}


# ------------------------------------------------------------ figures


def test_recall_worked_by_hand() -> None:
    """Two of four targets, with pages 2 and 4, after 3 and 50 seconds: over five pages 0, 1/4, 1/4, 1/2, 1/2."""
    found = Found(4, [2, 4], [3.0, 50.0], pages=5, seconds=60.0)
    assert [found.recall_at_page(pages) for pages in range(1, 6)] == [0, 0.25, 0.25, 0.5, 0.5]
    assert found.mean_over(5) == pytest.approx(1.5 / 5)
    assert [found.recall_at_second(seconds) for seconds in (2.9, 3.0, 60.0)] == [0, 0.25, 0.5]
    assert np.isnan(Found(4, [2, 4], None).recall_at_second(3.0)), "the bound has no times"


def test_tests_are_paired_and_corrected_for_all_rows_in_both_directions() -> None:
    rng = np.random.default_rng(1)
    base = rng.uniform(0.4, 0.6, 12)
    figures = np.stack([base, base - 0.2 + rng.normal(0, 0.01, 12), base + rng.normal(0, 0.05, 12), base + 0.3])[
        :, :, None
    ]
    ((own, worse, like, bound),) = quality.tests(figures, 0, [*ROWS[:3], BOUND])
    assert own is None and bound is None
    assert worse is not None and worse < 0.001 and like is not None and like > 0.05


@pytest.mark.parametrize("text", ["dom", "dom/k2", "dom,FRONTIER/as_is", "doom/as_is"])
def test_a_row_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        Row.spelled(text)


def test_controls_that_make_no_sense_are_left_out() -> None:
    rows = quality.rows_of(["adaptive,CRAWL_SEED=2", "omniscient", "dom"], ["as_is", "active", "k1", "active_k1"])
    assert [str(row) for row in rows if row.name != "dom"] == [
        "adaptive,CRAWL_SEED=2/as_is",
        "adaptive,CRAWL_SEED=2/k1",
        "omniscient/as_is",
    ]
    assert rows[1].given == {"CRAWL_SEED": "2", "FRONTIER_BATCH_SIZE": 1} and len(rows) == 7


# ------------------------------------------------------------ runs


def test_a_setting_that_does_not_exist_is_named(tmp_path: Path) -> None:
    row = Row.spelled("dom,CRAWL_SCARSE=time/as_is")
    _, wrong = attempt("sample", TOPIC, [row], Asked((20,), ()), tmp_path)
    assert wrong is not None and "CRAWL_SCARSE" in " ".join(wrong)


def test_there_is_a_run_with_each_budget_and_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked((20, 40), (8.0,))
    Ledger(tmp_path / "out", asked)
    measure("sample", TOPIC, ROWS[:2], asked, tmp_path / "out")
    (path,) = (tmp_path / "out" / "sample").iterdir()
    first = read_runs(path)
    for row in ROWS[:2]:
        times = first[row].times
        assert first[row].pages == 40 and times is not None and 0 < len(times) <= first[row].targets
        assert max(times) < 9 and 0 < len(first[row].hits) <= first[row].targets, "each run ends with its own budget"
        assert all(first[BOUND].recall_at_page(n) >= first[row].recall_at_page(n) for n in range(1, 41))
    lines = path.read_text().splitlines()

    command = ["quality.py", "sample", TOPIC, "--orderings", "adaptive", "dom", "--pages", "20", "40", "--seconds", "8"]
    command += ["--out", tmp_path / "out", "--json", tmp_path / "found.json"]
    monkeypatch.setattr(
        quality, "_measure", lambda chosen, asked, rows: measure("sample", TOPIC, rows, asked, chosen.out)
    )
    monkeypatch.setattr(sys, "argv", list(map(str, command)))
    quality.main()
    assert path.read_text().splitlines()[: len(lines)] == lines, "what was measured is not measured again"
    assert read_runs(path).keys() == {*ROWS, Row.spelled("adaptive/k1"), BOUND}
    printed = capsys.readouterr().out
    assert "dom/active" in printed and "@8s" in printed and "pages/s" in printed
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["topics"] == ["sample/demo"]
    shown = {row["ordering"]: row for row in document["rows"]}
    assert shown["dom/as_is"]["mean"]["@40"] == first[ROWS[1]].recall_at_page(40)
    assert shown["bound"]["mean"]["@8s"] is None and shown["bound"]["pages_per_second"] is None

    with pytest.raises(BadInput, match="expected another folder"):
        Ledger(tmp_path / "out", Asked((20, 50), (8.0,)))
