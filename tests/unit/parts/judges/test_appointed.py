"""A judge that fails, hangs or returns nonsense: its pages are judged by words, which is counted and reported once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.judges import a_judge, a_read_page, relevance
from support.pages import ANALYZER

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.judges import appointed
from crawlproject.parts.judges.appointed import AppointedJudge
from crawlproject.parts.judges.base import Judge, NoAnswer, Text
from crawlproject.records import Page, Span

BY_WORDS = 2 / 3  # of "reef coral lake" with the keywords coral, reef, polyp


class Scripted(Judge):
    """Returns the values of a list one after the other, and raises those that are exceptions."""

    answers: list[object]

    def judge(self, texts: Sequence[Text]) -> Sequence[float]:
        said = type(self).answers.pop(0)
        if isinstance(said, BaseException):
            raise said
        return said  # type: ignore[return-value]


class ScriptedAsker(Scripted):
    asks = True


class Hanging(Judge):
    asks = True
    over = threading.Event()
    calls = 0

    def judge(self, texts: Sequence[Text]) -> Sequence[float]:
        type(self).calls += 1
        self.over.wait(30)
        return [1.0]


def made(kind: type[Judge], folder: Path | None = None, **settings: object) -> AppointedJudge:
    judge = a_judge(f"{kind.__module__}:{kind.__name__}", folder, **settings)
    assert isinstance(judge, AppointedJudge)
    return judge


NONSENSE: list[object] = [
    [float("nan")], [1.1], [-0.1], [], [0.5, 0.5], ["much"], None, [None], 7, NoAnswer("tired"), KeyError("x"), OSError(),
]  # fmt: skip


@pytest.mark.parametrize("kind", [Scripted, ScriptedAsker])
@pytest.mark.parametrize("said", NONSENSE)
def test_what_is_no_answer_leaves_a_page_to_its_words(kind: type[Scripted], said: object, tmp_path: Path) -> None:
    kind.answers = [said, [0.25]]
    judge = made(kind, tmp_path)
    assert relevance(judge, "reef coral lake") == pytest.approx(BY_WORDS)
    assert relevance(judge, "reef coral lake") == 0.25
    assert sum(number for name, number in judge.counters().items() if name.startswith("judge/failed/")) == 1


class Unsteady(ScriptedAsker):
    """Fails where it is asked for a first relevance, and whether to ask it."""

    def first(self, page: Page) -> float:
        return float(str(self.given.topic.name) + " is no number")

    def wants(self, first: float) -> bool:
        raise OSError("out of order")


class Boundless(ScriptedAsker):
    def first(self, page: Page) -> float:
        return 7.0


def test_a_judge_that_fails_before_it_is_asked_leaves_a_page_to_its_words(tmp_path: Path) -> None:
    for kind in (Unsteady, Boundless):
        judge, page = made(kind), a_read_page("reef coral lake")
        assert judge.first(page) == pytest.approx(BY_WORDS)
        assert judge.with_relevance(page).relevance == pytest.approx(BY_WORDS)
    judge = made(Unsteady, tmp_path)
    assert judge.question(page, judge.first(page)) is None
    assert judge.counters() == {"judge/failed/value": 1, "judge/failed/os": 1}


def test_it_is_told_once_and_counted_by_reason(caplog: pytest.LogCaptureFixture) -> None:
    Scripted.answers = [NoAnswer("status 500"), NoAnswer("status 500"), OSError("secret of the error")]
    judge = made(Scripted)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            relevance(judge, "reef")
    assert len(caplog.records) == 1 and "status 500" in caplog.text and "secret" not in caplog.text
    assert judge.counters() == {"judge/failed/status 500": 2, "judge/failed/os": 1}


def test_a_crawl_does_not_wait_in_a_judge_that_asks(tmp_path: Path) -> None:
    ScriptedAsker.answers = [[0.9]]
    judge = made(ScriptedAsker)
    assert relevance(judge, "reef coral lake") == pytest.approx(BY_WORDS)  # no wait: the judge was not asked
    page = a_read_page("reef coral lake")
    question = judge.question(page, judge.first(page))
    assert question is not None
    judge.tell(page.url, question.result(10))
    assert judge.with_relevance(page).relevance == 0.9
    assert judge.with_relevance(page).relevance == pytest.approx(BY_WORDS)  # an answer is for one scoring
    judge.tell(page.url, 0.5)
    judge.tell(page.url, None)
    assert judge.with_relevance(page).relevance == pytest.approx(BY_WORDS)


def test_a_judge_that_hangs_is_left_alone_and_asked_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(appointed, "monotonic", lambda: now)
    Hanging.over.clear()
    Hanging.calls = 0
    judge = made(Hanging, tmp_path, JUDGE_SECONDS=0.05)
    for _ in range(10):
        assert relevance(judge, "reef coral lake") == pytest.approx(BY_WORDS)
    assert Hanging.calls == appointed.IN_A_ROW == 3
    assert judge.counters() == {"judge/asked": 3, "judge/failed/timeout": 3, "judge/resting": 7}
    now += appointed.REST
    for _ in range(10):  # one page tests whether it answers
        relevance(judge, "reef coral lake")
    assert Hanging.calls == 4
    Hanging.over.set()
    now += appointed.REST
    assert relevance(judge, "reef coral lake") == pytest.approx(BY_WORDS)  # twice as long, since the last query failed
    now += appointed.REST
    assert [relevance(judge, "reef coral lake") for _ in range(5)] == [1.0] * 5


def test_contexts_are_judged_by_words_unless_the_judge_is_quick_enough() -> None:
    terms = ANALYZER.terms("coral reef lake")
    by_words: TopicJudge = a_judge("terms", None)
    Scripted.answers = []
    assert made(Scripted).context_scores(terms, [Span(0, 3)]) == by_words.context_scores(terms, [Span(0, 3)])


def test_a_page_without_words_is_not_asked_about(tmp_path: Path) -> None:
    ScriptedAsker.answers = []
    judge = made(ScriptedAsker, tmp_path)
    assert relevance(judge, "") == 0.0 and judge.counters() == {}
