"""Names of months and days count as numbers on a short page."""

from __future__ import annotations

from collections import Counter

import pytest

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.date_names import date_names
from crawlproject.pages.text.minhash import sketch
from crawlproject.records import Page


def folded(language: str, text: str) -> list[int]:
    analyzer = Analyzer(language)
    terms = analyzer.terms(text)
    return [
        int(shingle)
        for shingle in sketch(
            Page("http://a.example/", terms=terms, counts=Counter(terms)), date_names(analyzer)
        ).folded
    ]


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "club events Monday 3 January 2031 nothing", "club events Friday 18 December 1999 nothing"),
        ("de", "Verein Termine 3 Januar 2031 keine", "Verein Termine 18 Dezember 1999 keine"),
        ("fr", "club agenda lundi 3 janvier 2031", "club agenda samedi 18 décembre 1999"),
    ],
)
def test_pages_of_which_only_the_date_differs_say_the_same(language: str, one: str, other: str) -> None:
    assert folded(language, one) == folded(language, other)
    assert folded(language, one) != folded(language, one.replace("3", "reef"))


def test_on_a_longer_page_they_are_words() -> None:
    """80 terms, and then a month: only the shingles with the month differ, which are three."""
    words = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(80))
    january, december = folded("en", f"{words} January {words}"), folded("en", f"{words} December {words}")
    assert sum(one != other for one, other in zip(january, december, strict=True)) == 3


def test_a_language_without_names_here_has_none() -> None:
    assert len(date_names(Analyzer("fi"))) == 0
    assert len(date_names(Analyzer("en"))) > 30
