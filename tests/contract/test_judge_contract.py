"""The contract of every relevance judge, whatever it computes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support.judges import a_judge, a_read_page, relevance
from support.judgeserver import JudgeServer, judging
from support.pages import ANALYZER
from support.pipelines import a_pipeline

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.judges.base import Judge, Text
from crawlproject.records import Span

TEXTS = [
    "",
    "   \n\t ",
    "coral reef",
    "the steam engine and its boiler",
    "polyps " * 150_000,  # a megabyte
    "珊瑚礁 大堡礁是世界上最大的珊瑚礁群",
    "Η κοραλλιογενής ύφαλος",
    "الشعاب المرجانية",
    "\ud800 \x00 reef 🪸",
    "x" * 1_000_000,
]


class Lengths(Judge):
    """A judge from outside the project."""

    judges_links = True

    def judge(self, texts: Sequence[Text]) -> Sequence[float]:
        return [min(1.0, sum(text.counts.values()) / 100) for text in texts]


NAMES = ("terms", "vectors", "examples", "embeddings", "llm", f"{__name__}:Lengths")


@pytest.fixture(params=NAMES)
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TopicJudge]:
    with judging(JudgeServer()) as server:
        settings: dict[str, object] = {"JUDGE_URL": server.url, "JUDGE_MODEL": "m", "JUDGE_UNSURE": 1e9}
        if request.param == "vectors":
            settings["TOPIC_VECTORS"] = str(a_pipeline(tmp_path / "vectors"))
        made = a_judge(request.param, tmp_path, **settings)
        yield made
        made.close()


class TestEveryJudge:
    def test_the_relevance_of_any_page_is_from_0_to_1_and_always_the_same(self, judge: TopicJudge) -> None:
        found = [relevance(judge, text) for text in TEXTS]
        assert all(isinstance(value, float) and math.isfinite(value) and 0 <= value <= 1 for value in found)
        assert [relevance(judge, text) for text in TEXTS] == found
        assert found[0] == found[1] == 0.0

    def test_contexts_of_links_are_judged_together_as_one_by_one(self, judge: TopicJudge) -> None:
        terms = ANALYZER.terms("the steam engine, coral reef, polyps of the reef and a boiler")
        spans = [Span(0, 2), Span(2, 4), Span(0, len(terms)), Span(3, 3), Span(2, 4)]
        found = judge.context_scores(terms, spans)
        assert found == pytest.approx([judge.span_score(terms, span) for span in spans])
        assert len(found) == 5 and all(0 <= value <= 1 for value in found) and found[1] == found[4]
        assert judge.context_scores(terms, []) == [] and judge.context_scores([], [Span(0, 0)]) == [0.0]

    def test_it_has_the_keywords_and_turns_to_others(self, judge: TopicJudge) -> None:
        assert dict(judge.query) == {"coral": 1, "reef": 1, "polyp": 1}
        judge.turn_to(["steam engine"])
        assert dict(judge.query) == {"steam": 1, "engin": 1}

    def test_a_page_keeps_all_that_it_is(self, judge: TopicJudge) -> None:
        page = a_read_page("coral reef")
        judged = judge.with_relevance(page)
        assert (judged.url, judged.text, judged.counts, judged.links) == (page.url, page.text, page.counts, page.links)


@pytest.mark.parametrize("name", ["examples", "embeddings", "llm"])
def test_judges_of_ours_know_a_page_on_the_topic(name: str, tmp_path: Path) -> None:
    with judging(JudgeServer()) as server:
        judge = a_judge(name, tmp_path, JUDGE_URL=server.url, JUDGE_MODEL="m", JUDGE_UNSURE=1e9)
        assert relevance(judge, "a lagoon and its coral reef") > 1.1 * relevance(judge, "the boiler of an engine")
