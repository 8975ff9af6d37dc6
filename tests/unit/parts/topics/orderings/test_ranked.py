"""Any ordering for several topics: scores on one scale, and the data that each ordering receives."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import ANALYZER, a_context
from support.pages import a_linked_page as a_page

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.parts.topics.orderings.make import make_topics_ordering
from crawlproject.parts.topics.orderings.ranked import RankedTopics
from crawlproject.parts.topics.orderings.score_table import ScoreTable
from crawlproject.records import CrawlUrl, Page, Topic

PLAIN = [
    name for name, cls in ORDERINGS.items() if not cls.needs_targets and not cls.needs_archive and name != "adaptive"
]
NAMES = {"reefs": "coral reef", "bread": "sourdough bread"}


def context_of(name: str, *keywords: str) -> OrderingContext:
    return OrderingContext(Topic(name, keywords, ("http://a.example/",)), TopicJudge(keywords, ANALYZER), Random(1))


def several(name: str) -> RankedTopics:
    ordering = make_topics_ordering(name, a_context(*NAMES.values()), FairShare(), {})
    assert isinstance(ordering, RankedTopics)
    for topic, words in NAMES.items():
        ordering.join(context_of(topic, words))
    return ordering


def page_on(url: str, text: str, *anchors: str, inherited: tuple[float, ...] = ()) -> Page:
    links = [
        (f"http://{chr(98 + n)}.example/{anchor.replace(' ', '-')}", anchor, "") for n, anchor in enumerate(anchors)
    ]
    page = a_page(url, text, *links)
    relevance = {name: TopicJudge([words], ANALYZER).relevance(page.counts) for name, words in NAMES.items()}
    return Page(
        url,
        terms=page.terms,
        counts=page.counts,
        links=page.links,
        relevance=max(relevance.values()),
        topics=relevance,
        inherited=inherited,
    )


@pytest.mark.parametrize("name", PLAIN)
class TestEveryOrdering:
    def test_scores_are_finite_numbers_or_none_and_parts_add_up(self, name: str) -> None:
        ordering = several(name)
        for number in range(4):
            page = page_on(f"http://a.example/{number}", "coral reef", f"coral reef {number}", f"steam engine {number}")
            ordering.observe(page)
            for link in page.links:
                score = ordering.score(page, link)
                assert score is None or math.isfinite(score)
                if score is not None:
                    parts = ordering.explain(CrawlUrl(link.url, score, 1, page.url))
                    assert not parts or sum(parts.values()) == pytest.approx(score)
            for url, score in ordering.revise():
                assert url and math.isfinite(score)

    def test_topics_join_and_leave(self, name: str) -> None:
        ordering = several(name)
        ordering.observe(page_on("http://a.example/", "coral reef", "coral reef"))
        ordering.join(context_of("engines", "steam engine"))
        ordering.leave("reefs")
        page = page_on("http://b.example/", "steam engine", "steam engine")
        ordering.learn_earlier("engines", page)
        ordering.observe(page)
        score = ordering.score(page, page.links[0])
        assert score is None or math.isfinite(score)
        assert ordering.share.names == ["bread", "engines"]


@pytest.mark.parametrize("name", ["dom", "best_first", "shark_search"])
def test_keywords_of_each_topic_count(name: str) -> None:
    ordering = several(name)
    anchors = ("coral reef", "sourdough bread", "steam engine")
    page = page_on("http://a.example/", "", *anchors)
    ordering.observe(page)
    found = {link.url: ordering.score(page, link) for link in page.links}
    found.update(dict(ordering.revise()))
    reef, bread, engine = (found[link.url] for link in page.links)
    assert reef is not None and bread is not None and engine is not None
    if name != "best_first":  # best_first uses pages alone
        assert reef > engine and bread > engine


def test_what_links_inherit_comes_back_to_each_topic() -> None:
    ordering = several("shark_search")
    page = page_on("http://a.example/", "coral reef", "coral reef")
    ordering.observe(page)
    handed_down = ordering.inherited_for_links(page)
    alone = [one.inherited_for_links(ordering._as_seen(number, page)) for number, one in enumerate(ordering._orderings)]
    assert handed_down == (float(len(alone[0])), *alone[0], *alone[1])
    child = page_on("http://b.example/", "nothing", "next", inherited=handed_down)
    assert [ordering._as_seen(number, child).inherited for number in range(2)] == alone
    ordering.leave("reefs")
    assert ordering._as_seen(0, child).inherited == alone[1]


@given(st.dictionaries(st.integers(0, 40), st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1))
def test_ranks_keep_the_order_of_each_topic(scores: dict[int, tuple[float, float]]) -> None:
    table = ScoreTable(rows=1)
    table.add_topic()
    table.add_topic()
    for number, both in scores.items():
        table.note(f"http://a.example/{number}", dict(enumerate(both)))
    told = dict(table.rank(lambda ranks: ranks.sum(axis=0)))
    assert all(0 <= value < 2 for value in told.values())
    for topic in range(2):
        ranked = sorted(scores, key=lambda number: scores[number][topic])
        ranks = [table.ranks(f"http://a.example/{number}")[topic] for number in ranked]  # type: ignore[index]
        assert ranks == sorted(ranks)


def test_a_table_lets_the_worst_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.parts.topics.orderings.score_table.MOST", 10)
    table = ScoreTable()
    table.add_topic()
    for number in range(30):
        table.note(f"http://a.example/{number}", {0: float(number)})
    list(table.rank(lambda ranks: ranks[0]))
    assert len(table) == 10
    assert all(f"http://a.example/{number}" in table for number in range(20, 30))
