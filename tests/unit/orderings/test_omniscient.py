"""The plan of the omniscient ordering, and its execution."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from support.pages import a_context, a_link, a_page

from crawlproject.orderings.base import Graph, RedirectLinks
from crawlproject.orderings.omniscient import Omniscient, path_plan

LINKS = {"s": ["b", "a", "x"], "a": ["T1"], "b": ["c"], "c": ["T2"], "T1": ["T3"], "T2": [], "T3": [], "x": ["y"]}


def test_the_path_with_the_most_targets_a_page_comes_first() -> None:
    """Behind ``a`` are two targets for one other page; behind ``b`` and ``c`` one for two; nothing is behind ``x``."""
    plan = path_plan(LINKS.get, ["s"], ["T2", "T3", "T1", "nowhere"])
    assert list(plan.items()) == [
        ("s", None),
        ("a", "s"),
        ("T1", "a"),
        ("T3", "T1"),
        ("b", "s"),
        ("c", "b"),
        ("T2", "c"),
    ]


def test_a_hub_far_away_beats_a_target_nearby() -> None:
    hub = [f"T{number}" for number in range(9)]
    links = {"s": ["near", "far"], "near": ["T"], "far": ["hub"], "hub": hub, "T": [], **{url: [] for url in hub}}
    assert list(path_plan(links.get, ["s"], ["T", *hub])) == ["s", "far", "hub", *hub, "near", "T"]


def test_redirects_are_no_pages() -> None:
    """Two redirects cost less than one page on the path to a target."""
    links = {
        "s": ["page", "r1"],
        "page": ["T1"],
        "r1": RedirectLinks(["r2"]),
        "r2": RedirectLinks(["T2"]),
        "T1": [],
        "T2": [],
    }
    assert list(path_plan(links.get, ["s"], ["T1", "T2"])) == ["s", "r1", "r2", "T2", "page", "T1"]


def test_seeds_are_pages_like_others() -> None:
    """Nothing is behind ``dead``; behind ``poor`` is one target for two pages, behind ``rich`` are two for one."""
    links = {
        "dead": ["x"],
        "poor": ["p"],
        "p": ["T1"],
        "rich": ["T2", "T3"],
        "T4": [],
        "x": [],
        "T1": [],
        "T2": [],
        "T3": [],
    }
    plan = path_plan(links.get, ["dead", "poor", "rich", "T4", "nowhere"], ["T1", "T2", "T3", "T4"])
    assert list(plan.items()) == [
        ("T4", None),
        ("rich", None),
        ("T2", "rich"),
        ("T3", "rich"),
        ("poor", None),
        ("p", "poor"),
        ("T1", "p"),
    ]
    ordering = Omniscient(a_context(seeds=("dead", "poor", "rich"), graph=links.get, targets=("T1", "T2", "T3")))
    assert sorted(("dead", "poor", "rich"), key=ordering.seed_score, reverse=True) == ["rich", "poor", "dead"]


def random_graph(random: Random, pages: int, links: int) -> Graph:
    return {n: [str(random.randrange(pages)) for _ in range(links)] for n in map(str, range(pages))}.get


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_can_be_crawled_and_finds_every_target_once(seed: int) -> None:
    random = Random(seed)
    graph = random_graph(random, 200, 2)
    targets = random.sample([str(number) for number in range(200)], 20)
    reached, queue = {"0"}, ["0"]
    while queue:
        queue += [link for link in graph(queue.pop()) or () if not (link in reached or reached.add(link))]
    plan = path_plan(graph, ["0"], targets)
    assert set(targets) & plan.keys() == set(targets) & reached
    places = {url: number for number, url in enumerate(plan)}
    for url, parent in plan.items():
        assert parent is None if url == "0" else url in (graph(parent) or ()) and places[parent] < places[url]
    assert list(plan)[-1] in targets, "it ends with the last target"


def omniscient() -> Omniscient:
    ordering = Omniscient(a_context(seeds=("s",), graph=LINKS.get, targets=("T1", "T2", "T3")))
    ordering.observe(a_page("s"))
    return ordering


def active(ordering: Omniscient) -> list[str]:
    """The URLs that reach the floor after a revision."""
    return [url for url, score in ordering.revise() if score >= ordering.floor]


def test_one_url_of_the_plan_is_active_at_a_time_also_when_a_fetch_fails() -> None:
    ordering, fetched = omniscient(), []
    while found := active(ordering):
        fetched += found
        if found[0] in ("T1", "b"):
            ordering.failed(found[0])
        else:
            ordering.observe(a_page(found[0]))
    assert fetched == ["a", "T1", "T3", "b", "c", "T2"]


@pytest.mark.parametrize("event", ["refused", "too_deep", "postponed"])
def test_what_is_refused_or_held_back_stops_nothing(event: str) -> None:
    ordering = omniscient()
    assert active(ordering) == ["a"]
    getattr(ordering, event)("a")
    assert active(ordering) == ["T1"]


def test_what_a_redirect_led_to_is_not_fetched_again() -> None:
    ordering = omniscient()
    ordering.redirected("a", "T1")
    ordering.observe(a_page("T1"))
    assert active(ordering) == ["T3"]


def test_only_the_plan_is_followed_and_scores_fall_along_it() -> None:
    ordering = omniscient()
    assert active(ordering) == ["a"]
    page = a_page("s", links=[a_link(url) for url in ("x", "a", "T1", "T3", "b", "c", "T2")])
    aside, *scores = [ordering.score(page, link) for link in page.links]
    assert aside is None and scores[0] == ordering.floor
    assert all(later < earlier for earlier, later in pairwise(scores))
    assert ordering.seed_score("s") > ordering.seed_score("unplanned")
