"""Relevance by meaning, on small pipelines made here."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawling import crawl
from support.pipelines import WORDS, a_pipeline, install

from crawlproject.configuration import read_options
from crawlproject.errors import BadSetting
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge, make_judge
from crawlproject.pages.text.term_vectors import SemanticJudge, load_term_vectors
from crawlproject.records import Link, Page, Span
from crawlproject.topic.parse import load_topic
from crawlproject.webs.open import open_web

ANALYZER = Analyzer("en")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> TopicJudge:
    pipeline = a_pipeline(tmp_path_factory.mktemp("pipeline"))
    options = read_options({"TOPIC_RELEVANCE": "vectors", "TOPIC_VECTORS": str(pipeline)})
    return make_judge(["coral reef", "xarray"], ANALYZER, options)


def test_the_vector_of_a_term_is_the_centred_mean_of_its_words(tmp_path: Path) -> None:
    vectors = load_term_vectors(str(a_pipeline(tmp_path)), ANALYZER)
    means = {ANALYZER.term(word): np.array(vector) for word, vector in WORDS.items()}
    means["reef"] = (np.array(WORDS["reef"]) + np.array(WORDS["reefs"])) / 2
    centred = means["reef"] - np.mean(list(means.values()), axis=0)
    [reef, unknown] = vectors.of(["reef", "xarrai"])
    assert reef == pytest.approx(centred / np.linalg.norm(centred), abs=1e-6)
    assert not unknown.any() and vectors.of([]).shape == (0, 3)


def test_pages_on_the_topic_in_other_words_are_close_and_others_are_not(judge: TopicJudge) -> None:
    assert judge.similarity("an atoll") > 0.5
    assert judge.similarity("the atoll, its oven and its dough") < judge.similarity("the atoll and its oven") < 0.5
    assert judge.similarity("steam engine") == judge.similarity("dough") == judge.similarity("") == 0.0
    assert judge.similarity("coral reef xarray") == pytest.approx(1.0)


def test_a_judge_by_meaning_turns_to_other_keywords_as_well(tmp_path: Path) -> None:
    vectors = load_term_vectors(str(a_pipeline(tmp_path)), ANALYZER)
    judge, new = SemanticJudge(["coral reef"], ANALYZER, vectors), SemanticJudge(["oven", "pandas"], ANALYZER, vectors)
    judge.turn_to(["oven", "pandas"])
    for text in ("dough", "atoll", "pandas"):
        assert judge.similarity(text) == new.similarity(text)


def test_a_word_without_a_vector_is_close_to_itself_only(judge: TopicJudge) -> None:
    assert 0 < judge.similarity("xarray") < judge.similarity("xarray reef")
    assert judge.similarity("pandas") == 0.0
    assert judge.similarity("reef pandas") < judge.similarity("reef")


def test_with_no_vector_at_all_the_scores_are_those_of_terms() -> None:
    class Nothing:
        def of(self, terms: list[str]) -> np.ndarray:
            return np.zeros((len(terms), 2), np.float32)

    blind, terms = SemanticJudge(["coral reef"], ANALYZER, Nothing()), TopicJudge(["coral reef"], ANALYZER)
    page = Page("http://a.example/", terms=["reef", "a", "coral", "reef", "b"], links=(a_link(0, 2), a_link(1, 5)))
    page.counts = Counter(page.terms)
    assert blind.judge(page) == terms.judge(page)


def a_link(start: int, end: int) -> Link:
    return Link("http://b.example/", "", Span(start, start), Span(start, end))


@given(st.lists(st.sampled_from([*WORDS, "xarrai", "panda"]), max_size=30), st.data())
def test_all_contexts_at_once_score_as_one_by_one(judge: TopicJudge, terms: list[str], data: st.DataObject) -> None:
    edge = st.integers(0, len(terms))
    pairs = data.draw(st.lists(st.tuples(edge, edge).map(sorted), max_size=12))
    spans = [Span(*pair) for pair in pairs]
    expected = [judge.relevance(Counter(terms[start:end])) for start, end in spans]
    scores = judge.context_scores(terms, spans)
    assert scores == pytest.approx(expected, abs=1e-5)
    assert all(0 <= score <= 1 for score in scores)


def test_floret_vectors_know_every_spelling(tmp_path: Path) -> None:
    import spacy  # takes seconds
    from spacy.vectors import Vectors

    pipeline = spacy.blank("en")
    data = np.random.default_rng(1).normal(size=(500, 20)).astype(np.float32)
    pipeline.vocab.vectors = Vectors(
        strings=pipeline.vocab.strings, data=data, mode="floret", hash_count=2, minn=3, maxn=4, bow="<", eow=">"
    )
    for word in WORDS:
        pipeline.vocab.strings.add(word)
    pipeline.to_disk(tmp_path)
    judge = SemanticJudge(["coralline"], ANALYZER, load_term_vectors(str(tmp_path), ANALYZER))
    assert judge.similarity("coralline") == pytest.approx(1.0)
    assert judge.similarity("corallines coralla") > judge.similarity("engine") + 0.2
    assert judge.context_scores(["corallin"] * 3, [Span(0, 2), Span(1, 1)]) == [pytest.approx(1.0), 0.0]


def test_an_installed_pipeline_of_the_language_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, words in (("en_small_md", {"reef": (1, 0)}), ("en_core_web_lg", WORDS), ("de_core_news_lg", WORDS)):
        install(tmp_path, name, words)
    monkeypatch.syspath_prepend(tmp_path)
    assert load_term_vectors("", ANALYZER).width == 3
    assert load_term_vectors("en_small_md", ANALYZER).width == 2
    with pytest.raises(BadSetting, match="no pipeline with word vectors of 'sv' is installed; install one"):
        load_term_vectors("", Analyzer("sv"))


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        ("en_none_md", "neither a folder nor an installed pipeline"),
        ("no such name", "neither a folder nor an installed pipeline"),
        ("json", "not a spaCy pipeline"),
        ("FOLDER", "cannot be read as one"),
        ("PIPELINE", "has none; install one whose name ends in _md or _lg"),
    ],
)
def test_what_is_no_pipeline_with_vectors(name: str, wish: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    place = {"FOLDER": tmp_path / "empty", "PIPELINE": a_pipeline(tmp_path / "plain", {})}.get(name, name)
    with pytest.raises(BadSetting, match=f"setting TOPIC_VECTORS: .*{wish}"):
        load_term_vectors(str(place), ANALYZER)


def test_crawl_and_rehearsal_judge_by_meaning(tmp_path: Path) -> None:
    pipeline = a_pipeline(tmp_path / "pipeline", {**WORDS, "levain": (0, 0, 1)})
    chosen = {"TOPIC_RELEVANCE": "vectors", "TOPIC_VECTORS": str(pipeline)}
    topic = tmp_path / "t.toml"
    topic.write_text('keywords = ["levain"]\nseeds = ["http://www.slow-loaf.example/"]\n')
    live = crawl(topic, tmp_path / "live", VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=20, **chosen)
    assert live.returncode == 0, live.stderr
    runner = Runner(open_web("sample", cache_dir=tmp_path), lambda _: chosen, pages=20, agent="")
    [_] = runner.rehearse(load_topic(topic), ["dom"], tmp_path)
    scores = [
        {line["url"]: line["relevance"] for line in map(json.loads, (folder / "history.jsonl").open())}
        for folder in (tmp_path / "live", tmp_path / "t" / "dom")
    ]
    both = scores[0].keys() & scores[1].keys()
    assert both and all(scores[0][url] == scores[1][url] for url in both)
    assert all(sum(score > 0.3 for score in found.values()) >= 4 for found in scores)  # by dough, flour and oven


def test_a_crawl_without_an_installed_pipeline_ends_with_a_message(tmp_path: Path) -> None:
    topic = tmp_path / "t.toml"
    topic.write_text('keywords = ["levain"]\nlanguage = "tn"\nseeds = ["http://www.slow-loaf.example/"]\n')
    done = crawl(topic, tmp_path / "crawl", VIRTUAL_WEB="sample", TOPIC_RELEVANCE="vectors")
    assert done.returncode == 2
    assert "setting TOPIC_VECTORS: no pipeline with word vectors of 'tn' is installed; install" in done.stderr
