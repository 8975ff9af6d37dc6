"""Facts about hosts that a frontier on disk restores from its journal."""

from __future__ import annotations

import time

from crawlproject.frontier.disk.journal import HostFacts, Summary


def test_a_pick_that_was_given_back_is_the_latest_of_its_host() -> None:
    facts = HostFacts(Summary(picks=[1, 2, 1, 3]))
    for host in (1, 9):
        facts.replay("unpick", [host])
    assert facts.picks == [1, 2, 3]


def test_picks_that_are_given_back_cost_the_same_behind_many_others() -> None:
    """Each URL that was refused when its turn came gives its pick back."""
    facts = HostFacts(Summary(picks=[0] * 150_000))
    began = time.process_time()
    for host in range(1, 20_000):
        facts.replay("pick", [host])
        facts.replay("unpick", [host])
    assert time.process_time() - began < 2.0 and len(facts.picks) == 150_000
