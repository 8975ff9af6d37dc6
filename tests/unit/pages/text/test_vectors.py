from collections import Counter
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.text.vectors import DocumentFrequencies, cosine, tf_idf

counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50))


def test_cosine_of_equation_1_of_paper_000_by_hand() -> None:
    query = Counter(["web", "crawler"])
    page = Counter(["web", "web", "web", "spider", "spider", "crawler"])
    assert cosine(query, page) == pytest.approx((3 + 1) / (sqrt(2) * sqrt(9 + 4 + 1)))


def test_cosine_of_vectors_that_share_nothing_is_0() -> None:
    assert cosine({"a": 1}, {"b": 1}) == 0.0
    assert cosine({}, {"b": 1}) == 0.0
    assert cosine({}, {}) == 0.0


@given(counts, counts)
def test_cosine_is_symmetric_and_between_0_and_1(one: dict[str, int], other: dict[str, int]) -> None:
    assert 0.0 <= cosine(one, other) <= 1.0
    assert cosine(one, other) == cosine(other, one)


@given(counts.filter(bool), st.integers(1, 9))
def test_cosine_sees_direction_not_length(one: dict[str, int], factor: int) -> None:
    longer = {term: count * factor for term, count in one.items()}
    assert cosine(one, longer) == pytest.approx(1.0)


def test_tf_idf_of_equation_2_of_paper_003_by_hand() -> None:
    frequencies = DocumentFrequencies()
    page = Counter({"web": 4, "crawler": 1, "the": 2})
    for document in (page, {"web": 1, "the": 3}, {"the": 1}, {"the": 9}):
        frequencies.observe(document)
    weights = tf_idf(page, frequencies)
    assert weights == {
        "web": pytest.approx((0.5 + 0.5 * 4 / 4) * log(4 / 2)),
        "crawler": pytest.approx((0.5 + 0.5 * 1 / 4) * log(4 / 1)),
    }  # "the" is in all four documents: ln(4 / 4) = 0


def test_document_frequencies_count_documents_not_occurrences() -> None:
    frequencies = DocumentFrequencies()
    frequencies.observe({"a": 100})
    frequencies.observe({"a": 1, "b": 2})
    assert (frequencies.documents, frequencies.frequency("a"), frequencies.frequency("b")) == (2, 2, 1)
    assert frequencies.idf("b") == pytest.approx(log(2))
    assert frequencies.idf("unseen") == 0.0


def test_an_empty_document_has_no_weights() -> None:
    assert tf_idf({}, DocumentFrequencies()) == {}
