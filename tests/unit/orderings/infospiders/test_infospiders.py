"""InfoSpiders on numbers worked out by hand (paper 000 section 3.5)."""

from __future__ import annotations

from dataclasses import replace
from math import exp, isfinite, log, sqrt

import pytest
from support.pages import a_context, a_page, a_page_of

from crawlproject.orderings.infospiders import InfoSpiders
from crawlproject.records import CrawlUrl, Page

SEED = "http://seed.example/"


def seed_page(*links: tuple[str, str], text: str = "") -> Page:
    """A page without a parent whose links are ``(url, anchor text)``."""
    return a_page_of(*links, text=text)


def fetched(url: str, *terms: str, parent: str = SEED) -> Page:
    """A page without links, reached by a link."""
    return Page(url, terms=terms, counts={term: terms.count(term) for term in terms}, parent=parent)


class TestScore:
    def test_a_score_is_the_strength_of_the_link_the_turn_of_its_agent_and_chance(self) -> None:
        """The page has "coral" 3 times and nothing else: cosine with (coral, reef) 1/sqrt 2. The net sees, for the first
        link, 1 in the anchor and 1/2 + 1/3 after it: -3 + 2 * 11/6 = 2/3; for the second, 1 + 1/2 + 1/2: 1.
        """
        ordering = InfoSpiders(a_context("coral reef"), greediness=10.0, alpha=0.25)
        page = seed_page(("http://b.example/1", "coral"), ("http://b.example/2", "coral"), text="coral")
        ordering.observe(page)
        outputs = [1 / (1 + exp(-2 / 3)), 1 / (1 + exp(-1))]
        strengths = [10 * (0.25 / sqrt(2) + 0.75 * output) for output in outputs]
        turn = -log(sum(map(exp, strengths)))
        for link, output, strength in zip(page.links, outputs, strengths, strict=True):
            score = ordering.score(page, link)
            parts = ordering.explain(CrawlUrl(link.url, score, parent=page.url))
            assert parts["net"] == pytest.approx(10 * 0.75 * output)
            assert parts["page"] == pytest.approx(10 * 0.25 / sqrt(2))
            assert parts["turn"] == pytest.approx(turn)
            assert score == pytest.approx(strength + turn + parts["chance"])

    def test_links_are_drawn_with_the_probabilities_of_equation_7(self) -> None:
        """Two links; the first one's share is 1 / (1 + exp(-beta * difference))."""
        page = seed_page(("http://b.example/1", "coral reef"), ("http://b.example/2", "nothing"))
        wins = 0
        for seed in range(1500):
            ordering = InfoSpiders(a_context("coral reef", seed=seed), greediness=5.0)
            ordering.observe(page)
            first, second = (ordering.score(page, link) for link in page.links)
            wins += first > second
        parts = [ordering.explain(CrawlUrl(link.url, ordering.score(page, link))) for link in page.links]
        difference = sum(parts[0][name] - parts[1][name] for name in ("net", "page"))
        assert wins / 1500 == pytest.approx(1 / (1 + exp(-difference)), abs=0.04)

    def test_old_and_new_links_are_drawn_by_equation_7_at_every_pick(self) -> None:
        """Of 20 old and 20 new links that are worth the same, an old one is next half of the time."""
        old = 0
        for seed in range(300):
            ordering = InfoSpiders(a_context("coral", seed=seed), greediness=5.0, rate=0.0, reproduction=1e9)
            page = seed_page(*[(f"http://b.example/old{number}", "coral") for number in range(40)], text="stone")
            ordering.observe(page)
            scores = {link.url: ordering.score(page, link) for link in page.links}
            for fetches in range(1, 21):
                url = max(scores, key=scores.__getitem__)
                del scores[url]
                new = seed_page(*[(f"http://b.example/new{number}", "coral") for number in range(20)], text="stone")
                page = replace(new, url=url, parent=SEED) if fetches == 20 else fetched(url, "coral", "stone")
                ordering.observe(page)
                scores |= {link.url: ordering.score(page, link) for link in page.links}
                scores |= {url: score for url, score in ordering.revise() if url in scores}
            old += "old" in max(scores, key=scores.__getitem__)
        assert old / 300 == pytest.approx(0.5, abs=0.12)

    def test_however_greedy_scores_stay_finite_and_good_links_first(self) -> None:
        ordering = InfoSpiders(a_context("coral reef"), greediness=100_000.0)
        page = seed_page(("http://b.example/1", "x"), *[("http://b.example/2", "coral")] * 9, text="coral reef")
        ordering.observe(page)
        bad, good = (ordering.score(page, link) for link in page.links[:2])
        assert isfinite(bad) and isfinite(good) and bad < good

    def test_chance_is_the_same_on_every_page(self) -> None:
        ordering = InfoSpiders(a_context("coral"))
        one, other = seed_page(("http://b.example/", "x")), seed_page(("http://b.example/", "x"))
        ordering.observe(one)
        score = ordering.score(one, one.links[0])
        ordering.observe(other)
        assert ordering.score(other, other.links[0]) == pytest.approx(score)


class TestLife:
    def links(self, count: int) -> list[tuple[str, str]]:
        return [(f"http://b.example/{number}", "coral") for number in range(count)]

    def test_a_good_page_feeds_an_agent_that_reproduces_and_both_halves_come_up_twice_as_often(self) -> None:
        """An agent is born with energy 0.5 of 1. The seed, cosine 8 / sqrt(8^2 + 24^2) = 0.316, is the mean page: it
        feeds what it costs. A page of cosine 1 is worth 1 / 0.658 = 1.519 mean pages: 1.019, enough to reproduce.
        """
        ordering = InfoSpiders(a_context("coral"), reproduction=1.0)
        page = seed_page(*self.links(9), text=" ".join(["stone"] * 27))
        ordering.observe(page)
        [agent] = ordering.agents
        assert agent.energy == pytest.approx(0.5)
        total = agent.total
        before = {link.url: ordering.score(page, link) for link in page.links}
        best = max(before, key=before.__getitem__)
        now = exp(-before[best])
        ordering.observe(fetched(best, "coral"))
        assert [agent.energy for agent in ordering.agents] == pytest.approx([0.5, 0.5])
        assert [len(agent.links) for agent in ordering.agents] == [4, 4]
        after = dict(ordering.revise())
        assert set(after) == set(before) - {best}
        for agent in ordering.agents:
            for url in agent.links:
                left = (exp(-before[url]) - now) * agent.total / total
                assert exp(-after[url]) == pytest.approx(now + left), "what is left of its time shrinks with the total"

    def test_no_more_agents_than_the_population(self) -> None:
        ordering = InfoSpiders(a_context("coral"), population=3, reproduction=0.5)
        for number in range(50):
            ordering.observe(fetched(f"http://b.example/{number}", "coral", *["stone"] * (number % 7)))
            assert 1 <= len(ordering.agents) <= 3

    def test_a_dead_agents_links_go_to_a_living_one(self) -> None:
        ordering = InfoSpiders(a_context("coral"), reproduction=2.0)
        good = a_page_of(("http://good.example/1", "coral"), text="coral")
        ordering.observe(good)
        barren = Page(
            "http://barren.example/", terms=["stone"], counts={"stone": 1}, links=a_page_of(*self.links(2)).links
        )
        ordering.observe(barren)
        assert [len(agent.links) for agent in ordering.agents] == [3]
        revised = dict(ordering.revise())
        assert set(revised) == {"http://good.example/1", "http://b.example/0", "http://b.example/1"}

    def test_links_of_a_page_belong_to_the_agent_that_fetched_it(self) -> None:
        ordering = InfoSpiders(a_context("coral"), population=2)
        first, second = seed_page(("http://b.example/", "coral")), a_page("http://other.example/")
        ordering.observe(first)
        assert ordering.inherited_for_links(first) == (0.0,)
        ordering.observe(second)
        assert ordering.inherited_for_links(second) == (1.0,)
        third = fetched("http://b.example/", "coral")
        ordering.observe(third)
        assert ordering.inherited_for_links(third) == (0.0,)
