"""The judges of the project, and their registry."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.judges import ARCHIVE, REEF, TOPIC, a_judge, a_read_page, relevance
from support.judgeserver import JudgeServer, embedding, judging
from support.markdown import doc, fences

from crawlproject.configuration import read_options, refuse_unknown
from crawlproject.errors import BadSetting, BadTopic
from crawlproject.language_models import embeddings
from crawlproject.parts.judges import llm
from crawlproject.parts.judges.appointed import AppointedJudge
from crawlproject.parts.judges.base import Judge
from crawlproject.parts.judges.examples import LogisticModel
from crawlproject.parts.judges.llm import read_answer
from crawlproject.parts.judges.registry import judge_class, register
from crawlproject.storage.append_log import read_lines
from crawlproject.topic.parse import parse_topic

UNSURE = "coral lake boat"  # 1 / 3 by the keywords coral, reef, polyp
ROBUST = {"JUDGE_MODEL": "m", "PAGE_RELEVANT": 0.3, "JUDGE_UNSURE": 2}  # from 0.15 to 0.6
KEYWORDS_ONLY = replace(TOPIC, positive=())


def counted(judge: object) -> dict[str, int]:
    assert isinstance(judge, AppointedJudge)
    return {name.removeprefix("judge/"): number for name, number in judge.counters().items()}


# ------------------------------------------------------------ examples


def test_the_model_says_what_scikit_learn_says() -> None:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    good, bad = [{"reef": 3, "sea": 1}, {"coral": 1, "sea": 2}], [{"steam": 2, "sea": 1}, {"oven": 1}, {"steam": 1}]
    model = make_pipeline(
        DictVectorizer(),
        TfidfTransformer(sublinear_tf=True),
        LogisticRegression(C=10.0, class_weight="balanced", max_iter=1_000, tol=1e-6),
    ).fit([*good, *bad], [1, 1, 0, 0, 0])
    ours = LogisticModel(good, bad)
    for counts in ({"reef": 1}, {"sea": 4, "steam": 1, "unheard": 9}, {"oven": 2, "coral": 7}):
        assert ours.probability(counts) == pytest.approx(model.predict_proba([counts])[0, 1], abs=1e-6)
    assert ours.probability({"unheard": 1}) == ours.probability({}) == 0.0


def test_examples_know_words_that_are_no_keywords() -> None:
    judge = a_judge("examples", None)
    assert relevance(judge, "an atoll with a lagoon") > 0.3 > relevance(judge, "the boiler of the engine") == 0.0
    assert relevance(a_judge("terms", None), "an atoll with a lagoon") == 0.0


def test_what_a_tenth_of_all_pages_have_is_nothing() -> None:
    keywords = {"coral": 1, "reef": 1, "polyp": 1}
    pages = [page.counts for page in ARCHIVE.pages.values()]  # the first of them is the example
    by_keywords = sorted(pages[1:], key=lambda counts: -len(counts.keys() & keywords))
    assert all(len(counts.keys() & keywords) == 0 for counts in by_keywords)
    judge = a_judge("examples", None, replace(TOPIC, negative=tuple(url for url in ARCHIVE.pages if url != REEF)))
    model = LogisticModel([pages[0], keywords], pages[1:])
    low, _, _, high, highest = sorted(map(model.probability, pages))
    ordinary = high + 0.6 * (highest - high)  # the 90th percentile of five: a place of 3.6
    found = model.probability({"atol": 1, "coral": 2, "engin": 1})
    assert low < ordinary < found
    text = "atoll coral coral engine"
    assert relevance(judge, text) == pytest.approx((found - ordinary) / (1 - ordinary), abs=1e-6)


def test_without_examples_there_is_a_message() -> None:
    with pytest.raises(BadSetting, match=r"judge examples: has no positive examples: name pages in examples\.positive"):
        a_judge("examples", None, KEYWORDS_ONLY)
    with pytest.raises(BadTopic, match=r"examples\.positive\[0\]: http://nowhere\.example/"):
        a_judge("examples", None, replace(TOPIC, positive=("http://nowhere.example/",)))
    pages = dict(ARCHIVE.pages)
    try:
        ARCHIVE.pages = {REEF: pages[REEF]}
        with pytest.raises(BadSetting, match=r"no negative examples.*, or set ORDERING_ARCHIVE"):
            a_judge("examples", None)
    finally:
        ARCHIVE.pages = pages


# ------------------------------------------------------------ llm


def test_it_is_asked_about_what_is_unsure_and_answers_on_the_scale_of_the_words(tmp_path: Path) -> None:
    for said, expected in (("0", 0.15), ("50", 0.3), ("75", 0.45), ("100%", 0.6), ("<think>hm, 3?</think> 25 ", 0.225)):
        with judging(JudgeServer(says=lambda asked, said=said: said)) as server:
            judge = a_judge("llm", tmp_path / said[:3], KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST)
            assert relevance(judge, UNSURE) == pytest.approx(expected)
            assert relevance(judge, "coral reef polyps") == pytest.approx(1.0)
            assert relevance(judge, "steam engine") == 0.0
            assert len(server.asked) == 1 and "coral reef, polyps" in server.asked[0]["messages"][1]["content"]
            assert server.pages() == [f"\n\n\n\n{UNSURE}"] and server.asked[0]["model"] == "m"


def test_with_examples_they_are_the_cheap_judge(tmp_path: Path) -> None:
    with judging(JudgeServer()) as server:
        judge = a_judge("llm", tmp_path, JUDGE_URL=server.url, JUDGE_MODEL="m", PAGE_RELEVANT=0.2, JUDGE_UNSURE=1)
        examples = a_judge("examples", None)
        assert relevance(judge, "an atoll") == relevance(examples, "an atoll") > 0.2 and not server.asked


def test_no_question_is_asked_twice_also_after_a_resume(tmp_path: Path) -> None:
    with judging(JudgeServer(says=lambda asked: "90")) as server:
        for _ in range(2):
            judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST)
            first = [relevance(judge, text) for text in (UNSURE, UNSURE, "reef lake boat")]
            judge.close()
            server.says = lambda asked: "10"
        assert first == pytest.approx([0.54] * 3) and len(server.asked) == 2
        assert counted(judge) == {"asked": 3, "kept": 3}
    lines = [*read_lines(tmp_path / llm.NAME)]
    assert [(line["url"], line["said"], line["tokens"]) for line in lines] == [("http://c.example/", 0.9, 250)] * 2


def test_a_torn_or_foreign_line_of_answers_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / llm.NAME).write_text('{"other": 1}\n{"question": "x", "said": "?", "tokens": 1}\n{"quest')
    with judging(JudgeServer(says=lambda asked: "90")) as server:
        judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST)
        assert relevance(judge, UNSURE) == pytest.approx(0.54)
    assert len([*read_lines(tmp_path / llm.NAME)]) == 3


WRONG_ANSWERS = [
    {"said": 5}, {"said": -1}, {"said": "nan"}, {"said": None}, {"tokens": -10**6}, {"tokens": "9" * 400}, {"tokens": "inf"},
    {"question": 7}, {"question": ["x"]},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_ANSWERS)
def test_an_answer_that_cannot_be_one_is_neither_used_nor_paid(tmp_path: Path, wrong: dict[str, object]) -> None:
    budget = {"JUDGE_PRICE": 1.0, "JUDGE_MONEY": 0.5, "JUDGE_QUESTIONS": 2}
    with judging(JudgeServer(says=lambda asked: "90")) as server:
        judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST, **budget)
        assert relevance(judge, UNSURE) == pytest.approx(0.54)
        judge.close()
        [line] = read_lines(tmp_path / llm.NAME)
        (tmp_path / llm.NAME).write_text(json.dumps({**line, "tokens": 1, **wrong}) + "\n")
        again = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST, **budget)
        for _ in range(2):
            assert relevance(again, UNSURE) == pytest.approx(0.54)
        assert counted(again)["asked"] == 2 and len(server.asked) == 2


@pytest.mark.parametrize("limit", [{"JUDGE_QUESTIONS": 2}, {"JUDGE_PRICE": 0.4, "JUDGE_MONEY": 0.15}])
def test_the_budget_holds_over_resumes(
    limit: dict[str, object], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with judging(JudgeServer(says=lambda asked: "100")) as server:  # 250 tokens cost 0.1: the second is the last
        settings = {"JUDGE_URL": server.url, **ROBUST, **limit}
        judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, **settings)
        texts = [f"coral lake {word}" for word in ("boat", "fish", "sail", "crew")]
        with caplog.at_level(logging.WARNING):
            assert [relevance(judge, text) for text in texts] == pytest.approx([0.6, 0.6, 1 / 3, 1 / 3])
        assert len(caplog.records) == 1 and "spent after 2 questions" in caplog.text
        assert relevance(a_judge("llm", tmp_path, KEYWORDS_ONLY, **settings), texts[3]) == pytest.approx(1 / 3)
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (JudgeServer(status=500), "status 500"),
        (JudgeServer(status=401), "status 401"),
        (JudgeServer(status=307), "status 307"),
        (JudgeServer(says=lambda asked: "It is about 80, I think"), "nonsense"),
        (JudgeServer(says=lambda asked: "101"), "nonsense"),
        (JudgeServer(says=lambda asked: "-5"), "nonsense"),
        (JudgeServer(says=lambda asked: ""), "nonsense"),
        (JudgeServer(says=lambda asked: None), "nonsense"),
        (JudgeServer(says=lambda asked: b"<html>busy</html>"), "nonsense"),
        (JudgeServer(says=lambda asked: b"[]"), "nonsense"),
        (JudgeServer(says=lambda asked: b'{"choices": []}'), "nonsense"),
        (JudgeServer(says=lambda asked: b"\xff\xfe"), "nonsense"),
        (JudgeServer(says=lambda asked: b" " * (2**24 + 1)), "too long"),
        (JudgeServer(hangs=True), "timeout"),
    ],
)
def test_whatever_the_server_does_a_page_is_judged(broken: JudgeServer, reason: str, tmp_path: Path) -> None:
    with judging(broken) as server:
        seconds = 0.3 if broken.hangs else 10
        judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, JUDGE_SECONDS=seconds, **ROBUST)
        assert relevance(judge, UNSURE) == pytest.approx(1 / 3)
        assert counted(judge) == {"asked": 1, f"failed/{reason}": 1} and len(server.asked) == 1
        assert [*read_lines(tmp_path / llm.NAME)] == []  # a server that hangs answers when the block ends


def test_nobody_at_the_address(tmp_path: Path) -> None:
    with judging(JudgeServer()) as server:
        pass
    judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST)
    assert relevance(judge, UNSURE) == pytest.approx(1 / 3) and counted(judge)["failed/connection"] == 1


def test_the_key_goes_to_the_server_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TOPICAL_JUDGE_KEY", "sk-very-secret\n")
    with judging(JudgeServer(says=lambda asked: "90")) as server, caplog.at_level(logging.DEBUG):
        judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST)
        relevance(judge, UNSURE)
        server.status = 500
        relevance(judge, "reef lake boat")
    assert server.keys == {"Bearer sk-very-secret"} and counted(judge)["failed/status 500"] == 1
    assert "sk-very" not in caplog.text and b"sk-very" not in (tmp_path / llm.NAME).read_bytes()
    assert "judge_url" not in read_options({"JUDGE_URL": "http://me:pw@a.example/v1"}).model_dump()


@pytest.mark.parametrize(
    ("settings", "wish"),
    [
        ({}, "JUDGE_URL: the judge llm needs an address"),
        ({"JUDGE_URL": "http://a.example/v1"}, "JUDGE_MODEL: the judge llm needs"),
        ({"JUDGE_URL": "a.example/v1"}, "expected an address such as"),
        ({"JUDGE_URL": "http://a.example/v1", "JUDGE_MODEL": "m", "JUDGE_MONEY": 1}, "expected JUDGE_PRICE"),
        ({"JUDGE_UNSURE": 0.5}, "JUDGE_UNSURE"),
        ({"JUDGE_SECONDS": 0}, "JUDGE_SECONDS"),
    ],
)
def test_what_is_missing_is_named(settings: dict[str, object], wish: str) -> None:
    with pytest.raises(BadSetting, match=wish):
        a_judge("llm", None, KEYWORDS_ONLY, **settings)


def test_an_answer_without_tokens_costs_nothing() -> None:
    assert read_answer({"choices": [{"message": {"content": "7"}}]}) == (0.07, 0)


# ------------------------------------------------------------ embeddings


def test_an_address_embeds(tmp_path: Path) -> None:
    with judging(JudgeServer()) as server:
        judge = a_judge("embeddings", tmp_path, JUDGE_URL=f"{server.url}/", JUDGE_MODEL="m")
        topic, page = np.array(embedding("coral reef, polyps")), np.array(embedding("lagoon of the engine"))
        topic = topic / np.linalg.norm(topic)
        assert relevance(judge, "lagoon of the engine") == pytest.approx(topic @ page / np.linalg.norm(page))
        assert [len(question["input"]) for question in server.asked] == [1, 1]  # an example of the archive has no text
        server.status = 500
        assert relevance(judge, UNSURE) == pytest.approx(1 / 3) and counted(judge)["failed/status 500"] == 1


@pytest.mark.parametrize("library", ["model2vec", "sentence_transformers"])
def test_an_installed_model_embeds(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self, name: str) -> None:
            if name != "tiny":
                raise OSError("no such model")

        @classmethod
        def from_pretrained(cls, name: str) -> Model:
            return cls(name)

        def encode(self, texts: list[str]) -> list[list[float]]:
            return [embedding(text) for text in texts]

    double = types.ModuleType(library)
    double.StaticModel = double.SentenceTransformer = Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, library, double)
    monkeypatch.setattr(embeddings, "find_spec", lambda name: name == library or None)
    judge = a_judge("embeddings", tmp_path, JUDGE_MODEL="tiny")
    assert relevance(judge, "coral reef") > relevance(judge, "the boiler of an engine") > 0
    with pytest.raises(BadSetting, match=f"{library} cannot load 'none': no such model"):
        a_judge("embeddings", tmp_path, JUDGE_MODEL="none")
    with pytest.raises(BadSetting, match=f"expected the name or the folder of a model of {library}"):
        a_judge("embeddings", tmp_path)


def test_without_a_model_there_is_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match=r"pip install model2vec, or sentence-transformers.*JUDGE_URL"):
        a_judge("embeddings", None)


# ------------------------------------------------------------ the registry


class Half(Judge):
    def judge(self, texts: object) -> list[float]:
        return [0.5]


def test_judges_are_found_by_name_class_and_entry_point(tmp_path: Path) -> None:
    register("half", Half)
    assert judge_class("half") is judge_class(f"{__name__}:Half") is Half
    info = tmp_path / "halves-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[topical.judges]\nhalves = halves:Half\n")
    source = "from crawlproject.parts.judges.base import Judge\nclass Half(Judge):\n    pass\n"
    (tmp_path / "halves.py").write_text(source)
    code = "from crawlproject.parts.judges.registry import judge_class; print(judge_class('halves'))"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "<class 'halves.Half'>\n"


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        ("exampels", "did you mean examples"),
        ("zzzz", "expected one of terms, vectors, examples, embeddings, llm"),
        ("no_such_module:Judge", "cannot be imported"),
        (f"{__name__}:Nobody", "cannot be imported"),
        (f"{__name__}:JudgeServer", "expected a subclass of"),
        (":", "cannot be imported"),
    ],
)
def test_a_wrong_name_is_told(name: str, wish: str) -> None:
    with pytest.raises(BadSetting, match=wish):
        a_judge(name, None)


@pytest.mark.parametrize("code", ["def (", "1 / 0"])
def test_a_module_that_cannot_be_imported_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    (tmp_path / "broken_judge.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadSetting, match=r"'broken_judge:Judge' cannot be imported: (SyntaxError|ZeroDivisionError)"):
        a_judge("broken_judge:Judge", None)


def test_names_of_ours_are_taken() -> None:
    for name in ("terms", "vectors", "examples"):
        with pytest.raises(BadSetting, match="expected a name"):
            register(name, Half)


def test_several_topics_are_judged_by_keywords_only() -> None:
    with pytest.raises(BadSetting, match="needs terms or vectors"):
        a_judge("examples", None, replace(TOPIC, members=(TOPIC,)))


def test_a_topic_file_cannot_say_where_pages_are_sent() -> None:
    refuse_unknown({"JUDGE_URL": "http://a.example/v1"})
    text = 'keywords = ["reef"]\nseeds = ["http://a.example/"]\n[crawl]\nJUDGE_URL = "http://evil.example/"\n'
    with pytest.raises(BadTopic, match="JUDGE_URL cannot be set for a topic"):
        parse_topic(text, Path("mine.toml"))


def test_a_page_that_is_asked_about_is_the_one_that_came(tmp_path: Path) -> None:
    with judging(JudgeServer()) as server:
        judge = a_judge("llm", tmp_path, KEYWORDS_ONLY, JUDGE_URL=server.url, **ROBUST)
        judge.with_relevance(replace(a_read_page(UNSURE), text=UNSURE + "x" * 10**6, title="A lake"))
        assert len(server.pages()[0]) < 4_100 and server.pages()[0].startswith("\n\nA lake\n\ncoral lake")


def test_the_judge_of_the_manual_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    [example] = fences(doc("judges.md"), "python")
    exec(compile(example, "judges.md", "exec"), {"__name__": "manual"})
    assert "demo-bread       dom                 100" in capsys.readouterr().out
