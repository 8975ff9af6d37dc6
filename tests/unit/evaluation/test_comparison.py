"""Comparison of orderings."""

import numpy as np
import pytest

from crawlproject.errors import BadInput
from crawlproject.evaluation.compare import compare
from crawlproject.evaluation.question import Question
from crawlproject.evaluation.runs import find_runs

CLEAR = {
    "omniscient": [1.0] * 8,
    "dom": [0.30, 0.28, 0.33, 0.31, 0.29, 0.30, 0.32, 0.27],
    "best_first": [0.10, 0.11, 0.09, 0.10, 0.12, 0.08, 0.10, 0.11],
    "random": [0.01] * 8,
}


@pytest.fixture
def compared(write_runs, tmp_path):
    def make(skills, question):
        return compare(find_runs(write_runs(tmp_path, skills)), question)

    return make


def two_topics(write_crawl, page, folder):
    """Worked by hand: per topic two targets among four pages; `dom` finds them sooner."""
    for topic in ("t0", "t1"):
        x, y, p, q = (f"http://{topic}.example/{name}" for name in "xypq")
        orders = {"dom": (x, p, y, q), "random": (p, q, x, y), "omniscient": (x, y, p, q)}
        for ordering, urls in orders.items():
            relevance = {x: 0.8, y: 0.6, p: 0.2, q: 0.0}
            visits = [page(url, relevance=relevance[url]) for url in urls]
            write_crawl(folder / topic / ordering, visits, topic={"name": topic, "targets": [x, y]}, ordering=ordering)
    return find_runs(folder)


def test_recall_and_share_worked_by_hand(write_crawl, page, tmp_path):
    comparison = compare(two_topics(write_crawl, page, tmp_path), Question(at=(1, 2, 4)))
    assert comparison.orderings == ("omniscient", "dom", "random")
    at = [comparison.at(pages) for pages in (1, 2, 4)]
    assert comparison.mean[:, at].tolist() == [[0.5, 1, 1], [0.5, 0.5, 1], [0, 0, 1]]
    # Areas: omniscient (.5+1+1+1)/4 = .875, dom (.5+.5+1+1)/4 = .75, random (0+0+.5+1)/4 = .375.
    assert comparison.shares() == pytest.approx({"omniscient": 1, "dom": 0.75, "random": 0})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (Question("precision", (2,)), 0.5),  # dom: (0.8 + 0.2) / 2
        (Question("harvest", (3,), threshold=0.5), 2 / 3),  # 0.8 and 0.6 of three pages
        (Question("relevance", (4,), window=2), 0.3),  # the last two: (0.6 + 0.0) / 2
    ],
)
def test_other_measures_worked_by_hand(write_crawl, page, tmp_path, question, expected):
    comparison = compare(two_topics(write_crawl, page, tmp_path), question)
    row = comparison.orderings.index("dom")
    assert comparison.mean[row, comparison.at(question.at[0])] == pytest.approx(expected)


def test_a_clear_winner_is_named_and_the_omniscient_ordering_is_no_contender(compared):
    comparison = compared(CLEAR, Question(at=(50, 100)))
    assert comparison.orderings == ("omniscient", "dom", "best_first", "random")
    assert comparison.ranking(100) == ["dom", "best_first", "random"]
    assert comparison.rivals(100) == []
    assert [(duel.better, duel.worse) for duel in comparison.steps(100)] == [
        ("dom", "best_first"),
        ("best_first", "random"),
    ]
    assert len(comparison.duels[100]) == 6
    assert all(duel.adjusted >= duel.test.p for duel in comparison.duels[100])


def test_twins_have_no_winner(compared):
    skills = {"dom": [0.1, 0.2, 0.3, 0.2], "dom_again": [0.2, 0.1, 0.2, 0.3]}
    comparison = compared(skills, Question(at=(50,)))
    assert [duel.worse for duel in comparison.rivals(50)] == [comparison.ranking(50)[1]]


def test_a_single_topic_has_means_but_no_test(compared):
    comparison = compared({"dom": [0.5], "random": [0.1]}, Question(at=(50,)))
    assert np.isnan(comparison.error).all()
    assert not comparison.testable
    assert comparison.rivals(50)[0].test.why == "needs at least two topics"
    assert comparison.shares() == {}


def test_topics_that_some_ordering_missed_are_left_out(compared):
    comparison = compared({"dom": [0.5, 0.5, 0.5], "random": [0.1, 0.1]}, Question(at=(50,)))
    assert comparison.topics == ("t0", "t1")
    assert comparison.left_out == {"t2": "no run of random"}


def test_a_damaged_run_leaves_the_others(write_crawl, page, tmp_path):
    two_topics(write_crawl, page, tmp_path)
    history = tmp_path / "t0" / "dom" / "history.jsonl"
    history.write_bytes(b"{" + history.read_bytes())
    comparison = compare(find_runs(tmp_path), Question(at=(2,)))
    assert (
        comparison.topics == ("t1",)
        and "damaged" in comparison.left_out["t0"]
        and str(history) in comparison.left_out["t0"]
    )
    (tmp_path / "t1" / "dom" / "crawl.json").write_text("{")
    told: list[str] = []
    assert len(find_runs(tmp_path, told.append)) == 5 and "crawl.json" in told[0]


def test_no_common_topic_is_refused(write_crawl, tmp_path):
    write_crawl(tmp_path / "a", topic={"name": "a"}, ordering="dom")
    write_crawl(tmp_path / "b", topic={"name": "b"}, ordering="random")
    with pytest.raises(BadInput, match="no run of random"):
        compare(find_runs(tmp_path), Question())


def test_recall_needs_targets_and_other_measures_do_not(write_crawl, page, tmp_path):
    write_crawl(tmp_path / "a", [page("http://a.example/", relevance=0.4)])
    with pytest.raises(BadInput, match="no targets"):
        compare(find_runs(tmp_path), Question())
    comparison = compare(find_runs(tmp_path), Question("precision"))
    assert comparison.checkpoints == (1,)
    assert comparison.mean.tolist() == [[0.4]]


def test_checkpoints_are_within_the_longest_run(compared):
    skills = {"dom": [0.5, 0.4]}
    assert compared(skills, Question()).checkpoints == (100,)
    with pytest.raises(BadInput, match="at most 200"):
        compared(skills, Question(at=(100, 5000)))


def test_runs_without_any_page_are_refused(write_crawl, tmp_path):
    write_crawl(tmp_path / "a")
    with pytest.raises(BadInput, match="at least one crawled page"):
        compare(find_runs(tmp_path), Question("precision"))


def test_a_redirect_seen_by_one_ordering_counts_for_all(write_crawl, page, tmp_path):
    topic = {"name": "t", "targets": ["http://a.example/old"]}
    moved = page("http://a.example/old", md5="", status=301, redirect="http://a.example/new")
    write_crawl(tmp_path / "t" / "dom", [moved, page("http://a.example/new")], topic=topic, ordering="dom")
    write_crawl(tmp_path / "t" / "random", [page("http://a.example/new")], topic=topic, ordering="random")
    comparison = compare(find_runs(tmp_path), Question(at=(1,)))
    assert comparison.mean.tolist() == [[1.0], [1.0]]
