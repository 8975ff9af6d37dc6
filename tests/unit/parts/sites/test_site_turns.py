"""Hosts over budget come later, are never forbidden, and come back as soon as their site has earned more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.events import error_event, page_event

from crawlproject.parts.sites import part
from crawlproject.parts.sites.part import SiteTurns
from crawlproject.parts.sites.site_budgets import POLICY, SiteBudgets, cost_of
from crawlproject.records import ACTIVE, OVER_BUDGET, WASTE, FetchEvent, Page
from crawlproject.urls.hosts import domain_of


class Crawled:
    """A crawl after so many walls that no site is trusted beyond its budget, with the classes of its hosts."""

    def __init__(self, *, share: float = 1.0) -> None:
        self.sites = SiteBudgets(share=share)
        self.classes: dict[str, int] = {}
        self.postponed: list[str] = []
        self.turns = SiteTurns(self.sites, self.classes.__setitem__, self.postponed.append)
        for number in range(300):
            self.sites.add_named(f"http://wall{number}.example/")
            self.ended(error_event(f"http://wall{number}.example/", "block/captcha"))

    def ended(self, event: FetchEvent, *linked: str) -> None:
        self.sites.learn(event, linked)
        self.turns.ended(event.visit.url, cost_of(event.visit))
        self.turns.reconsider(event.visit.url)

    def fetch(self, url: str, *linked: str, relevance: float = 0.5, spam: float = 0.0) -> None:
        """Give the URL its turn, and find a page there."""
        assert self.turns.turn(url)
        self.ended(page_event(Page(url, relevance=relevance, spam=spam, depth=1)), *linked)

    def use_up(self, host: str, *, spam: float = 0.0) -> int:
        """Fetch pages until the host comes later; return their number."""
        for number in range(100):
            url = f"http://{host}/{number}"
            if not self.turns.turn(url):
                return number
            self.fetch(url, relevance=0.0, spam=spam)
        raise AssertionError("nothing ends it")

    def used(self, url: str) -> float:
        """The number of fetches of a site that count."""
        site = self.sites.site(url)
        return (site.fetches if site else 0.0) - self.turns._turns[domain_of(url)].spared


def test_a_host_over_budget_comes_later_and_is_never_forbidden() -> None:
    crawl = Crawled()
    assert crawl.use_up("dull.example") > POLICY.first
    assert crawl.classes == {"dull.example": OVER_BUDGET} and crawl.postponed == ["dull.example"]
    assert crawl.turns.is_postponed("http://dull.example/more")
    assert not crawl.turns.is_postponed("http://other.example/")
    assert crawl.turns.turn("http://dull.example/more"), "nothing better was due"
    assert crawl.turns.count == 1


def test_who_wastes_time_on_purpose_comes_last() -> None:
    crawl = Crawled()
    crawl.use_up("spam.example", spam=1.0)
    assert crawl.classes == {"spam.example": WASTE}


def test_each_host_of_a_site_comes_later_at_its_turn_and_all_come_back_together() -> None:
    crawl = Crawled()
    crawl.use_up("www.dull.example")
    assert not crawl.turns.turn("http://sub.dull.example/")
    assert crawl.postponed == ["www.dull.example", "sub.dull.example"]
    for number in range(20):
        crawl.sites.add_named(f"http://friend{number}.example/")
        crawl.fetch(f"http://friend{number}.example/", "dull.example")
    assert crawl.classes == {"www.dull.example": ACTIVE, "sub.dull.example": ACTIVE}
    assert not crawl.turns.is_postponed("http://www.dull.example/")
    assert crawl.turns.turn("http://sub.dull.example/")


def test_no_more_hosts_come_back_than_their_site_may_make_fetches() -> None:
    crawl = Crawled()
    crawl.use_up("www.swarm.example")
    names = [f"n{number}.swarm.example" for number in range(200)]
    for name in names:
        assert not crawl.turns.turn(f"http://{name}/")
    for number in range(5):
        crawl.sites.add_named(f"http://friend{number}.example/")
        crawl.fetch(f"http://friend{number}.example/", "swarm.example")
    back = [name for name in crawl.classes if crawl.classes[name] == ACTIVE]
    assert back == ["www.swarm.example", *names[: len(back) - 1]] and 0 < len(back) < 20, "else each is put back alone"
    assert crawl.turns.is_postponed("http://swarm.example/"), "others still wait"
    fetched = sum(crawl.turns.turn(f"http://{name}/") for name in back)
    assert fetched == len(back) or crawl.classes[back[fetched]] == OVER_BUDGET


def test_what_is_fetched_in_a_later_class_costs_the_site_nothing_and_gives_it_nothing() -> None:
    crawl = Crawled()
    crawl.use_up("dull.example")
    used = crawl.used("http://dull.example/")
    for number in range(15):
        crawl.fetch(f"http://dull.example/later/{number}", spam=0.5)
        missing, silent = f"http://dull.example/missing/{number}", f"http://dull.example/silent/{number}"
        assert crawl.turns.turn(missing) and crawl.turns.turn(silent)
        crawl.ended(error_event(missing, "http 404", status=404))
        crawl.turns.ended(silent)  # no answer: it waits again
    assert crawl.used("http://dull.example/") == pytest.approx(used)
    assert crawl.classes == {"dull.example": OVER_BUDGET}, "else pages that are not there would pay for others"


def test_an_honest_site_earns_its_way_back_in_a_later_class() -> None:
    crawl = Crawled()
    for number in range(5):
        crawl.fetch(f"http://wall{number}.example/good")
    crawl.use_up("late.example")
    assert crawl.classes["late.example"] == OVER_BUDGET
    for number in range(20):
        crawl.fetch(f"http://late.example/good/{number}")
        if crawl.classes["late.example"] == ACTIVE:
            break
    assert number < 5


def test_fetches_in_flight_count() -> None:
    crawl = Crawled()
    turns = [crawl.turns.turn(f"http://new.example/{number}") for number in range(5)]
    assert turns == [True, True, False, True, True], "two, and then only because nothing better was due"
    crawl.turns.ended("http://new.example/0")
    crawl.turns.reconsider("http://new.example/0")
    assert crawl.classes == {"new.example": ACTIVE}
    assert crawl.turns.turn("http://new.example/5") and not crawl.turns.turn("http://new.example/6")


def test_a_url_that_waited_for_robots_txt_after_its_turn_does_not_count_against_itself() -> None:
    crawl = Crawled()
    assert crawl.turns.turn("http://new.example/0") and crawl.turns.turn("http://new.example/1")
    assert crawl.turns.turn("http://new.example/1")
    crawl.fetch("http://new.example/1", relevance=0.0)
    assert crawl.used("http://new.example/") == 1.0


def test_a_trial_is_of_one_page() -> None:
    crawl = Crawled()
    crawl.use_up("dull.example")
    for number in range(int(POLICY.first_wait)):
        assert crawl.classes["dull.example"] == OVER_BUDGET
        crawl.fetch(f"http://wall{number}.example/good")
    assert crawl.turns.turn("http://wall200.example/good")
    assert crawl.classes["dull.example"] == ACTIVE
    assert crawl.turns.turn("http://dull.example/trial") and not crawl.turns.turn("http://dull.example/another")
    assert crawl.classes["dull.example"] == OVER_BUDGET


def test_without_budgets_nobody_comes_later() -> None:
    crawl = Crawled(share=0.0)
    for number in range(100):
        crawl.fetch(f"http://dull.example/{number}", spam=1.0)
    assert not crawl.classes and not crawl.turns.is_postponed("http://dull.example/")


def test_a_site_that_is_forgotten_is_as_others_again(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Crawled()
    crawl.use_up("dull.example")
    monkeypatch.setattr(part, "POLICY", replace(POLICY, sites=3))
    for number in range(3):
        crawl.turns.turn(f"http://site{number}.example/")
    assert crawl.classes["dull.example"] == ACTIVE and not crawl.turns.is_postponed("http://dull.example/")
