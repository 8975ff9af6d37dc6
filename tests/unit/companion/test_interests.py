"""Interests: learned from pages, and compared with other pages."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.companion.interests import HALF_LIFE, MOST, Interests, heaviest, page_vector
from crawlproject.pages.text.vectors import DocumentFrequencies

TERMS = st.dictionaries(
    st.sampled_from(["cach", "etag", "reef", "coral", "bread", "dough"]), st.integers(1, 50), min_size=1
)


def vector(text: str, frequencies: DocumentFrequencies | None = None) -> dict[str, float]:
    return page_vector(Counter(text.split()), frequencies or DocumentFrequencies())


@given(TERMS)
def test_vectors_have_length_one(counts):
    assert sum(weight**2 for weight in vector(" ".join(counts)).values()) == pytest.approx(1.0)


def test_what_stands_on_every_page_weighs_little_and_numbers_nothing():
    frequencies = DocumentFrequencies()
    for _ in range(20):
        frequencies.observe({"menu": 1})
    found = vector("menu etag 1991", frequencies)
    assert found["etag"] > 4 * found["menu"] and "1991" not in found


@given(TERMS, TERMS)
def test_likeness_is_a_cosine(read, other):
    interests = Interests()
    interests.learn(page_vector(read, DocumentFrequencies()), 2.0)
    assert interests.likeness(page_vector(read, DocumentFrequencies())) == pytest.approx(1.0)
    assert -1e-9 <= interests.likeness(page_vector(other, DocumentFrequencies())) <= 1.0 + 1e-9


def test_a_page_that_was_turned_down_makes_its_like_less_like():
    interests = Interests()
    interests.learn(vector("caching etag"), 2.0)
    before = interests.likeness(vector("etag football"))
    interests.learn(vector("football goals"), -2.0)
    assert interests.likeness(vector("etag football")) < before
    assert interests.likeness(vector("football")) < 0


def test_the_reason_is_what_both_have_the_weightiest_first():
    interests = Interests({"etag": 3.0, "caching": 1.0, "football": -2.0})
    assert interests.shared(vector("caching etag football bread")) == ["etag", "caching"]


def test_what_was_learned_fades():
    interests = Interests({"etag": 4.0})
    interests.fade(2 * HALF_LIFE)
    assert interests.weights == {"etag": pytest.approx(1.0)}
    interests.fade(-5.0)  # a clock that was set back
    assert interests.weights == {"etag": pytest.approx(1.0)}


def test_the_memory_is_bounded():
    interests = Interests()
    for number in range(2 * MOST):
        interests.learn({f"word{number}": 1.0, f"other{number}": 1.0}, 1.0 + number / 1000)
    assert len(interests.weights) <= 2 * MOST


def test_the_heaviest_by_absolute_weight():
    assert list(heaviest({"a": 1.0, "b": -3.0, "c": 2.0}, 2)) == ["b", "c"]
