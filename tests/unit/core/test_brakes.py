"""Brakes, which slow a crawl down in addition to politeness."""

from __future__ import annotations

import math
from pathlib import Path

from support.livecrawl import taken

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.records import Topic

SEEDS = tuple(f"http://h{number}.example/" for number in range(5))


class Until:
    """Forbids all fetches before a time, which each fetch postpones."""

    def __init__(self, time: float) -> None:
        self.time = time

    def next_time(self) -> float:
        return self.time

    def taken(self, now: float) -> None:
        self.time = now + 10


def a_crawl(folder: Path, *brakes: Until) -> Crawl:
    options = read_options({"ORDERING": "dom", "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0})
    return assemble(Topic("reef", ("coral reef",), SEEDS), options, clock=lambda: 0.0, folder=folder, brakes=brakes)


def test_every_brake_has_to_let_go(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, Until(5.0), Until(7.0))
    assert crawl.next_due(1.0) == 7.0 and crawl.take(6.0) is None
    assert crawl.next_due(9.0) == a_crawl(tmp_path / "free").next_due(9.0), "they have let go"
    taken(crawl, 7.0)
    assert crawl.next_due(9.0) == 17.0 and crawl.take(16.9) is None
    taken(crawl, 17.0)


def test_without_brakes_nothing_is_held(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    assert [taken(crawl, 3.0).url in SEEDS for _ in SEEDS] == [True] * len(SEEDS)


def test_with_an_endless_brake_nothing_is_due(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, Until(math.inf))
    assert crawl.next_due(3.0) is None and crawl.take(3.0) is None
