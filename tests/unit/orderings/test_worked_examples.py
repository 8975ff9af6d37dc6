"""Each ordering on numbers worked out by hand, with the papers' formulas and defaults."""

from __future__ import annotations

from math import sqrt

import pytest
from support.pages import a_context, a_link, a_page, a_page_of

from crawlproject.errors import BadSetting
from crawlproject.orderings.baselines import BreadthFirst, RandomOrder
from crawlproject.orderings.best_first import BestFirst, BestNFirst, Dom, HubSeeking, hub_score
from crawlproject.orderings.shark_search import FishSearch, SharkSearch


def test_breadth_first_scores_everything_alike() -> None:
    ordering = BreadthFirst(a_context())
    assert ordering.score(a_page(relevance=0.9), a_link()) == ordering.score(a_page(), a_link()) == 0


def test_random_is_a_fixed_function_of_url_and_seed() -> None:
    links = [a_link(f"http://a.example/{i}") for i in range(2000)]
    scores = [RandomOrder(a_context(seed=7)).score(a_page(), link) for link in links]
    assert scores == [RandomOrder(a_context(seed=7)).score(a_page(relevance=1), link) for link in links]
    assert scores != [RandomOrder(a_context(seed=8)).score(a_page(), link) for link in links]
    assert sum(scores) / len(scores) == pytest.approx(-1, abs=0.06), "exponential, of mean 1"
    assert max(scores) < 0


def test_best_first_gives_links_the_relevance_of_their_page() -> None:
    """Paper 000 section 3.1."""
    assert BestFirst(a_context()).score(a_page(relevance=0.37), a_link()) == 0.37


def test_best_n_first_commits_to_256() -> None:
    """Paper 001: BFS256 explores most and did best."""
    assert BestNFirst(a_context()).commit == 256
    assert BestNFirst(a_context(), n=64).commit == 64


def test_dom_weighs_page_and_context() -> None:
    """Paper 003 section 4.4: 0.25 * 0.4 + 0.75 * 0.8."""
    page, link = a_page(relevance=0.4), a_link(context_score=0.8)
    assert Dom(a_context()).score(page, link) == pytest.approx(0.7)
    assert Dom(a_context(), alpha=1.0).score(page, link) == 0.4


@pytest.mark.parametrize(("n", "score"), [(0, 0), (1, 0), (2, 2 / 5), (3, 6 / 10), (4, 12 / 17), (10, 90 / 101)])
def test_hub_score(n: int, score: float) -> None:
    """Paper 003 Figure 3: n(n - 1) / (1 + n^2)."""
    assert hub_score(n) == pytest.approx(score)


def test_hub_seeking_takes_the_better_of_hub_and_dom() -> None:
    """Paper 003 eq. 5. The page points to two of three seed hosts, to one of them twice: 2/5."""
    seeds = ["http://one.example/", "http://two.example/start", "http://three.example/"]
    ordering = HubSeeking(a_context(seeds=seeds))
    links = [
        a_link("http://one.example/a"),
        a_link("http://one.example/b", context_score=0.9),
        a_link("http://two.example/"),
        a_link("http://other.example/"),
    ]
    page = a_page(links=links, relevance=0.1)
    ordering.observe(page)
    scores = [ordering.score(page, link) for link in links]
    assert scores == pytest.approx([0.4, 0.025 + 0.675, 0.4, 0.4])


def test_to_the_letter_of_section_4_5_the_own_host_counts() -> None:
    """003: a page of the first seed's host that links to it and to the second has n = 2, so 2 / 5."""
    seeds = ["http://one.example/", "http://two.example/"]
    links = [a_link("http://one.example/a"), a_link("http://two.example/")]
    page = a_page("http://one.example/b", links=links)
    scores = [HubSeeking(a_context(seeds=seeds), hosts=hosts).score(page, links[0]) for hosts in ("others", "all")]
    assert scores == pytest.approx([0, 0.4])
    with pytest.raises(BadSetting, match="ORDERING_HOSTS"):
        HubSeeking(a_context(), hosts="some")


def test_a_page_is_no_hub_for_pointing_to_its_own_site() -> None:
    """Paper 003 section 4.5: the score is for "two different business entities", and to avoid false positives."""
    ordering = HubSeeking(a_context(seeds=["http://one.example/", "http://two.example/", "http://three.example/"]))
    links = [a_link("http://one.example/a"), a_link("http://two.example/")]
    page = a_page("http://one.example/b", links=links)
    ordering.observe(page)
    assert ordering.score(page, links[0]) == 0
    page = a_page("http://one.example/c", links=[*links, a_link("http://three.example/")])
    ordering.observe(page)
    assert ordering.score(page, links[0]) == pytest.approx(0.4)


def test_a_seed_that_redirects_is_known_by_both_of_its_hosts() -> None:
    ordering = HubSeeking(a_context(seeds=["http://one.example/", "http://two.example/"]))
    ordering.redirected("http://one.example/", "https://one.example/")
    ordering.redirected("https://one.example/", "https://www.one.example/")
    ordering.redirected("http://stranger.example/", "http://other.example/")
    page = a_page("http://hub.example/", links=[a_link("https://www.one.example/x"), a_link("http://two.example/")])
    ordering.observe(page)
    assert ordering.score(page, page.links[0]) == pytest.approx(0.4)
    page = a_page("http://no.example/", links=[a_link("http://one.example/"), a_link("http://www.one.example/")])
    ordering.observe(page)
    assert ordering.score(page, page.links[0]) == 0


def test_fish_search_lets_the_school_thrive_and_die() -> None:
    """Relevant: the first 1.5 * 5 links score 1 (so 8 of them), depth 3 again. Barren: the first 5 score 0.5, depth falls."""
    links = [a_link(f"http://a.example/{i}") for i in range(10)]
    ordering = FishSearch(a_context())
    good = a_page(links=links, relevance=0.2)
    assert [ordering.score(good, link) for link in links] == [1.0] * 8 + [0.0] * 2
    assert ordering.inherited_for_links(good) == (3,)
    barren = a_page("http://b.example/", links=links, inherited=(3,))
    assert [ordering.score(barren, link) for link in links] == [0.5] * 5 + [0.0] * 5
    assert ordering.inherited_for_links(barren) == (2,)
    last_but_one = a_page("http://c.example/", links=links, inherited=(1,))
    assert [ordering.score(last_but_one, link) for link in links] == [0.5] * 5 + [0.0] * 5
    assert ordering.inherited_for_links(last_but_one) == (0,)
    last = a_page("http://d.example/", links=links, inherited=(0,))
    assert [ordering.score(last, link) for link in links] == [None] * 10
    assert ordering.score(a_page(links=links, relevance=0.2, inherited=(0,)), links[0]) == 1.0


def test_shark_search_without_a_word_in_the_anchor() -> None:
    """Eq. 2-5: inherited 0.5 * 0.6 = 0.3; neighborhood 0.2 * 0.3 = 0.06; score 0.5 * 0.3 + 0.5 * 0.06."""
    assert SharkSearch(a_context()).score(a_page(relevance=0.6), a_link(context_score=0.3)) == pytest.approx(0.18)


def test_shark_search_with_a_word_in_the_anchor() -> None:
    """Anchor "coral" against "coral reef": 1/sqrt(2), so the context counts as 1 (eq. 4)."""
    page = a_page_of(("http://b.example/", "coral"), relevance=0.6)
    neighborhood = 0.8 / sqrt(2) + 0.2
    score = SharkSearch(a_context("coral reef")).score(page, page.links[0])
    assert score == pytest.approx(0.5 * 0.3 + 0.5 * neighborhood)


def test_shark_search_lets_inherited_scores_decay() -> None:
    """Eq. 3, second case: four barren pages after one of similarity 0.8: 0.4, 0.2, 0.1, 0.05, then the path dies."""
    ordering = SharkSearch(a_context())
    inherited_by_links = ordering.inherited_for_links(a_page(relevance=0.8))
    assert inherited_by_links == (0.4, 3)
    for inherited, depth in [(0.2, 2), (0.1, 1), (0.05, 0)]:
        barren = a_page(inherited=inherited_by_links)
        inherited_by_links = ordering.inherited_for_links(barren)
        assert inherited_by_links == pytest.approx((inherited, depth))
        assert ordering.score(barren, a_link()) == pytest.approx(0.5 * inherited)
    assert ordering.score(a_page(inherited=inherited_by_links), a_link(context_score=1.0)) is None
