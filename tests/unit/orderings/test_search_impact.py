"""Search impact: gains worked out by hand, and needy queries first."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import exp, sqrt

import pytest
from support.pages import ANALYZER, a_context, a_page_of

from crawlproject.orderings.search_impact import PRIOR, SearchImpact
from crawlproject.records import CrawlUrl, Page

FISH, REEF, NONE = "http://a.example/1", "http://a.example/2", "http://a.example/3"


def a_text(url: str, words: str) -> Page:
    terms = ANALYZER.terms(words)
    return Page(url, terms=terms, counts=Counter(terms))


def scores(ordering: SearchImpact, page: Page) -> list[float]:
    return [ordering.score(page, link) for link in page.links]


def test_before_any_page_a_cue_is_taken_at_its_word() -> None:
    """ "fish" is the whole anchor: cue 1. "fish market hall": cosine 1 / sqrt(3) = 0.58, level 3/4. No cue: 0.01."""
    ordering = SearchImpact(a_context("fish", "reef"))
    page = a_page_of((FISH, "fish"), (REEF, "fish market hall"), (NONE, "market"))
    assert scores(ordering, page) == pytest.approx([1 + 0.01, 0.75 + 0.01, 0.02])


def test_the_url_is_a_cue_too() -> None:
    """One of the two terms of the keyword is in the URL: cue 1/2."""
    ordering = SearchImpact(a_context("coral reef"))
    assert scores(ordering, a_page_of(("http://a.example/reefs/12345.html", "photo"))) == [0.5]


def test_expected_is_the_mean_of_pages_with_such_cues() -> None:
    """The page behind a cue of 1 has the cosine 3/5: expected is (1 + 0.6) / 2, for whatever has the same cue."""
    ordering = SearchImpact(a_context("fish"))
    page = a_page_of((FISH, "fish"), (REEF, "fish"))
    scores(ordering, page)
    ordering.observe(a_text(FISH, "fish fish fish market market market market"))
    assert scores(ordering, page)[1] == pytest.approx(0.8)
    assert dict(ordering.revise()) == {REEF: pytest.approx(0.8)}


def test_a_query_with_good_results_pulls_less() -> None:
    """After one page on fish, ``worst`` of the first result is its cosine 1 / sqrt(2); "reef" has no result."""
    ordering = SearchImpact(a_context("fish", "reef"), results=1)
    ordering.observe(a_text("http://b.example/", "fish market"))
    page = a_page_of((FISH, "fish"), (REEF, "reef"))
    worst = 1 / sqrt(2)
    by_fish, by_reef = scores(ordering, page)
    assert by_fish == pytest.approx(exp(-worst) + PRIOR[0])
    assert by_reef == pytest.approx(1 + PRIOR[0] * exp(-worst / PRIOR[0]))
    assert by_fish < by_reef


def test_the_best_of_several_cues_counts() -> None:
    ordering = SearchImpact(a_context("fish"))
    page = a_page_of((FISH, "fish"), (FISH, "market"))
    assert scores(ordering, page) == [1, 1]


def test_what_waits_is_reported_when_the_pages_have_grown() -> None:
    ordering = SearchImpact(a_context("fish"), growth=1.0)
    page = a_page_of((FISH, "fish"))
    revisions = []
    for number in range(8):
        scores(ordering, page)
        ordering.observe(a_text(f"http://b.example/{number}", "fish market"))
        revisions.append(dict(ordering.revise()))
    assert [number for number, urls in enumerate(revisions) if urls] == [0]  # the first ten results: worst stays 0
    ordering = SearchImpact(a_context("fish"), growth=1.0, results=1)
    revisions = []
    for number in range(8):
        scores(ordering, page)
        ordering.observe(a_text(f"http://b.example/{number}", "fish " + "market " * (9 - number)))
        revisions.append(dict(ordering.revise()))
    assert [number for number, urls in enumerate(revisions) if urls] == [0, 1, 3, 7]  # after 1, 2, 4 and 8 pages


def test_what_was_fetched_failed_or_is_a_seed_is_reported_nothing() -> None:
    ordering = SearchImpact(a_context("fish", seeds=[NONE]))
    page = a_page_of((FISH, "fish"), (REEF, "fish"), (NONE, "fish"))
    scores(ordering, page)
    ordering.failed(REEF)
    ordering.observe(a_text(FISH, "fish market"))
    scores(ordering, page)
    assert dict(ordering.revise()) == {}


def test_what_is_refused_is_reported_nothing_and_is_no_fetch() -> None:
    ordering = SearchImpact(a_context("fish"))
    scores(ordering, a_page_of((FISH, "fish"), (REEF, "fish")))
    ordering.refused(REEF)
    assert dict(ordering.revise()) == {}  # no fetch has ended: nothing is due
    ordering.failed("http://x.example/")
    assert dict(ordering.revise()) == {FISH: 1}


def test_a_redirect_takes_its_cues_along() -> None:
    ordering = SearchImpact(a_context("fish"))
    scores(ordering, a_page_of((FISH, "fish")))
    ordering.redirected(FISH, REEF)
    assert dict(ordering.revise()) == {REEF: 1}


def test_parts_are_the_gains_by_keyword() -> None:
    ordering = SearchImpact(a_context("fish", "reef"))
    page = a_page_of((FISH, "fish"))
    url = CrawlUrl(FISH, scores(ordering, page)[0], 1, page.url)
    assert ordering.explain(url) == pytest.approx({"fish": 1, "reef": 0.01})
    assert ordering.explain(replace(url, score=2.02)) == pytest.approx({"fish": 2, "reef": 0.02})
    assert ordering.explain(replace(url, parent=None)) == {}


def test_no_score_is_above_a_seeds() -> None:
    ordering = SearchImpact(a_context("fish", "reef"))
    page = a_page_of((FISH, "fish"), ("http://a.example/fish/reef", "fish reef"))
    assert max(scores(ordering, page)) <= ordering.seed_score("http://seed.example/") == 2


def test_queries_count_as_often_as_they_are_asked_in_place_of_the_keywords() -> None:
    """ "fish" is asked three times as often as "reef": 1.5 and 0.5 of the mean query. The keyword "coral" is no query."""
    ordering = SearchImpact(replace(a_context("coral"), queries={"fish": 0.75, "reef": 0.25}))
    page = a_page_of((FISH, "fish"), (REEF, "reef"), (NONE, "coral"))
    assert scores(ordering, page) == pytest.approx([1.5 + 0.5 * 0.01, 0.5 + 1.5 * 0.01, 2 * 0.01])
