"""Texts as term numbers are equivalent to lists of strings; compiled code and numpy count alike."""

from __future__ import annotations

import pickle
import runpy
import sys
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.learning import TermIds
from crawlproject.pages.text import counting, plain_hashes
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.counting import counted
from crawlproject.pages.text.minhash import term_hashes
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.terms import TermCounts, Terms, Vocabulary, frequencies
from crawlproject.pages.text.vectors import span_squared_norms, squared_norm
from crawlproject.records import Span

words = st.lists(st.sampled_from(["reef", "coral", "fish", "2026", "é", "珊瑚", "a" * 40]), max_size=40)


def numbered(*written: list[str]) -> list[Terms]:
    """The texts, over one vocabulary."""
    vocabulary = Vocabulary()
    numbers = [np.array([vocabulary.number(word) for word in words], np.int32) for words in written]
    return [Terms(text, vocabulary) for text in numbers]


@given(words)
def test_it_is_like_the_list(written: list[str]) -> None:
    (text,) = numbered(written)
    assert text == written and list(text) == written and len(text) == len(written) and text != [*written, "x"]
    assert text[1:5] == written[1:5] and [text[place] for place in range(len(text))] == written
    assert pickle.loads(pickle.dumps(text)) == written


@given(words, words)
def test_its_counts_are_like_the_counter(written: list[str], before: list[str]) -> None:
    _, text = numbered(before, written)
    counts, expected = TermCounts(text), Counter(written)
    assert len(counts) == len(expected)
    for word in ("reef", "coral", "never"):
        assert (counts.get(word), counts.get(word, 7), counts[word], word in counts) == (
            expected.get(word),
            expected.get(word, 7),
            expected[word],
            word in expected,
        )
    assert sorted(frequencies(counts)) == sorted(expected.values())
    assert squared_norm(counts) == squared_norm(expected)
    assert list(counts.items()) == list(expected.items()), "in the order in which they come first"
    assert list(counts) == list(expected) and list(counts.values()) == list(expected.values()) and counts == expected
    assert pickle.loads(pickle.dumps(counts)) == expected


@given(words, words)
def test_whoever_uses_the_numbers_gets_what_the_list_gives(first: list[str], second: list[str]) -> None:
    ids, expected_ids = TermIds(limit=4), TermIds(limit=4)
    judge = TopicJudge(["coral reef reef"], Analyzer())
    for text, written in zip(numbered(first, second), (first, second), strict=True):
        assert ids.of(text).tolist() == expected_ids.of(written).tolist()
        for found, expected in zip(term_hashes(text), term_hashes(written), strict=True):
            assert np.array_equal(found, expected)
        spans = [Span(start, end) for start in range(0, len(written), 3) for end in range(start, len(written) + 1, 5)]
        assert judge.context_scores(text, spans) == judge.context_scores(written, spans)
        assert judge.relevance(TermCounts(text)) == judge.relevance(Counter(written))


@given(words)
def test_terms_have_the_same_hashes_without_compiled_code(written: list[str]) -> None:
    found = plain_hashes.term_hashes(numbered(written)[0])
    assert np.array_equal(found, plain_hashes.term_hashes(written)) and np.array_equal(found, term_hashes(written))


def test_a_long_text_is_cut_as_the_list_is() -> None:
    written = ["x" * 39] * 3_000
    for found, expected in zip(term_hashes(numbered(written)[0]), term_hashes(written), strict=True):
        assert len(found) < len(written) and np.array_equal(found, expected)


def test_spans_that_overlap_much_cost_no_more_than_those_of_a_list() -> None:
    written = ["reef", "fish", "coral"] * 200
    spans = [(start, 600 - start) for start in range(300)]
    assert span_squared_norms(numbered(written)[0], spans) == span_squared_norms(written, spans)


@pytest.fixture(scope="module")
def in_numpy() -> SimpleNamespace:
    """``counting`` without compiled code."""
    pytest.importorskip("crawlproject.pages.text.term_counts", reason="not compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "crawlproject.pages.text.term_counts", None)
        found = SimpleNamespace(**runpy.run_path(counting.__file__))
    assert found.counted is not counted and found.counted.__code__.co_filename == counting.__file__
    return found


@given(numbers=st.lists(st.integers(0, 5_000), max_size=60))
def test_compiled_code_counts_as_numpy_does(in_numpy: SimpleNamespace, numbers: list[int]) -> None:
    asked = np.array(numbers, np.int32)
    compiled, interpreted = counted(asked), in_numpy.counted(asked)
    assert [part.tolist() for part in compiled] == [part.tolist() for part in interpreted]
    assert dict(zip(*(part.tolist() for part in compiled), strict=True)) == Counter(numbers)


@given(numbers=st.lists(st.integers(0, 9), max_size=60), wanted=st.integers(-1, 12))
def test_compiled_code_finds_as_numpy_does(in_numpy: SimpleNamespace, numbers: list[int], wanted: int) -> None:
    asked, values = np.array(numbers, np.int32), np.arange(wanted, wanted + 10, dtype=np.int32)

    def found(code: Any) -> list[object]:
        counts, (looked_up, complete) = np.arange(10.0), code.look_up(asked, values)
        code.count_up(counts, np.unique(asked))
        return [code.place_of(wanted, asked), looked_up.tolist(), complete, counts.tolist()]

    assert found(in_numpy) == found(counting)


def test_a_value_is_computed_once_for_each_term() -> None:
    asked: list[str] = []

    def lengths(terms: list[str]) -> np.ndarray:
        asked.extend(terms)
        return np.array(list(map(len, terms)))

    vocabulary = Vocabulary()
    for words in (["reef", "fish"], ["fish"], ["reef", "atoll", "sea"]):
        text = Terms(np.array([vocabulary.number(word) for word in words], np.int32), vocabulary)
        assert text.each(lengths).tolist() == list(map(len, words))
    assert asked == ["reef", "fish", "atoll", "sea"]
