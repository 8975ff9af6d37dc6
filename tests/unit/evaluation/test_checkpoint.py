"""Comparisons after a given time: recall, areas, tests, and the errors for runs without times."""

import csv
import json

import numpy as np
import pytest
from support.invoking import invoke

from crawlproject.commands import compare as command
from crawlproject.errors import BadInput
from crawlproject.evaluation import measures
from crawlproject.evaluation.compare import compare
from crawlproject.evaluation.question import Question
from crawlproject.evaluation.runs import Elapsed, find_runs, read_checkpoints

CLOCK = {"CONCURRENT_REQUESTS": 64}


def test_pages_and_seconds_are_told_apart():
    assert read_checkpoints(["100,500", "60s", "2.5s"]) == (100, 500, Elapsed(60.0), Elapsed(2.5))
    assert (str(Elapsed(60.0)), str(Elapsed(2.5))) == ("60s", "2.5s")


@pytest.mark.parametrize("text", ["ten", "60m", "s", "1.5", "0", "-3", "0s", "-1s", "infs", "nans", "6 0s"])
def test_bad_checkpoints_are_refused_by_name(text):
    with pytest.raises(BadInput, match=f"^--at {text}: expected"):
        read_checkpoints(["100", text])


def test_the_area_over_time_worked_by_hand():
    """0 until second 2, then a half until second 6, then 1 until 10: (0 + 2 + 4) / 10."""
    curve, times = np.array([0.5, 1.0]), np.array([2.0, 6.0])
    assert measures.area_over_time(curve, times, 10.0) == pytest.approx(0.6)
    assert measures.area_over_time(curve, times, 4.0) == pytest.approx(0.25)
    assert measures.area_over_time(np.zeros(0), np.zeros(0), 10.0) == 0.0


def test_before_the_first_page_nothing_is_found():
    assert measures.values_at(np.array([0.5, 1.0]), [0, 1]).tolist() == [0.0, 0.5]


@pytest.fixture
def two_topics(write_crawl, page, tmp_path):
    """Two targets among four pages per topic: `slow` finds both first, after 10 and 40 s; `fast` both last, after 6 and 8 s."""

    def make(started=1000.0, settings=CLOCK, **manifest):
        for topic in ("t0", "t1"):
            x, y, p, q = (f"http://{topic}.example/{name}" for name in "xypq")
            for ordering, urls, times in (
                ("slow", (x, y, p, q), (10, 40, 50, 60)),
                ("fast", (p, q, x, y), (2, 4, 6, 8)),
            ):
                visits = [page(url, at=(started or 0.0) + at) for url, at in zip(urls, times, strict=True)]
                facts = {"topic": {"name": topic, "targets": [x, y]}, "ordering": ordering, "settings": settings}
                write_crawl(tmp_path / topic / ordering, visits, started=started, **facts, **manifest)
        return tmp_path

    return make


def mean_at(comparison, point):
    return dict(zip(comparison.orderings, comparison.mean[:, comparison.at(point)].tolist(), strict=True))


def test_recall_after_a_time_worked_by_hand(two_topics):
    times = tuple(map(Elapsed, (1.0, 6.0, 9.0, 30.0, 40.0)))
    comparison = compare(find_runs(two_topics()), Question(at=(2, *times)))
    assert comparison.checkpoints == (2, *times) and comparison.finals == (2, Elapsed(40.0))
    assert comparison.ranking(2) == ["slow", "fast"] == list(comparison.orderings), (
        "pages decide the order of the table"
    )
    found = {point: mean_at(comparison, point) for point in comparison.checkpoints}
    assert [found[point]["slow"] for point in times] == [0, 0, 0, 0.5, 1]
    assert [found[point]["fast"] for point in times] == [0, 0.5, 1, 1, 1]
    assert comparison.ranking(Elapsed(9.0)) == ["fast", "slow"]
    assert [(duel.better, duel.test.difference) for duel in comparison.steps(Elapsed(9.0))] == [("fast", 1.0)]


def test_times_alone_rank_and_their_areas_are_over_time(two_topics):
    comparison = compare(find_runs(two_topics()), Question(at=(Elapsed(20.0),)))
    assert comparison.orderings == ("fast", "slow") and comparison.final == Elapsed(20.0)
    # fast: (14 + 12) / 2 of 20 s; slow: 10 / 2.
    assert comparison.recall_area.tolist() == [[0.65, 0.65], [0.25, 0.25]]
    assert comparison.others["recall"].tolist() == [[1, 1], [0.5, 0.5]]


@pytest.mark.parametrize("measure", ["harvest", "precision", "coverage", "top", "rank", "relevance"])
def test_every_measure_can_be_asked_after_a_time(two_topics, measure):
    """After 9 s, `fast` has the pages that it has after four pages."""
    comparison = compare(find_runs(two_topics()), Question(measure, at=(4, Elapsed(9.0))))
    assert mean_at(comparison, Elapsed(9.0))["fast"] == mean_at(comparison, 4)["fast"]


def test_a_time_after_the_longest_run_is_refused(two_topics):
    with pytest.raises(BadInput, match=r"^--at 61s: expected at most 60s, the time of the longest run"):
        compare(find_runs(two_topics()), Question(at=(Elapsed(60.0), Elapsed(61.0))))


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [({"started": None}, "does not say when it started"), ({"started": 0.0, "settings": {}}, "by an older version")],
)
def test_runs_without_comparable_times_are_refused_for_times_only(two_topics, manifest, reason):
    runs = find_runs(two_topics(**manifest))
    with pytest.raises(BadInput, match=rf"^--at 9s: expected .*t0/\w+ .*{reason}"):
        compare(runs, Question(at=(2, Elapsed(9.0))))
    assert compare(runs, Question(at=(2,))).orderings == ("slow", "fast")


def test_a_live_crawl_has_times_without_saying_how_many_fetches_it_had(two_topics):
    assert mean_at(compare(find_runs(two_topics(settings={})), Question(at=(Elapsed(9.0),))), Elapsed(9.0))["fast"] == 1


def test_the_command_shows_times_everywhere(two_topics, tmp_path, capsys):
    runs = two_topics(reason="page budget")
    files = ("--json", tmp_path / "c.json", "--csv", tmp_path / "c.csv", "--figure", tmp_path / "c.svg")
    assert invoke(command.CompareCommand(), runs, "--at", "2", "9s,40s", *files) == 0
    printed = capsys.readouterr().out
    assert "after N pages and after a time" in printed
    assert "@2" in printed and "@9s" in printed and "@40s" in printed
    assert "Significance at N = 2:" in printed and "Significance at t = 40 s:" in printed and "t = 9 s: " in printed
    assert "fast had spent its budget of pages before 40 s on 2 topics" in printed
    assert "slow had spent" not in printed

    document = json.loads((tmp_path / "c.json").read_text())
    assert document["checkpoints"] == [2, "9s", "40s"]
    assert document["orderings"]["fast"]["mean"] == {"2": 0.0, "9s": 1.0, "40s": 1.0}
    assert set(document["tests"]) == set(document["verdicts"]) == {"2", "9s", "40s"}
    assert [(step["at"], step["better"]) for step in document["steps"]] == [("2", "slow"), ("40s", "slow")]
    rows = [(row["pages"], row["seconds"]) for row in csv.DictReader((tmp_path / "c.csv").open())]
    assert set(rows) == {("2", ""), ("", "9"), ("", "40")}
    page = (runs / "compare.html").read_text()
    assert (
        page.count('<svg class="chart"') == 2
        and ">pages crawled<" in page
        and ">seconds<" in page
        and "Significance at 40 s" in page
    )
    assert ">pages crawled<" in (tmp_path / "c.svg").read_text()


def test_the_figure_is_over_time_when_only_times_are_asked(two_topics, tmp_path, capsys):
    assert invoke(command.CompareCommand(), two_topics(), "--at", "9s", "--figure", tmp_path / "c.svg") == 0
    assert ">seconds<" in (tmp_path / "c.svg").read_text()
    assert "after a time:" in capsys.readouterr().out
