"""What is scarce, pages or time, decides from which score a host is spare."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.crawl.scarcity import MOST, NEARLY, RECENT, Scarcity


@pytest.mark.parametrize("floor", [0.8, 0.0, -0.8])
def test_pages_leave_no_room_below_the_floor_and_time_leaves_all(floor: float) -> None:
    assert Scarcity("pages").spare(floor) == floor
    assert Scarcity("time").spare(floor) == -math.inf
    assert not Scarcity("pages").taken(floor - 1, floor) and not Scarcity("time").taken(floor - 1, floor)


def test_both_leave_room_for_hosts_that_are_nearly_as_good() -> None:
    scarcity = Scarcity("both")
    assert scarcity.spare(1.0) == NEARLY
    assert scarcity.spare(-1.0) == -1 / NEARLY, "worse than the floor, also below zero"


def test_after_too_many_fetches_below_the_floor_the_crawl_waits_for_its_best_hosts() -> None:
    scarcity, below = Scarcity("both"), 0
    while not scarcity.taken(0.95, 1.0):
        below += 1
    assert below <= MOST * RECENT + 1 and scarcity.spare(1.0) == 1.0
    above = 1
    while not scarcity.taken(1.5, 1.0):
        above += 1
    assert scarcity.spare(1.0) == NEARLY and above < RECENT


@given(st.lists(st.sampled_from([0.95, 1.2]), min_size=500, max_size=1000))
def test_the_share_of_fetches_below_the_floor_is_bounded(scores: list[float]) -> None:
    """Of a stream of URLs that would be taken, those below the floor only while there is room."""
    scarcity, taken = Scarcity("both"), []
    for score in scores:
        if score >= scarcity.spare(1.0):
            taken.append(score < 1.0)
            scarcity.taken(score, 1.0)
    assert sum(taken) <= (MOST + 1 / RECENT) * (len(taken) + RECENT)


def test_without_a_floor_nothing_changes() -> None:
    scarcity = Scarcity("both")
    assert not any(scarcity.taken(0.1, -math.inf) for _ in range(1000))
    assert scarcity.spare(-math.inf) == -math.inf
