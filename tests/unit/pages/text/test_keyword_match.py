"""Keywords of one word and of several, in terms and in URLs."""

from __future__ import annotations

import pytest
from support.pages import ANALYZER

from crawlproject.pages.text.keyword_match import Phrase, phrases


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
    counts = {term: terms.count(term) for term in terms}
    phrase = Phrase(keyword, ANALYZER)
    assert phrase.occurrences(terms) == times
    assert not phrase.terms or phrase.occurrences(terms, counts) == times


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
    assert Phrase(keyword, ANALYZER).in_url(url) == there


def test_keywords_of_stop_words_are_left_out() -> None:
    assert [phrase.terms for phrase in phrases(["the", "reef"], ANALYZER)] == [("reef",)]
