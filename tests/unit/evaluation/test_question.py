"""Repeats averaged, and the measures that need the pool of all crawls."""

import json
from math import log2

import numpy as np
import pytest

from crawlproject.errors import BadInput
from crawlproject.evaluation.compare import compare
from crawlproject.evaluation.question import ClickLog, Question, mean_curve
from crawlproject.evaluation.runs import find_runs
from crawlproject.reports.verdict import remarks

RELEVANCE = {"a": 0.9, "b": 0.6, "c": 0.3, "d": 0.0}


def url_of(name):
    return f"http://h.example/{name}"


@pytest.fixture
def crawled(write_crawl, page, tmp_path):
    """``crawled(ordering, "abc", ...)`` writes a run that fetched these pages; the targets are a and b."""

    def make(ordering, names, topic="t", seed=1, **settings):
        visits = [page(url_of(name), relevance=RELEVANCE[name]) for name in names]
        facts = {"name": topic, "targets": [url_of("a"), url_of("b")], "keywords": ["reef"], "seeds": [url_of("a")]}
        chosen = {"CRAWL_SEED": seed, **settings}
        folder = tmp_path / "runs" / topic / f"{ordering} {seed} {settings}"
        write_crawl(folder, visits, topic=facts, ordering=ordering, settings=chosen)
        return tmp_path / "runs"

    return make


def mean_of(runs, at, **question):
    comparison = compare(find_runs(runs), Question(at=(at,), **question))
    return dict(zip(comparison.orderings, comparison.mean[:, comparison.at(at)].tolist(), strict=True))


def test_repeats_of_a_topic_are_averaged_before_topics_are(crawled):
    crawled("dom", "ab", seed=1)
    crawled("dom", "cd", seed=2)
    runs = crawled("dom", "ac", topic="u")
    # Topic t: (1 + 0) / 2 of the targets; topic u: 1/2; the mean over two topics, not over three runs.
    comparison = compare(find_runs(runs), Question(at=(2,)))
    assert comparison.values[0, :, comparison.at(2)].tolist() == [0.5, 0.5]
    assert comparison.lengths.tolist() == [[2, 2]]


def test_the_same_seed_twice_is_refused(crawled, write_crawl, tmp_path):
    runs = crawled("dom", "ab")
    write_crawl(runs / "again", topic={"name": "t", "seeds": [url_of("a")]}, settings={"CRAWL_SEED": 1})
    with pytest.raises(BadInput, match="another"):
        find_runs(runs)


def test_runs_with_other_settings_are_other_contenders(crawled):
    crawled("best_first", "ab", FRONTIER_COMMIT=1, FRONTIER_MAX_URLS=9)
    runs = crawled("best_first", "cd", FRONTIER_COMMIT=256, FRONTIER_MAX_URLS=9)
    names = ["best_first FRONTIER_COMMIT=1", "best_first FRONTIER_COMMIT=256"]
    assert [run.ordering for run in find_runs(runs)] == names


def test_target_recall_counts_all_targets_and_another_measure_those_within_reach(write_crawl, page, tmp_path):
    """Equation 4 of paper 003: six targets, of which the seeds lead to four; the crawl finds three."""
    targets = [url_of(name) for name in "abcdef"]
    facts = {"name": "t", "targets": targets, "seeds": [url_of("a")]}
    write_crawl(tmp_path / "t" / "dom", [page(url_of(name)) for name in "abxc"], topic=facts)
    (tmp_path / "t" / "reachable.json").write_text(json.dumps({"targets": targets[:4]}))
    assert mean_of(tmp_path, 4) == {"dom": 0.5}
    assert mean_of(tmp_path, 4, measure="reachable") == {"dom": 0.75}
    # Three of six are half; of four, two are, which the second page brings.
    halves = [compare(find_runs(tmp_path), Question(name, (4,))).half.tolist() for name in ("recall", "reachable")]
    assert halves == [[[4]], [[2]]]


def test_the_targets_within_reach_are_those_that_any_run_could_reach(write_crawl, page, tmp_path):
    for seeds, targets in (("given", ["a"]), ("augmented", ["a", "b"])):
        facts = {"name": "t", "targets": [url_of("a"), url_of("b")], "seeds": [url_of(name) for name in targets]}
        write_crawl(tmp_path / seeds / "t" / "dom", [page(url_of("a"))], topic=facts)
        reachable = {"targets": [url_of(name) for name in targets]}
        (tmp_path / seeds / "t" / "reachable.json").write_text(json.dumps(reachable))
    found = mean_of(tmp_path, 1, measure="reachable")
    assert found == {"dom seeds=augmented": 0.5, "dom seeds=given": 0.5}


def test_runs_from_split_seeds_are_one_contender_and_overlap(write_crawl, page, tmp_path):
    """Paper 000 section 4.2: of two crawls of three pages each, two pages are in both."""
    for half, seeds, pages in (("half-1", "ac", "acd"), ("half-2", "b", "bdc")):
        facts = {"name": "t", "targets": [url_of("b"), url_of("d")], "seeds": [url_of(name) for name in seeds]}
        write_crawl(tmp_path / half / "t" / "dom", [page(url_of(name)) for name in pages], topic=facts)
    assert mean_of(tmp_path, 1, measure="overlap") == {"dom": 0}
    assert mean_of(tmp_path, 3, measure="overlap") == {"dom": pytest.approx(2 / 3)}
    assert mean_of(tmp_path, 3) == {"dom": 0.75}


def test_robustness_at_shares_of_the_targets(write_crawl, page, tmp_path):
    """Targets b and d. The first crawl finds one of them, with its third page; then two of three pages are shared."""
    for half, seeds, pages in (("half-1", "a", "acd"), ("half-2", "b", "bdc")):
        facts = {"name": "t", "targets": [url_of("d"), url_of("b")], "seeds": [url_of(name) for name in seeds]}
        write_crawl(tmp_path / half / "t" / "dom", [page(url_of(name)) for name in pages], topic=facts)
    comparison = compare(find_runs(tmp_path), Question(at=(3,)))
    assert comparison.robust(0) == {0.25: (pytest.approx(2 / 3), 1), 0.5: (pytest.approx(2 / 3), 1)}
    note = "overlap when both crawls from split seeds have found 25% of the targets 0.667 (1), 50% of the targets 0.667 (1)"
    assert any(note in remark for remark in remarks(comparison))


def test_clicks_are_a_measure_when_there_is_a_log(crawled):
    runs = crawled("dom", "ad")
    log = ClickLog({"reef": {url_of("a"): 3, url_of("b"): 1}})
    assert mean_of(runs, 1, measure="clicks", clicks=log) == {"dom": 0.75}
    comparison = compare(find_runs(runs), Question(at=(1,), clicks=log))
    assert comparison.others["ndcg"].tolist() == [[pytest.approx(3 / (3 + 1 / log2(3)))]]
    assert "ndcg" not in compare(find_runs(runs), Question(at=(1,))).others


def test_overlap_asks_for_runs_from_split_seeds(crawled):
    with pytest.raises(BadInput, match="no runs from split seeds"):
        mean_of(crawled("dom", "adc"), 1, measure="overlap")


def test_static_scheme_over_the_pool_of_both_crawls(crawled):
    crawled("dom", "adc")
    runs = crawled("random", "bcd")
    # The two best pages of the pool are a and b: each crawl found one of them.
    assert mean_of(runs, 3, measure="top", top=2) == {"dom": 0.5, "random": 0.5}
    assert mean_of(runs, 1, measure="top", top=1) == {"dom": 1, "random": 0}


def test_dynamic_scheme_and_weighted_coverage_over_the_pool(crawled):
    crawled("dom", "adc")
    runs = crawled("random", "bcd")
    # Ranks of four pages are 1 to 4. dom: mean (1 + 4 + 3) / 3, turned round (4 - 8/3) / 3; random: (2 + 3 + 4) / 3.
    assert mean_of(runs, 3, measure="rank") == pytest.approx({"dom": 4 / 9, "random": 1 / 3})
    # Weights 0.9, 0.6, 0.3, 0 sum to 1.8.
    assert mean_of(runs, 3, measure="coverage") == pytest.approx({"dom": 1.2 / 1.8, "random": 0.9 / 1.8})


def test_a_scorer_takes_the_place_of_the_relevance_that_was_noted(crawled):
    runs = crawled("dom", "ab")
    asked = []

    def scorer(info, urls):
        asked.append((info.topic, info.keywords, sorted(urls)))
        return dict.fromkeys(urls, 0.25)

    comparison = compare(find_runs(runs), Question("precision", (2,), importance="mine"), scorer)
    assert comparison.mean[0, comparison.at(2)] == 0.25
    assert asked == [("t", ("reef",), [url_of("a"), url_of("b")])]
    assert comparison.others["harvest"].tolist() == [[1]]


def test_a_threshold_that_nothing_reaches_is_refused():
    for threshold in (float("nan"), float("inf")):
        with pytest.raises(BadInput, match="--threshold: expected a number"):
            Question("harvest", threshold=threshold)


def test_every_measure_is_reported_at_the_last_checkpoint(crawled):
    crawled("dom", "cab")
    comparison = compare(find_runs(crawled("random", "dca")), Question("precision", (2,), threshold=0.5, top=1))
    row = comparison.orderings.index("dom")
    facts = {name: values[row, 0] for name, values in comparison.others.items()}
    assert facts["recall"] == 0.5 and facts["harvest"] == 0.5 and facts["top"] == 1
    assert facts["precision"] == facts["relevance"] == pytest.approx(0.6)
    # Half of the two targets: dom has one after its second page, random after its third.
    assert dict(zip(comparison.orderings, comparison.half[:, 0], strict=True)) == {"dom": 2, "random": 3}


def test_recall_asks_for_no_importance_and_an_unknown_measure_is_refused():
    with pytest.raises(BadInput, match="recall"):
        Question("recall", importance="pagerank")
    with pytest.raises(BadInput, match="beauty"):
        Question("beauty")


def test_the_mean_of_curves_keeps_the_last_value_of_the_shorter_one():
    curves = [np.array([1.0, 0.0]), np.array([0.0, 1.0, 2.0, 4.0]), np.array([])]
    assert mean_curve(curves) == pytest.approx([1 / 3, 1 / 3, 2 / 3, 4 / 3])
