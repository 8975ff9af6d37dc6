"""The simulated readers of ``benchmarks/companion.py``."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import pytest
from support.pages import a_page

from benchmarks import companion as benchmark
from benchmarks.simulated_reader import Step
from crawlproject.topic.parse import load_topic

ROOT = Path(__file__).resolve().parents[3]


def step(url: str, is_target: bool) -> Step:
    return Step(a_page(url), 10.0, is_target, False)


def test_a_target_counts_when_it_was_suggested_one_to_three_clicks_before() -> None:
    steps = [step(name, name == "t") for name in ("a", "b", "c", "d", "t")]

    def early(*suggested: int) -> tuple[float, float]:
        shown = [{"t"} if number in suggested else set() for number in range(5)]
        found = benchmark.measures(steps, shown, 10, {"t", "u"})
        return found["early"], found["early2"]

    assert [early(number) for number in range(5)] == [(0, 0), (1, 1), (1, 1), (1, 0), (0, 0)]
    found = benchmark.measures(steps, [{"t", "x"}, {"t", "u", "y"}, set(), set(), set()], 10, {"t", "u"})
    assert (found["precision"], found["found"], found["read"], found["fetches"]) == (0.5, 2.0, 1.0, 2.0)
    nothing = benchmark.measures(steps[:2], [set(), set()], 0, {"t"})
    assert math.isnan(nothing["early"]) and math.isnan(nothing["precision"]) and nothing["read"] == 0.0


@pytest.mark.slow
def test_on_the_sample_web_the_look_ahead_finds_what_a_reader_alone_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = argparse.Namespace(readers=1, clicks=8, noise=0.1, follow=0.5, fetches=12, ahead=3)
    topics = [load_topic(ROOT / "topics" / f"{name}.toml") for name in ("demo", "demo-bread")]
    policies = ("none", "anchors", "dom")
    lines = list(benchmark.run("sample", topics, policies, arguments))
    assert [(line["topic"], line["policy"]) for line in lines] == [
        (topic.name, policy) for topic in topics for policy in policies
    ]
    by = {(line["topic"], line["policy"]): line for line in lines}
    for topic in topics:
        assert by[topic.name, "none"]["found"] == by[topic.name, "none"]["fetches"] == 0
        assert by[topic.name, "anchors"]["fetches"] == 0 < float(str(by[topic.name, "dom"]["fetches"])) <= 12
    assert sum(float(str(by[topic.name, "dom"]["found"])) for topic in topics) > 0
    table = "\n".join(benchmark.summary(lines, policies, "none"))
    assert "early" in table and "dom" in table
    assert list(benchmark.run("sample", topics, policies, arguments)) == lines  # the same random draws again
