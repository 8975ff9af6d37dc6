"""Intelligent crawling on numbers worked out by hand (Aggarwal, Al-Garawi and Yu 2001)."""

from __future__ import annotations

from math import log

import pytest
from support.pages import a_context, a_link, a_page

from crawlproject.orderings.intelligent import STEP, Intelligent
from crawlproject.records import CrawlUrl, Page


def crawled(**parameters: float) -> Intelligent:
    """A seed links to 20 relevant pages on reefs and 20 pages on cars; half of each were fetched."""
    ordering = Intelligent(a_context(), **parameters)
    links = [a_link(f"http://b.example/{kind}/{n}") for n in range(20) for kind in ("reef", "cars")]
    ordering.observe(Page("http://seed.example/", counts={"hub": 1}, links=tuple(links), relevance=0.1))
    for number in range(10):
        for kind, relevance in (("reef", 0.6), ("cars", 0.0)):
            ordering.observe(Page(f"http://b.example/{kind}/{number}", counts={kind: 1}, relevance=relevance))
    return ordering


class TestOrdering:
    def test_it_learns_tokens_of_urls(self) -> None:
        """10 of 20 pages relevant, all 10 with "reef": I = (10 + 0.5) / 11 / 0.5, and (0 + 0.5) / 11 / 0.5 for cars."""
        scores = dict(crawled().revise())
        assert scores["http://b.example/reef/15"] == pytest.approx(log(21 / 11), abs=STEP / 2)
        assert scores["http://b.example/cars/15"] == pytest.approx(log(1 / 11), abs=STEP / 2)
        assert len(scores) == 20

    def test_what_became_of_the_other_links_of_a_page_is_evidence(self) -> None:
        """Two barren pages: one leads to 6 relevant pages, the other to 6 barren ones. P(C) = 1/2. Siblings of the
        first: (6 + 0.5) / 7 / 0.5 = 13/7; of the second: 1/7.
        """
        ordering = Intelligent(a_context(), content_weight=0.0, url_weight=0.0)
        for name in ("good", "bad"):
            hub = a_page(f"http://{name}.example/", links=[a_link(f"http://x.example/{name}{n}") for n in range(8)])
            ordering.observe(hub)
        for number in range(6):
            ordering.observe(a_page(f"http://x.example/good{number}", relevance=0.6))
            ordering.observe(a_page(f"http://x.example/bad{number}"))
        scores = dict(ordering.revise())
        parts = ordering.explain(CrawlUrl("http://x.example/good7", scores["http://x.example/good7"]))
        assert sum(parts.values()) == pytest.approx(scores["http://x.example/good7"])
        assert abs(parts["before"]) <= STEP / 2
        assert parts["siblings"] == pytest.approx(log(13 / 7))
        assert parts["links"] == parts["content"] == parts["url"] == 0
        assert scores["http://x.example/bad7"] == pytest.approx(log(1 / 7), abs=STEP / 2)

    def test_words_of_the_linking_page_tell(self) -> None:
        """Ten pages about reefs and ten about cars have a link each; those of the reefs were relevant."""
        ordering = Intelligent(a_context(), url_weight=0.0, sibling_weight=0.0, link_weight=0.0)
        for number in range(11):
            for kind in ("reef", "cars"):
                target = a_link(f"http://x.example/{kind}{number}")
                ordering.observe(Page(f"http://b.example/{kind}{number}", counts={kind: 3}, links=(target,)))
        for number in range(10):
            ordering.observe(a_page(f"http://x.example/cars{number}"))
            ordering.observe(a_page(f"http://x.example/reef{number}", relevance=0.5))
        scores = dict(ordering.revise())
        assert scores["http://x.example/reef10"] == pytest.approx(log(21 / 11), abs=STEP / 2)
        assert scores["http://x.example/cars10"] == pytest.approx(log(1 / 11), abs=STEP / 2)

    def test_without_evidence_it_is_breadth_first(self) -> None:
        ordering = Intelligent(a_context())
        page = a_page(links=[a_link(context_score=0.9)], relevance=0.5)
        ordering.observe(page)
        assert ordering.score(page, page.links[0]) == 0

    def test_what_brought_no_page_teaches_nothing(self) -> None:
        ordering = crawled()
        before = dict(ordering.revise())
        for number in range(10, 20):
            ordering.failed(f"http://b.example/reef/{number}")
        after = dict(ordering.revise())
        assert after == {url: score for url, score in before.items() if "cars" in url}

    def test_a_redirect_hands_the_evidence_on(self) -> None:
        ordering = crawled()
        ordering.redirected("http://b.example/reef/15", "http://moved.example/")
        scores = dict(ordering.revise())
        assert scores["http://moved.example/"] == pytest.approx(log(21 / 11), abs=STEP / 2)
        assert "http://b.example/reef/15" not in scores
