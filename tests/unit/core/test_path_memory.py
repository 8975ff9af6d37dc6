"""Several links lead to a waiting URL: it inherits from the better path, whatever the scores of the links."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from support.pages import a_context, a_link, a_page, a_text_page

from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.keyword_queue import KeywordQueue
from crawlproject.orderings.shark_search import FishSearch, SharkSearch
from crawlproject.records import CrawlUrl, Page

X = "http://x.example/"


def after(ordering: BaseOrdering, *pages: Page) -> CrawlUrl:
    """The record of X after its links on these pages were offered."""
    feed = OrderingFeed(ordering, {})
    frontier = MemoryFrontier(politeness=Politeness(0.0, 0.0), random=Random(1))
    for page in pages:
        feed.observe(page)
        frontier.put_many(url for url in feed.follow(page) if url)
    [found] = [url for url in frontier.waiting() if url.url == X]
    return found


def both_orders(pages: Sequence[Page]) -> list[Sequence[Page]]:
    return [pages, pages[::-1]]


FISH = [
    a_page(
        "http://good.example/", relevance=0.9, links=[*[a_link(f"http://f{n}.example/") for n in range(9)], a_link(X)]
    ),
    a_page("http://tired.example/", links=[a_link(X)], inherited=(2.0,), depth=7),
]


@pytest.mark.parametrize("pages", both_orders(FISH))
def test_a_fish_keeps_the_depth_that_a_relevant_page_gave_it(pages: Sequence[Page]) -> None:
    """Hersovici and others 1998, Figure 1: the maximum of both depths. The tenth link of a relevant page scores 0, with depth
    3 left; the link of an irrelevant page 0.5, with depth 1 left.
    """
    found = after(FishSearch(a_context()), *pages)
    assert (found.score, found.inherited, found.depth) == (0.5, (3,), 1)


SHARKS = [
    a_page("http://good.example/", relevance=0.4, links=[a_link(X)]),
    a_page("http://tired.example/", links=[a_link(X, context_score=1.0)], inherited=(0.1, 2)),
]


@pytest.mark.parametrize("pages", both_orders(SHARKS))
def test_a_shark_inherits_the_larger_potential(pages: Sequence[Page]) -> None:
    """000 eq. 3: 0.5 * 0.4 against 0.5 * 0.1; the context of the second makes its score the higher one."""
    found = after(SharkSearch(a_context()), *pages)
    assert (found.parent, found.inherited) == ("http://tired.example/", (pytest.approx(0.2), 3))


def test_a_page_near_a_hot_page_stays_near_when_a_cold_page_links_to_it() -> None:
    """002 Figure 5. X is one link from a hot page; with a second backlink its score is higher."""
    hot = a_text_page("http://hot.example/", "coral reef " * 10, X)
    cold = a_text_page("http://cold.example/", "steam engine", X)
    ordering = KeywordQueue(a_context("coral reef"), rest="backlink_count", distance=3)
    found = after(ordering, hot, cold)
    assert (found.parent, found.inherited) == (cold.url, (0.0,))
    page = a_page(X, links=[a_link("http://y.example/")], inherited=found.inherited)
    assert ordering.inherited_for_links(page) == (-1.0,)
