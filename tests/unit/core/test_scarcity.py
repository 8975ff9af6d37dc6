"""The scarce resource, pages or time, determines the score below which a host is spare."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.core.stopping import MOST, NEARLY, RECENT, Scarcity
from crawlproject.records import ACTIVE, SPARE, WASTE


def of_pages(spent: float = 0.5) -> Scarcity:
    """``both``, with a budget of pages."""
    return Scarcity("both", pages=lambda: spent)


def test_pages_are_for_active_hosts_and_time_is_for_all() -> None:
    assert Scarcity("pages").ceiling() == ACTIVE
    assert Scarcity("time").ceiling() == WASTE


def test_a_budget_of_pages_leaves_room_for_hosts_that_are_nearly_as_good() -> None:
    scarcity = of_pages()
    assert scarcity.ceiling() == SPARE
    assert scarcity.spare(1.0) == NEARLY
    assert scarcity.spare(-1.0) == -1 / NEARLY, "worse than the floor, also below zero"


def taken_until(scarcity: Scarcity, ceiling: int, score: float) -> int:
    """The number of fetches with this score, under a floor of 1, that move the ceiling to this class."""
    number = 0
    while scarcity.ceiling() != ceiling:
        scarcity.taken(score, 1.0)
        number += 1
    return number


def test_after_too_many_fetches_below_the_floor_the_crawl_waits_for_its_best_hosts() -> None:
    scarcity = of_pages()
    assert taken_until(scarcity, ACTIVE, 0.95) <= MOST * RECENT + 2
    assert taken_until(scarcity, SPARE, 1.5) < RECENT


@settings(max_examples=30)  # of hundreds of numbers each
@given(st.lists(st.sampled_from([0.95, 1.2]), min_size=500, max_size=1000))
def test_the_share_of_fetches_below_the_floor_is_bounded(scores: list[float]) -> None:
    """In a stream of URLs, those below the floor are taken only while there is room."""
    scarcity, taken = of_pages(), []
    for score in scores:
        if score >= 1.0 or scarcity.ceiling() >= SPARE:
            taken.append(score < 1.0)
            scarcity.taken(score, 1.0)
    assert sum(taken) <= (MOST + 1 / RECENT) * (len(taken) + RECENT)


def test_without_a_floor_nothing_changes() -> None:
    scarcity = of_pages()
    for _ in range(1000):
        scarcity.taken(0.1, -math.inf)
    assert scarcity.ceiling() == SPARE and scarcity.spare(-math.inf) == -math.inf


@pytest.mark.parametrize("time", [None, lambda: 0.5], ids=["no budget", "a budget of time"])
def test_without_a_budget_of_pages_waiting_saves_nothing(time: Callable[[], float] | None) -> None:
    scarcity = Scarcity("both", time=time)
    scarcity.taken(0.1, 1.0)
    assert scarcity.ceiling() == WASTE


def test_pages_that_somebody_else_limits_are_a_budget() -> None:
    scarcity = Scarcity("both")
    scarcity.limit_pages()
    assert scarcity.ceiling() == SPARE


@given(st.floats(0.05, 4.0), st.floats(0.05, 4.0))
def test_with_both_budgets_they_are_spent_together_if_they_can_be(active: float, all_hosts: float) -> None:
    """``active`` pages per second come from active hosts, more from all hosts; one per second spends both budgets in time."""
    pages, now = 0.0, 0
    scarcity = Scarcity("both", pages=lambda: pages / 1000, time=lambda: now / 1000)
    while pages < 1000 and now < 1000:
        now += 1
        pages += active + (all_hosts if scarcity.ceiling() == WASTE else 0.0)
        scarcity.taken(1.5, 1.0)
    if active < 1.0 <= active + all_hosts:
        assert pages >= 990 and now >= 990
    elif active >= 1.0:
        assert scarcity.ceiling() == SPARE or now < 5, "never late: only the best hosts are visited"
