"""Views that read the files of a frontier: they list URLs in the order in which they are taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from support.frontiersteps import url

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.views.open import read_frontier
from crawlproject.frontier.views.view import best_waiting, place_of
from crawlproject.frontier.views.workers import WorkersView
from crawlproject.records import REVISITS

POLITE = Politeness(1.0, 1.0)


def journaled(folder: Path) -> FrontierCore:
    return JournaledFrontier(MemoryFrontier(politeness=POLITE, random=Random(1)), folder, clock=lambda: 0.0)


def disk(folder: Path) -> FrontierCore:
    return DiskFrontier(folder, politeness=POLITE, random=Random(1), clock=lambda: 0.0)


@pytest.mark.parametrize("make", [journaled, disk])
def test_urls_are_in_the_order_in_which_they_are_taken(tmp_path: Path, make: Callable[[Path], FrontierCore]) -> None:
    found = [url("a/good", 0.9), url("b/equal", 0.9), url("c/again", 0.1, precedence=REVISITS), url("d/poor", 0.2)]
    order = [found[place].url for place in (2, 0, 1, 3)]
    for name in ("looked at", "taken"):
        (tmp_path / name).mkdir()
        frontier = make(tmp_path / name)
        frontier.put_many(found)
        if name == "taken":
            assert [taken.url for taken in iter(lambda: frontier.take(0.0), None)] == order  # noqa: B023
        frontier.close()
    view = read_frontier(tmp_path / "looked at")
    assert view is not None
    for seen in (view, WorkersView([view])):
        assert [record.url for record in best_waiting(seen, 4)] == order
        assert [record.url for record in best_waiting(seen, 2)] == order[:2]
        assert [place_of(seen, each, 0.0).ahead for each in order] == [0, 1, 2, 3]
