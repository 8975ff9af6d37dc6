"""Keywords of one word and of several, in terms and in URLs."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import ANALYZER

from crawlproject.pages.text.keyword_match import KeywordMatcher


@pytest.mark.parametrize(
    ("keyword", "text", "times"),
    [
        ("computer", "Computers and a computer", 2),
        ("operating system", "operating systems, the operating system", 2),
        ("operating system", "systems operating", 0),
        ("theory of sets", "theory of sets", 1),
        ("the", "the the", 0),
    ],
)
def test_occurrences(keyword: str, text: str, times: int) -> None:
    terms = ANALYZER.terms(text)
    matcher = KeywordMatcher([keyword], ANALYZER)
    assert matcher.occurrences(terms)[keyword] == times
    assert matcher.occurrences(terms, Counter(terms))[keyword] == times


WORDS = st.sampled_from(["x", "y", "z", "the"])


@given(st.sets(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), max_size=4), st.lists(WORDS | st.just("q")))
def test_occurrences_are_counted_wherever_they_begin(keywords: set[str], words: list[str]) -> None:
    terms = ANALYZER.terms(" ".join(words))
    expected: Counter[str] = Counter()
    for keyword in keywords:
        phrase = ANALYZER.terms(keyword)
        expected[keyword] = sum(terms[place : place + len(phrase)] == phrase != [] for place in range(len(terms)))
    assert KeywordMatcher(keywords, ANALYZER).occurrences(terms) == expected


@pytest.mark.parametrize(
    ("keyword", "url", "there"),
    [
        ("computer", "http://a.example/SuperComputer.html", True),
        ("operating systems", "http://systems.example/operating/", True),
        ("operating systems", "http://systems.example/", False),
        ("theory of sets", "http://a.example/sets-theory", True),
        ("the", "http://the.example/", False),
    ],
)
def test_in_url(keyword: str, url: str, there: bool) -> None:
    assert KeywordMatcher([keyword, "unheard of"], ANALYZER).in_url(url) == there
