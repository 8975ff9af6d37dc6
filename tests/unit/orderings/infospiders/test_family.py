"""The family of InfoSpiders agents: births, deaths and energy in a crawl of the sample web."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.livecrawl import crawl_on

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.orderings.base import AgentLife
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.records import AGENT, NOT_KEPT, Topic
from crawlproject.storage.logs import AGENTS, read_agents
from crawlproject.storage.read import read_visits
from crawlproject.webs.sample import SampleWeb

SEEDS = ("http://www.lagoon-notes.example/", "http://www.nacre-divers.example/", "http://www.hobby-ring.example/")
TOPIC = Topic("reefs", ("coral reef", "corals", "bleaching"), SEEDS)
POPULATION = 6


def opened(folder: Path, ordering: str = "infospiders") -> Crawl:
    settings = {
        "ORDERING": ordering, "ORDERING_POPULATION": POPULATION, "ORDERING_REPRODUCTION": 2.0,
        "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0,
    }  # fmt: skip
    return assemble(TOPIC, read_options(settings), clock=lambda: 5000.0, folder=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with births and deaths, stopped."""
    place = tmp_path_factory.mktemp("reefs")
    crawl = opened(place)
    crawl_on(crawl, SampleWeb(), 120)
    crawl.close("shutdown", 5000.0)
    return place


@pytest.fixture
def family(folder: Path) -> dict[int, AgentLife]:
    return {life["number"]: AgentLife(**life) for life in read_agents(folder)}


def observed(folder: Path) -> list[bool]:
    """For each fetch, whether the ordering observed a page; a resumed crawl observes the stored pages again."""
    visits = list(read_visits(folder))
    assert not any(visit.error == NOT_KEPT for visit in visits)
    return [visit.leads_on and not visit.repeats for visit in visits]


def test_everybody_has_parents_and_dates(family: dict[int, AgentLife], folder: Path) -> None:
    pages = sum(observed(folder))
    assert sorted(family) == list(range(len(family)))
    for life in family.values():
        assert 0 <= life.born <= (life.died if life.died is not None else pages) <= pages
        if life.parent >= 0:
            parent = family[life.parent]
            assert parent.number < life.number and parent.born <= life.born
            assert parent.died is None or parent.died >= life.born
        else:
            assert life.keyword == ""
    assert any(life.died is not None for life in family.values())
    assert sum(life.parent >= 0 and bool(life.keyword) for life in family.values()) > 2


def test_the_living_are_few_and_have_energy(family: dict[int, AgentLife]) -> None:
    living = [life for life in family.values() if life.died is None]
    assert 0 < len(living) <= POPULATION
    assert all(0 < life.energy <= 1 for life in living) and all(life.waiting for life in living)


def test_who_fetches_lives(family: dict[int, AgentLife], folder: Path) -> None:
    for number, visit in enumerate(visit for visit in read_visits(folder) if visit.leads_on and not visit.repeats):
        life = family[int(visit.signs[AGENT])]
        assert life.born <= number and (life.died is None or life.died > number)


def test_a_resumed_crawl_has_the_same_family(family: dict[int, AgentLife], folder: Path) -> None:
    crawl = opened(folder)
    resumed = {life.number: life for life in crawl.ordering.family(1000)}
    crawl.close("shutdown", 5000.0)
    assert resumed.keys() == family.keys()
    for life in resumed.values():
        assert (life.parent, life.born, life.died, life.keyword) == (
            (known := family[life.number]).parent, known.born, known.died, known.keyword
        )  # fmt: skip


@pytest.mark.parametrize("most", [0, 1, 3, 9, 10_000])
def test_of_many_the_living_and_their_ancestors_come_first(folder: Path, most: int) -> None:
    crawl = opened(folder)
    everybody = {life.number: life for life in crawl.ordering.family(1000)}
    shown = crawl.ordering.family(most)
    crawl.close("shutdown", 5000.0)
    assert len({life.number for life in shown}) == len(shown) == min(most, len(everybody))
    living = {life.number for life in everybody.values() if life.died is None}
    wanted = {*living}
    for number in living:
        while (number := everybody[number].parent) >= 0:
            wanted.add(number)
    numbers = {life.number for life in shown}
    assert numbers >= wanted or numbers <= wanted


def test_other_orderings_have_no_agents(tmp_path: Path) -> None:
    crawl = opened(tmp_path, "best_first")
    crawl_on(crawl, SampleWeb(), 3)
    crawl.close("shutdown", 5000.0)
    assert not (tmp_path / AGENTS).exists() and read_agents(tmp_path) == []
    assert {name for name, cls in ORDERINGS.items() if "family" in vars(cls)} == {"infospiders"}
