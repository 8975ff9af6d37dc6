"""Crawling by the quality of pages: the linking page that counts, and the definition of quality."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log2

import pytest
from support.pages import ANALYZER, a_context, a_link, a_page, a_page_of

from crawlproject.orderings.page_quality import page_quality, quality_features
from crawlproject.orderings.quality import QFirst, QMin
from crawlproject.records import Page

X = "http://x.example/"
PROSE = "the reef is one of the oldest that we have seen, and it will be there when all of us are not"


def a_text(url: str, text: str, *links: str) -> Page:
    terms = ANALYZER.terms(text)
    return Page(url, text=text, terms=terms, counts=Counter(terms), links=tuple(map(a_link, links)))


GOOD, POOR = a_text("http://good.example/", PROSE, X), a_text("http://poor.example/", "reef reef coral", X)
BEST, WORST = (page_quality(page, ANALYZER.stop_words) for page in (GOOD, POOR))


def test_features_by_hand() -> None:
    """Four words, one of them a stop word of two; terms reef, reef, coral, of which the anchor is one: entropy log2(3) - 2/3."""
    page = replace(a_page_of((X, "reef"), text="reef coral"), text="the reef reef coral")
    features = quality_features(page, frozenset(("the", "of")))
    assert features == pytest.approx({
        "words": log2(5) / log2(1001),
        "stop words": 0.25 / 0.4,
        "cover": 1.0,
        "entropy": (log2(3) - 2 / 3) / 9,
        "own text": 2 / 3,
    })  # fmt: skip
    assert page_quality(page, frozenset(("the", "of"))) == pytest.approx(sum(features.values()) / 5)


def test_a_page_without_terms_has_no_quality() -> None:
    assert page_quality(a_page(), ANALYZER.stop_words) == 0.0


def test_prose_is_better_than_a_list() -> None:
    assert BEST > WORST + 0.2


def test_the_first_page_that_links_counts() -> None:
    ordering = QFirst(a_context())
    assert ordering.score(POOR, POOR.links[0]) == WORST
    assert ordering.score(GOOD, GOOD.links[0]) == WORST
    assert list(ordering.revise()) == []


def test_the_poorest_page_that_links_counts() -> None:
    ordering = QMin(a_context())
    assert ordering.score(GOOD, GOOD.links[0]) == BEST
    assert list(ordering.revise()) == []
    assert ordering.score(POOR, POOR.links[0]) == WORST
    assert list(ordering.revise()) == [(X, WORST)]
    assert ordering.score(GOOD, GOOD.links[0]) == WORST
    assert list(ordering.revise()) == []


def test_what_was_fetched_meanwhile_is_not_lowered() -> None:
    ordering = QMin(a_context())
    ordering.score(GOOD, GOOD.links[0])
    ordering.score(POOR, POOR.links[0])
    ordering.observe(a_page(X))
    assert list(ordering.revise()) == []
