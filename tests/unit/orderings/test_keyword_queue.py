"""The two queues of paper 002 Figures 4 and 5, with the paper's keyword."""

from __future__ import annotations

from collections import Counter

import pytest
from support.pages import ANALYZER, a_context, a_page_of

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.keyword_queue import HOT, KeywordQueue
from crawlproject.records import CrawlUrl, Page

NEXT = "http://a.example/next"


def context() -> OrderingContext:
    return a_context("computer")


def a_text(
    words: str, *, title: str = "", inherited: tuple[float, ...] = (), link: str = NEXT, anchor: str = ""
) -> Page:
    page = a_page_of((link, anchor), text=words)
    return Page(page.url, title, terms=page.terms, counts=Counter(page.terms), links=page.links, inherited=inherited)


def is_hot(ordering: KeywordQueue, page: Page) -> bool:
    ordering.observe(page)
    score = ordering.score(page, page.links[0])
    return score is not None and score >= HOT


def test_figure_4_the_keyword_in_anchor_or_url() -> None:
    ordering = KeywordQueue(context(), rest="breadth_first", distance=0)
    assert is_hot(ordering, a_text("", anchor="a Computer for you"))
    assert is_hot(ordering, a_text("", link="http://a.example/MicroComputers.html"))
    assert not is_hot(ordering, a_text("computer " * 20, title="computer", link="http://b.example/"))


@pytest.mark.parametrize(
    ("page", "distance"),
    [
        (a_text("computer " * 10), 0),
        (a_text("computer " * 9), 3),
        (a_text("", title="My computers"), 0),
        (a_text("", inherited=(0.0,)), 1),
        (a_text("", inherited=(-1.0,)), 2),
        (a_text("", inherited=(-2.0,)), 3),
        (a_text("", inherited=(-3.0,)), 3),
        (a_text("computer " * 10, inherited=(-3.0,)), 0),
    ],
)
def test_figure_5_the_distance_from_the_last_hot_page_is_handed_down(page: Page, distance: int) -> None:
    """A link is hot when its own distance, one more than its page's, is below 3."""
    ordering = KeywordQueue(context(), rest="breadth_first")
    assert ordering.inherited_for_links(page) == (-distance,)
    assert is_hot(ordering, page) == (distance + 1 < 3)


def test_both_queues_are_ordered_by_the_rest() -> None:
    ordering = KeywordQueue(context(), rest="backlink_count")
    page = a_page_of((NEXT, "computer"), ("http://b.example/", "cooking"))
    ordering.observe(page)
    assert [ordering.score(page, link) for link in page.links] == [HOT + 1, 1]
    ordering.observe(a_page_of((NEXT, "cooking")))
    assert ordering.score(page, page.links[0]) == HOT + 2


def test_what_the_rest_revises_stays_in_its_queue() -> None:
    ordering = KeywordQueue(context(), rest="backlink_count")
    page = a_page_of((NEXT, "computer"), ("http://b.example/", "cooking"))
    ordering.observe(page)
    for link in page.links:
        ordering.score(page, link)
    ordering.redirected(NEXT, "http://hot.example/")
    ordering.redirected("http://b.example/", "http://cold.example/")
    assert dict(ordering.revise()) == {"http://hot.example/": HOT + 1, "http://cold.example/": 1}


def test_a_url_found_again_on_a_hot_way_becomes_hot_and_stays_it() -> None:
    ordering = KeywordQueue(context(), rest="breadth_first")
    cold, hot = a_text("", anchor="cooking"), a_text("", anchor="computer")
    assert [is_hot(ordering, page) for page in (cold, hot, cold)] == [False, True, True]
    ordering.failed(NEXT)
    assert not is_hot(ordering, cold)


def test_to_the_letter_of_figure_5_a_waiting_url_stays_in_its_queue() -> None:
    """002 Figure 5 enqueues a URL only if it is in neither queue and was not crawled."""
    ordering = KeywordQueue(context(), rest="breadth_first", found_again="stays")
    cold, hot = a_text("", anchor="cooking"), a_text("", anchor="computer")
    assert [is_hot(ordering, page) for page in (cold, hot)] == [False, False]
    other = a_text("", anchor="computer", link="http://b.example/")
    assert [is_hot(ordering, page) for page in (other, a_text("", link="http://b.example/"))] == [True, True]
    with pytest.raises(BadSetting, match="ORDERING_FOUND_AGAIN"):
        KeywordQueue(context(), found_again="maybe")


def test_parts() -> None:
    ordering = KeywordQueue(context(), rest="backlink_count")
    assert ordering.explain(CrawlUrl(NEXT, HOT + 2, 1, "http://a.example/")) == {"hot": HOT, "backlinks": 2}
    assert ordering.explain(CrawlUrl(NEXT, 2, 1, "http://a.example/")) == {"backlinks": 2}
    assert ordering.explain(CrawlUrl(NEXT, ordering.seed_score(NEXT))) == {}


def test_keywords_of_several_words_count_as_one() -> None:
    ordering = KeywordQueue(a_context("operating systems"), rest="breadth_first")
    assert is_hot(ordering, a_text("", anchor="an operating system"))
    assert not is_hot(ordering, a_text("", anchor="systems for operating", link="http://b.example/"))
    assert ordering.inherited_for_links(a_text("operating systems " * 10)) == (0,)
    assert ANALYZER.terms("operating systems") == ANALYZER.terms("operating system")


def test_a_rest_that_is_none_is_refused() -> None:
    with pytest.raises(BadSetting, match=r"ORDERING_REST: expected one of breadth_first, .*not 'dom'"):
        KeywordQueue(context(), rest="dom")
