"""Link farms are recognised by the sites that they link to; communities and victims of link spam are not link farms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.events import page_event
from support.learnedstate import differences, state
from support.pages import a_link

from crawlproject.configuration import read_options
from crawlproject.core.learned_state import Unfit, fields_of
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.orderings.base import BaseOrdering
from crawlproject.parts.sites import link_farms as farms_module
from crawlproject.parts.sites.link_farms import FARMS, LinkFarms, SiteTracker
from crawlproject.parts.sites.part import make_tracker
from crawlproject.parts.sites.site import HostHealth
from crawlproject.parts.sites.site_budgets import SiteBudgets
from crawlproject.records import CLIQUE, NOVELTY, SUSPECTS, Fetch, Link, Page

FETCH = Fetch(200, 0.0, 0.1)
SPAM = 0.6  # of a page that is mostly spam


class Tour:
    """A crawl that visits pages in the order of the calls."""

    def __init__(self, share: float = 1.0) -> None:
        self.conduct = SiteTracker(HostHealth(), SiteBudgets(share=share))
        self.pages: list[Page] = []

    @property
    def farms(self) -> LinkFarms:
        return self.conduct.farms

    def seen(self, site: str, *links: str, spam: float = 0.0, signs: dict[str, float] | None = None) -> Page:
        """The page as it would be stored if it arrived now."""
        page = Page(f"http://www.{site}.example/{len(self.pages)}", relevance=0.5, spam=spam, signs=signs or {})
        page = replace(page, links=tuple(a_link(f"http://{link}.example/") for link in links))
        return self.farms.inspect(page, FETCH)

    def visit(self, site: str, *links: str, spam: float = 0.0, times: int = 1) -> Page:
        """Fetch and store a page, ``times`` times."""
        for _ in range(times):
            page = self.seen(site, *links, spam=spam)
            self.conduct.learn(page_event(page, float(len(self.pages))))
            self.pages.append(page)
        return page

    def clique(self, sites: Sequence[str], *more: str, spam: float = 0.0, times: int = 2) -> None:
        """Sites that all link to each other."""
        for site in sites:
            self.visit(site, *[other for other in sites if other != site], *more, spam=spam, times=times)


class _Worth(BaseOrdering):
    """A link scores as its page does."""

    def __init__(self) -> None:
        """Needs no context."""

    def score(self, page: Page, link: Link) -> float:
        return page.relevance


def names(kind: str, count: int) -> list[str]:
    return [f"{kind}{number}" for number in range(count)]


# ------------------------------------------------------------ the rules of the paper, and where they end


@pytest.mark.parametrize(("partners", "found"), [(1, False), (2, False), (4, True), (8, True)])
def test_a_site_that_exchanges_links_with_enough_suspect_sites_is_marked(partners: int, found: bool) -> None:
    tour = Tour()
    sites = names("farm", partners)
    for _ in range(2):
        tour.clique([*sites, "self"], spam=SPAM)
    page = tour.seen("self", *sites)
    assert (page.signs.get(CLIQUE, 0.0) > 0.0) is found
    assert page.signs.get(SUSPECTS, 0.0) == (partners if found else 0.0)


def test_exchanges_of_honest_sites_are_no_sign_however_many_there_are() -> None:
    tour = Tour()
    departments = names("university", 12)
    for _ in range(3):
        tour.clique(departments)
    assert not any(page.signs for page in tour.pages), "the common nodes of the paper would mark all of them"


def test_what_leads_to_marked_sites_is_marked_though_nothing_is_wrong_with_its_pages() -> None:
    tour = Tour()
    sites = names("farm", 6)
    for _ in range(2):
        tour.clique(sites, spam=SPAM)
    annexe = tour.visit("annexe", *sites)
    assert annexe.signs[CLIQUE] > 0.5
    assert annexe.spam > 0.5
    assert tour.farms.site("http://annexe.example/").suspicion > 0.5, "what leads to it will be suspect"


def test_who_was_littered_with_links_to_farms_is_none() -> None:
    tour = Tour()
    sites, friends = names("farm", 8), names("friend", 24)
    for _ in range(2):
        tour.clique(sites, spam=SPAM)
    for friend in friends:
        tour.visit(friend)
    for number in range(8):
        page = tour.visit("blog", *friends[number * 3 : number * 3 + 3], sites[number])
    assert CLIQUE not in page.signs
    assert tour.farms.linker("blog.example") == "blog.example"


def test_clean_pages_have_credit_that_doubtful_ones_have_not() -> None:
    tour = Tour()
    sites, friends = names("farm", 10), names("friend", 10)
    for _ in range(2):
        tour.clique(sites, spam=SPAM)
    for friend in friends:
        tour.visit(friend)
    mixed = [*sites[:8], *friends]
    assert not tour.seen("victim", *mixed).signs
    assert tour.seen("list", *mixed, spam=SPAM).signs[CLIQUE] > 0.2


def test_sites_that_nobody_visited_say_nothing() -> None:
    tour = Tour()
    tour.visit("somebody", spam=SPAM)
    assert not tour.seen("list", *names("unknown", 50)).signs


def test_pages_of_a_farm_do_not_accuse_their_own_site_for_ever() -> None:
    tour = Tour()
    sites = names("farm", 6)
    for _ in range(2):
        tour.clique(sites, spam=SPAM)
    tour.visit("sold", *sites, times=3)
    assert tour.farms.linker("sold.example") == FARMS
    for start in range(0, 64, 8):
        others = names("honest", 64)[start : start + 8]
        for other in others:
            tour.visit(other)
        page = tour.visit("sold", *others)
    assert CLIQUE not in page.signs
    assert tour.farms.linker("sold.example") == "sold.example"
    assert tour.farms.site("http://sold.example/").suspicion == 0.0


def test_a_site_whose_pages_turn_honest_is_no_suspect_in_the_end() -> None:
    tour = Tour()
    tour.visit("hacked", spam=0.9, times=10)
    assert tour.farms.site("http://hacked.example/").suspicion == 1.0
    tour.visit("hacked", times=120)
    assert tour.farms.site("http://hacked.example/").suspicion == 0.0


def test_a_farm_whose_pages_turn_honest_does_not_accuse_itself_for_ever() -> None:
    tour = Tour()
    sites = names("farm", 8)
    for _ in range(2):
        tour.clique(sites, spam=SPAM)
    assert tour.seen("farm0", *sites[1:]).signs[CLIQUE] > 0.5
    for _ in range(30):
        tour.clique(sites)
    assert not tour.seen("farm0", *sites[1:]).signs


# ------------------------------------------------------------ what follows


def test_an_ordering_trusts_pages_and_links_of_a_farm_less() -> None:
    tour = Tour()
    sites = names("farm", 6)
    for _ in range(2):
        tour.clique(sites, spam=SPAM)
    page = tour.seen("annexe", *sites)
    page = replace(page, links=(replace(page.links[0], context_score=0.8),))
    (link,) = OrderingFeed(_Worth(), {}).follow(page)
    assert link is not None and link.score < 0.5 * page.relevance
    assert link.context_score < 0.4


def test_farms_count_as_one_linker_those_that_were_believed_before_too() -> None:
    tour = Tour()
    sites = names("farm", 6)
    for site in sites:
        tour.visit(site, "goal", spam=0.0)
    budgets = tour.conduct.sites
    goal = budgets.site("http://goal.example/")
    assert set(goal.links) == {f"{site}.example" for site in sites}
    for _ in range(3):
        tour.clique(sites, "goal", spam=SPAM, times=3)
    assert set(goal.links) == {FARMS}
    assert tour.conduct.counters()["sites/farms"] == len(sites)


def test_the_budget_of_a_farm_is_cut() -> None:
    tour, plain = Tour(), Tour()
    sites = names("farm", 8)
    for _ in range(2):
        tour.clique(sites, spam=SPAM)
    for one in (tour, plain):
        one.visit("annexe", *sites, times=2)
    budgets = [one.conduct.sites.budget(one.conduct.sites.site("http://annexe.example/")) for one in (tour, plain)]
    assert budgets[0] < 5.0 < budgets[1]


# ------------------------------------------------------------ after a resume, and in the long run

STEPS = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.sampled_from([0.0, 0.0, 0.3, 0.9]),
        st.sampled_from(["", "copy", "own_links", "stale", "noindex"]),
        st.lists(st.integers(0, 9), max_size=8),
    ),
    max_size=40,
)


def taken(tour: Tour, steps: Iterable[tuple[int, float, str, list[int]]]) -> list[Page]:
    """The pages of a crawl with the signs found."""
    for site, spam, how, links in steps:
        page = tour.seen(f"s{site}", *[f"s{link}" for link in links], spam=spam)
        page = replace(page, duplicate_of="http://s0.example/" if how in ("copy", "own_links") else "")
        extra = {"own_links": {"own_links": 1.0}, "stale": {NOVELTY: 0.2}}.get(how, {})
        page = replace(page, signs={**page.signs, **extra})
        kept = {"error": "noindex", "md5": ""} if how == "noindex" else {}
        tour.conduct.learn(page_event(page, float(len(tour.pages)), **kept))
        tour.pages.append(page)
    return tour.pages


@settings(max_examples=80, deadline=None)
@given(STEPS)
def test_signs_are_shares_and_only_of_those_with_suspects(steps) -> None:
    tour = Tour()
    pages = taken(tour, steps)
    for page in pages:
        assert 0.0 <= page.spam <= 1.0
        assert 0.0 < page.signs.get(CLIQUE, 1.0) <= 1.0
    if not any(spam for _, spam, _, _ in steps):
        assert not any(CLIQUE in page.signs for page in pages)


def test_the_sites_that_a_site_linked_to_last_are_remembered(monkeypatch) -> None:
    monkeypatch.setattr(farms_module, "_LINKS", 3)
    tour = Tour()
    remembered = []
    for links in (("a", "b", "c"), ("c",), ("a",), ("d",)):
        tour.visit("hub", *links)
        site = tour.farms.site("http://hub.example/")
        assert site is not None
        remembered.append("".join(name[0] for name in site.links))
    assert remembered == ["abc", "abc", "bca", "cad"]


def test_other_workers_are_told_of_the_linked_sites_that_a_page_changed_and_now_and_then_of_all() -> None:
    tour, told = Tour(), list[str]()
    other = SiteTracker(HostHealth(), SiteBudgets())
    for number in range(20):
        page = tour.seen("hub", "a", "b", *{2: ["c"], 6: ["d"]}.get(number, []), spam=0.0 if number < 2 else 0.8)
        event = page_event(replace(page, depth=1, relevance=float(number == 1)), float(number))
        tour.pages.append(page)
        tour.conduct.learn(event)
        new, changed, openness = tour.conduct.told(event) or ([], [], 0.0)
        told.append("/".join("".join(name[0] for name in names) for names in (new, changed)))
        other.learn_told(event, (new, changed, openness))
    assert told == ["ab/ab", "/ab", "c/c", *["/"] * 3, "d/", *["/"] * 8, "ab/ab", *["/"] * 4]
    passing = {"LinkFarms": frozenset({"_latest"})}
    for one, another in ((tour.farms, other.farms), (tour.conduct.sites, other.sites)):
        assert differences(state(one, passing), state(another, passing)) == []


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_memory_is_bounded_and_what_is_forgotten_says_nothing_more(steps) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(farms_module, "_SITES", 3)
        patch.setattr(farms_module, "_LINKS", 4)
        tour = Tour()
        taken(tour, steps)
        known = [site for n in range(10) if (site := tour.farms.site(f"http://s{n}.example/"))]
        assert len(known) <= 3
        assert all(len(site.links) <= 4 for site in known)
        for site in ("new1", "new2", "new3"):
            tour.visit(site)
        assert not tour.seen("list", *[f"s{n}" for n in range(10)]).signs


def test_what_cannot_be_used_changes_nothing() -> None:
    """Otherwise lines that it has processed would be shown to it again."""
    known = make_tracker((), read_options({}), alone=True)
    known.sites.add_named("http://a.example/")
    learned = known.learned()
    size, *rest = learned["new_links"][0]
    learned["new_links"] = ((size + 64, *rest), learned["new_links"][1])
    other = make_tracker((), read_options({}), alone=True)
    before = repr(fields_of(other.hosts, other.farms, other.sites))
    with pytest.raises(Unfit):
        other.set_learned(learned)
    assert repr(fields_of(other.hosts, other.farms, other.sites)) == before
