"""The spam classifier: its formula, its learning, its file, and its effect on a crawl."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pages import ANALYZER

from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.errors import BadInput
from crawlproject.pages.content_features import LINKED
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.spam.model import Judged, SpamModel, train
from crawlproject.parts.spam.part import Spam
from crawlproject.records import Fetch, Page
from crawlproject.urls.canonical import make_canonicalizer

OPTIONS = read_options({})
READER = make_reader(OPTIONS, ANALYZER, make_canonicalizer(OPTIONS))
QUERY = TopicJudge(("coral reef",), ANALYZER).query
LINKS = "".join(f'<li><a href="http://h{n}.example/">a harbour town of fishermen number {n}</a>' for n in range(30))
MODEL = SpamModel(-2.0, {LINKED: 4.0, "small_words": -1.0})


def examined(body: str, model: SpamModel | None = None) -> Page:
    page = READER.read("http://www.a.example/", f"<html><body>{body}</body></html>".encode())
    return Spam(QUERY, model).examine(page, Fetch(200, 0.0, 0.1))


def test_the_score_is_how_far_the_probability_is_above_one_half() -> None:
    """P = 1 / (1 + exp(-odds)); odds of ln 3 are P = 3/4, of 0 one half, of -ln 3 a quarter."""
    model = SpamModel(log(3), {"linked": -2 * log(3)})
    assert model.score({"small_words": 0.0}) == pytest.approx(0.5)
    assert model.score({"linked": 0.5}) == pytest.approx(0, abs=1e-12)
    assert model.score({"linked": 1.0}) == 0
    assert model.score({}) == 0
    assert SpamModel(1e9, {}).score({"linked": 1.0}) == 1


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from(["linked", "small_words", "other"]), st.floats(0, 1)))
def test_a_score_is_a_share(features: dict[str, float]) -> None:
    assert 0 <= MODEL.score(features) <= 1


def test_training_finds_which_signs_are_of_spam() -> None:
    spam = [({"linked": 0.9, "small_words": share / 10}, True) for share in range(10)]
    honest = [({"linked": 0.1, "small_words": share / 10}, False) for share in range(10)]
    model = train([*spam, *honest, ({}, True)])
    assert model.weights["linked"] > 1 > abs(model.weights["small_words"])
    assert model.score({"linked": 0.9}) > 0.5 and model.score({"linked": 0.1}) == 0
    with pytest.raises(ValueError):
        train([*spam, ({}, False)])


def test_precision_and_recall() -> None:
    assert Judged.of([(0.9, True), (0.5, False), (0.4, True), (0.0, False)]) == Judged(0.5, 0.5)
    assert Judged.of([(0.1, False)]) == Judged(None, None)


def test_the_score_of_a_model_takes_the_place_of_the_weights() -> None:
    assert LINKED not in examined(LINKS).signs
    model = SpamModel(-2.0, {LINKED: 4.0})
    page = examined(LINKS, model)
    assert page.spam == round(model.score({LINKED: page.signs[LINKED]}), 3) > 0.7
    assert page.signs == {LINKED: page.signs[LINKED]}
    assert examined(LINKS, SpamModel(-9.0, {LINKED: 1.0})).spam == 0
    assert examined("coral reef", SpamModel(9.0, {})).spam == 0, "too short to say anything"


def test_the_file_is_json_and_read_back_the_same(tmp_path: Path) -> None:
    MODEL.write(tmp_path / "model.json")
    assert SpamModel.read(tmp_path / "model.json") == MODEL
    assert json.loads((tmp_path / "model.json").read_text())["weights"] == MODEL.weights
    with pytest.raises(BadInput, match="cannot be written"):
        MODEL.write(tmp_path / "no" / "model.json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": 2, "intercept": 1, "weights": {}}',
        '{"format": 1, "intercept": "1", "weights": {}}',
        '{"format": 1, "intercept": NaN, "weights": {}}',
        '{"format": 1, "intercept": 1, "weights": {"linked": null}}',
        '{"format": 1, "intercept": 1, "weights": [1]}',
        pytest.param('{"format": 1, "intercept": 1, "weights": {"linked": 1' + "0" * 400 + "}}", id="a huge number"),
        pytest.param("[" * 100_000, id="deep"),
        b"\x80\x04pickle".decode("latin-1"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(BadInput, match=r"CRAWL_SPAM_MODEL: .*model.json: expected a model that `scrapy spam` wrote"):
        SpamModel.read(path, "setting CRAWL_SPAM_MODEL")
    with pytest.raises(BadInput, match="cannot be read"):
        SpamModel.read(tmp_path / "none.json")
