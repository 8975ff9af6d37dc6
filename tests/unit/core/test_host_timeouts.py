"""Time-outs: quick hosts have shorter ones, slow hosts the full one, and no host fails twice through a short one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.core.responses import HostTimeouts

FULL = 30.0
SECONDS = st.floats(0.0, 100.0)


def test_a_quick_host_has_the_least_time_and_a_slow_one_all() -> None:
    timeouts = HostTimeouts(5.0)
    for host, seconds in (("quick", 0.05), ("fair", 0.5), ("slow", 2.0)):
        for _ in range(3):
            timeouts.answered(host, seconds)
    assert [timeouts.of(host, FULL) for host in ("quick", "fair", "slow", "new")] == [5.0, 10.0, FULL, FULL]


def test_a_host_that_failed_has_all_time_again() -> None:
    timeouts = HostTimeouts(5.0)
    timeouts.answered("quick", 0.05)
    timeouts.failed("quick", 5.0)
    assert timeouts.of("quick", FULL) == FULL


def test_quick_answers_do_not_take_it_from_a_host_that_has_one_slow_page() -> None:
    """Its robots.txt and its other pages arrive at once."""
    timeouts = HostTimeouts(5.0)
    timeouts.answered("host", 0.05)
    timeouts.failed("host", 5.0)
    for _ in range(10):
        timeouts.answered("host", 0.05)
    assert timeouts.of("host", FULL) == FULL
    for _ in range(100):
        timeouts.answered("host", 0.05)
    assert timeouts.of("host", FULL) == 5.0


def test_without_a_least_time_all_hosts_have_all() -> None:
    timeouts = HostTimeouts(0.0)
    timeouts.answered("quick", 0.05)
    assert timeouts.of("quick", FULL) == FULL


@given(st.lists(SECONDS, min_size=1), st.floats(0.1, 20.0))
def test_the_time_is_never_below_what_the_last_answer_needed_nor_above_the_full_one(
    took: list[float], least: float
) -> None:
    timeouts = HostTimeouts(least)
    for seconds in took:
        timeouts.answered("host", seconds)
    assert min(FULL, max(least, took[-1])) <= timeouts.of("host", FULL) <= FULL
