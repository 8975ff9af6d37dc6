"""Clearing a frontier removes the waiting URLs and keeps everything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from support.frontiersteps import url, waiting

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness


def memory(folder: Path, commit: int) -> FrontierCore:
    return MemoryFrontier(politeness=Politeness(1.0, 1.0), random=Random(1), commit=commit)


def journaled(folder: Path, commit: int) -> FrontierCore:
    inner = memory(folder, commit)
    assert isinstance(inner, MemoryFrontier)
    return JournaledFrontier(inner, folder, clock=lambda: 0.0)


def disk(folder: Path, commit: int) -> FrontierCore:
    return DiskFrontier(folder, politeness=Politeness(1.0, 1.0), random=Random(1), clock=lambda: 0.0, commit=commit)


@pytest.mark.parametrize("make", [memory, journaled, disk])
@pytest.mark.parametrize("commit", [1, 3])
def test_what_waits_leaves_and_may_come_again(
    tmp_path: Path, make: Callable[[Path, int], FrontierCore], commit: int
) -> None:
    frontier = make(tmp_path, commit)
    done = url("a/done")
    frontier.put(done)
    taken = frontier.take(0.0)
    assert taken is not None
    frontier.done(taken.key, 5.0, 1.0)
    for number in range(6):
        frontier.put(url("abcdef"[number] + "/", float(number)))
    leased = frontier.take(5.5)
    assert leased is not None
    frontier.clear()
    assert waiting(frontier) == [] and len(frontier) == 0 and frontier.hosts() == 0
    assert frontier.take(100.0) is None and frontier.next_due(100.0) is None
    assert done.key in frontier and frontier.leased(leased.key) == leased and frontier.evicted() == 5
    again = url("a/again")
    assert frontier.put(again) and not frontier.put(done)
    assert frontier.take(5.6) is None  # the clock of the host continues
    assert frontier.take(6.1) == again
    frontier.close()
    if make is not memory:
        reopened = make(tmp_path, commit)
        assert done.key in reopened and {found.url for found in waiting(reopened)} == {leased.url, again.url}
        reopened.close()
