"""Budgets of sites: the earnings from links and pages, and the sites that come later."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from support.events import error_event, page_event, redirect_event
from support.pages import a_link

from crawlproject.parts.sites.part import SiteTurns
from crawlproject.parts.sites.site_budgets import POLICY, SiteBudgets, cost_of
from crawlproject.records import ACTIVE, FetchEvent, Page
from crawlproject.urls.hosts import host_of, sites_linked


def a_page(
    host: str,
    number: int,
    *,
    relevance: float = 0.5,
    spam: float = 0.0,
    copy: str = "",
    links: tuple[str, ...] = (),
    depth: int = 1,
):
    page = Page(f"http://{host}/{number}", relevance=relevance, spam=spam, duplicate_of=copy, depth=depth)
    return replace(page, links=tuple(a_link(url) for url in links))


def at(url: str) -> Page:
    return replace(a_page("x.example", 0), url=url)


class Books(SiteBudgets):
    """Budgets with the resulting turns, and the classes of hosts as in a frontier."""

    def __init__(self, *, share: float = 1.0, alone: bool = True) -> None:
        super().__init__(share=share, alone=alone)
        self.classes: dict[str, int] = {}
        self.turns = SiteTurns(self, self.classes.__setitem__)

    def learn(self, event: FetchEvent, *found: Any, **more: Any) -> None:
        super().learn(event, *found, **more)
        self.turns.ended(event.visit.url, cost_of(event.visit))
        self.turns.reconsider(event.visit.url)

    def goes(self, url: str) -> bool:
        """Whether a URL is fetched while others are due: its host has no later class, and gets none."""
        return self.classes.get(host_of(url), ACTIVE) == ACTIVE and self.turns.turn(url)


def fetch(sites: Books, page: Page, at: float, new_link_ratio: float = 0.0) -> None:
    linked = sites_linked(page.url, [link.url for link in page.links])
    sites.learn(page_event(page, at), linked, new_link_ratio=new_link_ratio)


def allowed(sites: Books, host: str, most: int = 500, **page: object) -> int:
    """How many successive pages of a host may be fetched before one comes later."""
    for number in range(most):
        if not sites.goes(f"http://{host}/{number}"):
            return number
        fetch(sites, a_page(host, number, **page), float(number))
    return most


def with_a_crawl_of_relevant_pages(walls: int = 300) -> Books:
    """Some good pages, after so many walls that no site is trusted beyond its budget."""
    sites = Books()
    for number in range(walls):
        sites.add_named(f"http://wall{number}.example/")
        sites.learn(error_event(f"http://wall{number}.example/", "block/captcha"))
    for number in range(5):
        fetch(sites, a_page(f"g{number}.example", 0), float(number))
    return sites


def test_on_a_web_without_traps_budgets_are_large():
    strict = allowed(with_a_crawl_of_relevant_pages(), "dull.example", relevance=0.0)
    kind = allowed(with_a_crawl_of_relevant_pages(walls=0), "dull.example", relevance=0.0)
    assert kind > 5 * strict


def test_trust_grows_with_experience_and_goes_with_walls():
    sites = Books()
    assert sites.trust == 1.0, "a crawl without experience trusts nobody"
    found = []
    for number in range(300):
        fetch(sites, a_page(f"g{number}.example", 0), float(number))
        found.append(sites.trust)
    assert found == sorted(found) and found[-1] == POLICY.most_trust
    for number in range(100):
        fetch(sites, a_page(f"s{number}.example", 0, spam=1.0), 300.0)
    assert sites.trust == 1.0


def test_a_site_without_links_from_others_ends_somewhere_whatever_its_pages_are_worth():
    dull = allowed(with_a_crawl_of_relevant_pages(), "dull.example", relevance=0.0)
    good = allowed(with_a_crawl_of_relevant_pages(), "good.example")
    assert POLICY.first < dull < good <= POLICY.first + POLICY.supported


def test_pages_that_say_nothing_new_earn_nothing():
    sites = with_a_crawl_of_relevant_pages()
    for number in range(50):
        if not sites.goes(f"http://x.example/{number}"):
            break
        fetch(sites, replace(a_page("x.example", number), signs={"novelty": 0.0}), 5.0)
    assert number <= POLICY.first + 1


@pytest.mark.parametrize(("new", "worth"), [(0.5, 0.5), (0.4, 0.4), (0.05, 0.05)])
def test_pages_that_say_little_new_earn_as_much_less(new: float, worth: float):
    sites = Books()
    fetch(sites, replace(a_page("wiki.example", 0, relevance=0.0), signs={"new_text": new}), 5.0)
    site = sites.site("http://wiki.example/")
    assert site is not None and site.worth == pytest.approx(worth)
    assert site.wasted == 0.0, "which says nothing against a site that a person named"


def test_links_from_others_earn_more():
    sites = with_a_crawl_of_relevant_pages()
    for number in range(10):
        fetch(sites, a_page(f"friend{number}.example", 0, links=("http://good.example/",)), 10.0)
    assert allowed(sites, "good.example") > 3 * allowed(with_a_crawl_of_relevant_pages(), "good.example")


def test_a_site_that_always_leads_to_new_pages_of_its_own_is_paid_little():
    closed, open_ = with_a_crawl_of_relevant_pages(), with_a_crawl_of_relevant_pages()
    for sites, new_link_ratio in ((closed, 0.3), (open_, 0.9)):
        for number in range(4):
            fetch(sites, a_page("x.example", number), 5.0, new_link_ratio)
    few, more = (sites.budget(sites.site("http://x.example/")) for sites in (open_, closed))
    assert POLICY.first <= few < 4 < more


def test_such_sites_make_the_crawl_careful():
    sites = with_a_crawl_of_relevant_pages(walls=0)
    for number in range(200):
        fetch(sites, a_page(f"x{number}.example", 0), 5.0, 0.95)
    assert sites.trust == 1.0


def test_sites_that_only_one_other_links_to_get_a_part_of_the_fetches():
    """A swarm of domains, each linked by the previous one; meanwhile a known site is fetched as often."""
    sites = Books()
    sites.add_named("http://known.example/")
    for second in range(600):
        url = f"http://swarm{second}.example/0"
        if sites.goes(url):
            fetch(
                sites, a_page(f"swarm{second}.example", 0, links=(f"http://swarm{second + 1}.example/",)), float(second)
            )
        fetch(sites, a_page("known.example", second), float(second))
    visited = sum(bool((found := sites.site(f"http://swarm{n}.example/")) and found.fetches) for n in range(600))
    most = 3 * POLICY.single_source  # of all fetches, plus the trials
    assert POLICY.single_source * 600 < visited < (most + POLICY.trials) / (1 - most - POLICY.trials) * 600 + 50


def test_with_other_workers_nobody_waits_at_first():
    """A worker cannot know that all others wait as well."""
    sites = Books(alone=False)
    for number in range(300):
        url = f"http://new{number}.example/"
        assert sites.goes(url)
        fetch(sites, a_page(f"new{number}.example", 0, spam=1.0), float(number))
    assert allowed(sites, "other.example", relevance=0.0) > POLICY.first


def test_two_that_link_to_a_site_are_enough():
    sites = Books()
    for number in range(300):
        fetch(sites, a_page(f"x{number}.example", 0, links=("http://well.example/",)), float(number))
    assert not sites.goes("http://nobody.example/")
    assert sites.goes("http://well.example/")


def test_what_a_seed_links_to_is_trusted_whatever_the_seed_looks_like():
    """A list of links is a common seed, and looks like spam."""
    sites = Books()
    sites.add_named("http://list.example/")
    listed = [f"http://listed{number}.example/" for number in range(300)]
    fetch(sites, a_page("list.example", 0, spam=1.0, links=tuple(listed), depth=0), 0.0)
    for second, url in enumerate(listed, 1):
        assert sites.goes(url)
        fetch(sites, a_page(f"listed{second}.example", 0), float(second))


def test_a_redirect_is_worth_less_than_nothing():
    sites = with_a_crawl_of_relevant_pages()
    for number in range(2):
        sites.learn(redirect_event(f"http://maze.example/{number}", f"http://maze.example/{number}?on", at=5.0))
    assert not sites.goes("http://maze.example/9")


@pytest.mark.parametrize("target", ["https://moved.example/", "http://www.moved.example/", "http://new.example/"])
def test_a_redirect_to_another_place_is_no_evidence_against_a_site(target: str):
    """http to https, a site that moved, a name server of documents: the pages are behind the redirects."""
    sites = with_a_crawl_of_relevant_pages()
    for number in range(200):
        url = f"http://moved.example/{number}"
        assert sites.goes(url)
        sites.learn(redirect_event(url, f"{target}{number}", at=5.0))
        if "//new" in target or number < 5:
            sites.learn(page_event(at(f"{target}{number}"), 5.0))
        else:
            break
    assert sites.site("http://moved.example/").fetches == (0.0 if "//new" in target else 5.0 + POLICY.moved)


def test_redirects_to_other_places_without_a_page_count_like_pages_that_are_not_there():
    sites = with_a_crawl_of_relevant_pages()
    for number in range(100):
        url = f"http://maze.example/{number}"
        if not sites.goes(url):
            break
        sites.learn(redirect_event(url, f"http://maze{number}.example/", at=5.0))
    assert 5 < number < 25


def test_a_chain_of_redirects_is_forgiven_as_a_whole():
    sites = with_a_crawl_of_relevant_pages()
    names = [f"http://hop{number}.example/" for number in range(4)]
    for url, target in pairwise(names):
        sites.learn(redirect_event(url, target, at=5.0))
    assert all(sites.site(url).fetches > 0.0 for url in names[:-1])
    sites.learn(page_event(at(names[-1]), 5.0))
    assert [sites.site(url).fetches for url in names] == [0.0, 0.0, 0.0, 1.0]


def test_pages_that_are_not_there_hardly_count():
    sites = with_a_crawl_of_relevant_pages()
    for number in range(15):
        url = f"http://old.example/{number}"
        assert sites.goes(url)
        sites.learn(error_event(url, "http 404", 5.0, 404))


def test_links_of_its_own_do_not_count():
    sites = with_a_crawl_of_relevant_pages()
    links = tuple(f"http://www{n}.vain.example/" for n in range(50))
    assert allowed(sites, "vain.example", links=links) == allowed(with_a_crawl_of_relevant_pages(), "vain.example")


def test_spam_copies_and_walls_cost_more_than_a_fetch():
    dull = allowed(with_a_crawl_of_relevant_pages(), "x.example", relevance=0.0)
    assert allowed(with_a_crawl_of_relevant_pages(), "x.example", spam=1.0) < dull / 2
    assert allowed(with_a_crawl_of_relevant_pages(), "x.example", copy="http://g0.example/0") < dull
    sites = with_a_crawl_of_relevant_pages()
    for number in range(4):
        sites.learn(error_event(f"http://x.example/{number}", "soft_404", 10.0))
    assert not sites.goes("http://x.example/9")


def test_spam_recommends_nobody():
    sites = with_a_crawl_of_relevant_pages()
    for number in range(20):
        fetch(sites, a_page(f"farm{number}.example", 0, spam=1.0, links=("http://vain.example/",)), 10.0)
    assert not sites.site("http://vain.example/") or not sites.site("http://vain.example/").links


def test_waits_double_and_trials_are_few():
    sites = with_a_crawl_of_relevant_pages()
    allowed(sites, "dull.example", relevance=0.0)
    sites.add_named("http://other.example/")
    trials: list[int] = []
    for second in range(20, 5000):
        assert sites.goes(f"http://other.example/{second}")
        fetch(sites, a_page("other.example", second), float(second))
        if sites.goes(f"http://dull.example/w{second}"):
            trials.append(second)
            fetch(sites, replace(a_page("dull.example", 0, relevance=0.0), url=f"http://dull.example/w{second}"), 1.0)
    assert 3 <= len(trials) <= 8
    assert trials[-1] - trials[-2] > 4 * (trials[1] - trials[0])


def test_without_budgets_nobody_waits():
    assert allowed(Books(share=0.0), "dull.example", relevance=0.0) == 500


def test_subdomains_share_a_budget():
    sites = with_a_crawl_of_relevant_pages()
    for number in range(100):
        fetch(sites, a_page(f"x{number}.farm.example", 0, relevance=0.0), 5.0)
    assert not sites.goes("http://new.farm.example/")


def test_a_site_that_a_person_named_has_no_budget_until_there_is_evidence():
    sites = with_a_crawl_of_relevant_pages()
    sites.add_named("http://large.example/")
    assert allowed(sites, "www.large.example", most=400, relevance=0.0) == 400


@pytest.mark.parametrize(
    "evidence", [{"spam": 0.9}, {"copy": "http://g0.example/0"}, {"novelty": 0.1}, {"ratio": 0.97}]
)
def test_evidence_counts_more_than_a_name(evidence: dict[str, Any]):
    novelty, ratio = evidence.pop("novelty", 1.0), evidence.pop("ratio", 0.3)
    sites = with_a_crawl_of_relevant_pages()
    sites.add_named("http://trap.example/")
    for number in range(100):
        if not sites.goes(f"http://trap.example/{number}"):
            break
        page = a_page("trap.example", number, relevance=0.0, **evidence)
        fetch(sites, replace(page, signs={"novelty": novelty}), 5.0, ratio)
    assert number < 50


def test_the_site_that_a_seed_has_moved_to_is_named_too():
    sites = with_a_crawl_of_relevant_pages()
    sites.learn(redirect_event("http://seed.example/", "https://new.example/", at=5.0, depth=0))
    assert allowed(sites, "www.new.example", most=100, relevance=0.0) == 100
