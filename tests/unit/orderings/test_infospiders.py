"""InfoSpiders on numbers worked out by hand (paper 000 section 3.5)."""

from __future__ import annotations

from math import exp, isfinite, log, sqrt

import numpy as np
import pytest
from support.pages import a_context, a_page, a_page_of

from crawlproject.orderings.agents import Agent, LinkNet
from crawlproject.orderings.infospiders import InfoSpiders
from crawlproject.orderings.proximity import REACH, keyword_proximity
from crawlproject.records import CrawlUrl, Page, Span

SEED = "http://seed.example/"


def seed_page(*links: tuple[str, str], text: str = "") -> Page:
    """A page without a parent whose links are ``(url, anchor text)``."""
    return a_page_of(*links, text=text)


def fetched(url: str, *terms: str, parent: str = SEED) -> Page:
    """A page without links that was linked to."""
    return Page(url, terms=terms, counts={term: terms.count(term) for term in terms}, parent=parent)


class TestProximity:
    def test_the_anchor_counts_one_and_distance_divides(self) -> None:
        """ "reef" stands two terms before the anchor, and three after it: 1/3 + 1/4."""
        terms = ["reef", "a", "coral", "b", "c", "reef"]
        inputs = keyword_proximity(terms, [Span(2, 3)], {"coral": 0, "reef": 1})
        assert inputs == pytest.approx(np.array([[1, 7 / 12]]))

    def test_what_is_out_of_reach_does_not_count(self) -> None:
        far = ["coral", *["x"] * REACH, "link"]
        assert keyword_proximity(far, [Span(REACH + 1, REACH + 2)], {"coral": 0}).sum() == 0
        assert keyword_proximity([*far[1:], "coral"], [Span(REACH, REACH + 1)], {"coral": 0}) == pytest.approx(1 / 2)
        near = far[:1] + far[2:]
        assert keyword_proximity(near, [Span(REACH, REACH + 1)], {"coral": 0}) == pytest.approx(1 / (REACH + 1))

    def test_spans_beyond_the_page_see_nothing(self) -> None:
        assert keyword_proximity([], [Span(0, 0)], {"coral": 0}).sum() == 0
        assert keyword_proximity(["coral"], [], {"coral": 0}).shape == (0, 1)


class TestNet:
    def test_one_step_of_back_propagation(self) -> None:
        """Inputs 1 and 0.5 with weights 2: the sum is -3 + 2 + 1 = 0, the output 1/2; the target is 0.9."""
        net = LinkNet.untaught(2)
        inputs = np.array([1.0, 0.5])
        assert net.estimate(inputs) == pytest.approx(0.5)
        net.learn(inputs, 0.9, rate=0.1)
        assert net.weights == pytest.approx(np.array([2.04, 2.02]))
        assert net.bias == pytest.approx(-2.96)

    def test_it_learns_which_keyword_tells(self) -> None:
        net = LinkNet.untaught(2)
        for _ in range(2000):
            net.learn(np.array([1.0, 0.0]), 0.8, rate=0.1)
            net.learn(np.array([0.0, 1.0]), 0.1, rate=0.1)
        assert net.estimate(np.eye(2)) == pytest.approx(np.array([0.8, 0.1]), abs=0.02)

    def test_an_offspring_has_one_more_input_that_says_nothing_yet(self) -> None:
        net = LinkNet.untaught(2)
        child = net.offspring()
        assert child.estimate(np.array([1.0, 0.5, 9.0])) == net.estimate(np.array([1.0, 0.5]))
        assert child.estimate(np.array([1.0, 0.5])) == net.estimate(np.array([1.0, 0.5]))  # seen before its birth


class TestAgent:
    def test_reproduction_halves_energy_and_frontier_and_adds_the_most_frequent_term(self) -> None:
        agent = Agent(0, {"coral": 1.0}, LinkNet.untaught(1), energy=8.0)
        for number in range(4):
            agent.add(f"http://a.example/{number}", log(number + 1))
        page = a_page_of(text="coral coral coral polyp polyp algae")
        child = agent.reproduce(1, page)
        assert child.keywords == {"coral": 1.0, "polyp": 1.0}
        assert agent.keywords == {"coral": 1.0}
        assert (agent.energy, child.energy) == (4.0, 4.0)
        assert list(agent.links) == ["http://a.example/0", "http://a.example/2"]
        assert (agent.total, child.total) == (pytest.approx(1 + 3), pytest.approx(2 + 4))

    def test_the_total_is_right_after_much_better_links_are_gone(self) -> None:
        """exp(-100) is lost in a sum with 1; it must be there when the 1 is gone."""
        agent = Agent(0, {"coral": 1.0}, LinkNet.untaught(1), energy=8.0)
        agent.add("http://a.example/best", 0.0)
        agent.add("http://a.example/poor", -100.0)
        agent.remove("http://a.example/best")
        agent.remove("http://a.example/unknown")
        assert agent.total == pytest.approx(exp(-100))
        assert agent.drift() == pytest.approx(100)


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
        turn = -log(agent.total)
        before = {link.url: ordering.score(page, link) for link in page.links}
        ordering.observe(fetched("http://b.example/0", "coral"))
        assert [agent.energy for agent in ordering.agents] == pytest.approx([0.5, 0.5])
        assert [len(agent.links) for agent in ordering.agents] == [4, 4]
        after = dict(ordering.revise())
        assert set(after) == set(before) - {"http://b.example/0"}
        for agent in ordering.agents:
            for url in agent.links:
                assert after[url] - before[url] == pytest.approx(-log(agent.total) - turn)

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
        assert ordering.bequeath(first) == (0.0,)
        ordering.observe(second)
        assert ordering.bequeath(second) == (1.0,)
        third = fetched("http://b.example/", "coral")
        ordering.observe(third)
        assert ordering.bequeath(third) == (0.0,)
