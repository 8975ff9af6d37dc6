"""The benchmark of copies: a small run reaches the promised precision and recall."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.duplicates import PAIRS, a_reader, check_estimates, cost, judge_generated, judge_real, made_up_pages
from benchmarks.edited_pages import COPIES, OTHERS, edited_pairs

WEBS = Path(os.environ.get("DEVELOPMENT_WEBS", "nowhere"))  # a folder for the option --webs


def test_generated_pairs_are_distinguished():
    scores = judge_generated(a_reader(), seed=11, per_kind=25)
    assert set(scores) == {*COPIES, *OTHERS}
    found, copies = (sum(getattr(score, name) for score in scores.values()) for name in ("found", "copies"))
    wrongly = sum(score.wrongly for score in scores.values())
    assert found / copies >= 0.95
    assert found / (found + wrongly) >= 0.95


def test_pairs_are_the_same_each_time_and_as_they_say():
    one, two = (list(edited_pairs(3, 1)) for _ in range(2))
    assert [pair.second.html() for pair in one] == [pair.second.html() for pair in two]
    assert all(pair.first.url != pair.second.url for pair in one)


def test_estimates_are_right_on_average_and_what_is_far_above_the_threshold_is_found():
    for step, mean, spread, found in check_estimates(seed=5, pairs=150):
        assert abs(mean) < 0.04
        assert spread < 0.08
        if step >= 0.8:
            assert found == 1.0
        if step < 0.5:
            assert found == 0.0


def test_cost_and_memory_are_reported():
    reader = a_reader()
    figures = cost(reader, made_up_pages(reader, 1, 200))
    assert figures["all, us"] > 0
    assert 150 < figures["memory, bytes an original"] < 600
    assert 300 < figures["disk, bytes an original"] < 1200


def test_labels_are_pairs_of_urls():
    lines = [line.split("\t") for line in PAIRS.read_text().splitlines()]
    assert len(lines) > 100
    assert {label for *_, label in lines} == {"0", "1"}
    assert all(one.startswith("http") and two.startswith("http") and one != two for _, one, two, _ in lines)


@pytest.mark.skipif(not (WEBS / "webkb").is_dir(), reason="needs DEVELOPMENT_WEBS")
def test_pairs_that_a_person_read_are_distinguished(tmp_path: Path):
    labels = tmp_path / "pairs.tsv"
    labels.write_text("".join(line + "\n" for line in PAIRS.read_text().splitlines() if line.startswith("webkb")))
    (score,) = judge_real(a_reader(), labels, WEBS).values()
    assert score.precision >= 0.95
    assert score.recall >= 0.95
