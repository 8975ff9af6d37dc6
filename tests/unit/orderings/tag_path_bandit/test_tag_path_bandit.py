"""The bandit over tag paths on numbers worked out by hand (SB-CLASSIFIER)."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import pytest
from support.pages import a_context, a_link, a_page

from crawlproject.orderings.tag_path_bandit import SHOWN, TIE, TagPathBandit
from crawlproject.records import CrawlUrl, Link, Page

MENU, BODY = "html body nav ul li a", "html body main p a"


def links(place: str, name: str, count: int) -> list[Link]:
    return [replace(a_link(f"http://{name}.example/{number}"), tag_path=place) for number in range(count)]


def offered(ordering: TagPathBandit, found: list[Link]) -> Page:
    """A page with these links, offered; the page itself is a seed."""
    page = a_page("http://seed.example/", links=found)
    ordering.observe(page)
    for link in found:
        ordering.score(page, link)
    list(ordering.revise())
    return page


class TestIndex:
    def test_mean_reward_and_confidence(self) -> None:
        """Menu: 0.4 and 0.2 in two fetches; body: 0 in one. The mean page is 0.2, so the menu is worth 1.5."""
        ordering = TagPathBandit(a_context())
        offered(ordering, links(MENU, "menu", 4) + links(BODY, "body", 4))
        scores: dict[str, float] = {}
        for url, relevance in (("menu.example/0", 0.4), ("menu.example/1", 0.2), ("body.example/0", 0.0)):
            ordering.observe(a_page(f"http://{url}", relevance=relevance))
            scores.update(ordering.revise())
        assert scores["http://menu.example/2"] == pytest.approx(1.5 + 2.828 * sqrt(log(3) / 2), abs=2 * TIE)
        assert scores["http://body.example/2"] == pytest.approx(2.828 * sqrt(log(3)), abs=2 * TIE)
        parts = ordering.explain(CrawlUrl("http://menu.example/2", scores["http://menu.example/2"]))
        assert parts["reward"] == pytest.approx(1.5)
        assert parts["exploration"] == pytest.approx(2.828 * sqrt(log(3) / 2), abs=1e-3)

    def test_places_that_were_never_tried_come_first(self) -> None:
        ordering = TagPathBandit(a_context())
        offered(ordering, links(MENU, "menu", 2))
        ordering.observe(a_page("http://menu.example/0", relevance=1.0))
        page = a_page("http://x.example/", links=links(BODY, "body", 1))
        fresh = ordering.score(page, page.links[0])
        assert fresh > 1000
        assert all(score < 10 for url, score in ordering.revise() if "menu" in url)

    def test_a_failed_fetch_brings_nothing_and_counts(self) -> None:
        """Body: 0.2 in one fetch of two is a mean of 0.1, half of the mean page, which is 0.6 / 3."""
        ordering = TagPathBandit(a_context())
        offered(ordering, links(MENU, "menu", 4) + links(BODY, "body", 4))
        ordering.observe(a_page("http://menu.example/0", relevance=0.4))
        ordering.observe(a_page("http://body.example/0", relevance=0.2))
        ordering.failed("http://body.example/1")
        scores = dict(ordering.revise())
        assert scores["http://body.example/2"] == pytest.approx(0.5 + 2.828 * sqrt(log(3) / 2), abs=2 * TIE)

    def test_a_refused_link_is_no_fetch(self) -> None:
        ordering = TagPathBandit(a_context())
        offered(ordering, links(MENU, "menu", 4) + links(BODY, "body", 4))
        ordering.observe(a_page("http://menu.example/0", relevance=0.4))
        ordering.observe(a_page("http://body.example/0", relevance=0.2))
        before = dict(ordering.revise())
        ordering.refused("http://body.example/1")
        assert dict(ordering.revise()) == {}
        ordering.failed("http://menu.example/1")
        after = dict(ordering.revise())
        assert "http://body.example/1" in before and "http://body.example/1" not in after


class TestLine:
    def test_only_some_links_of_a_place_are_in_line_and_others_take_their_places(self) -> None:
        ordering = TagPathBandit(a_context())
        found = links(MENU, "menu", SHOWN + 8)
        scores = {link.url: ordering.score(a_page(), link) for link in found}
        scores.update(ordering.revise())
        assert sum(score >= 0 for score in scores.values()) == SHOWN
        ranked = sorted(scores, key=lambda url: -scores[url])
        ordering.observe(a_page(ranked[0], relevance=0.3))
        revised = dict(ordering.revise())
        assert set(revised) == set(ranked[1 : SHOWN + 1])
        assert min(revised.values()) >= 0

    def test_within_a_place_every_link_is_as_likely(self) -> None:
        """The place of the best of 40 links over 400 crawls: 199.5 at half of them, give or take."""
        best = []
        for seed in range(400):
            ordering = TagPathBandit(a_context(seed=seed))
            found = links(MENU, "menu", 40)
            scores = {link.url: ordering.score(a_page(), link) for link in found}
            scores.update(ordering.revise())
            best.append(int(max(scores, key=lambda url: scores[url]).rpartition("/")[2]))
        assert sum(best) / 400 == pytest.approx(19.5, abs=2.0)
        assert max(best) > 35 and min(best) < 5
