"""The memory of a frontier on disk does not grow with the number of waiting URLs."""

from __future__ import annotations

import gc
from pathlib import Path
from random import Random

import pytest

from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import ACTIVE, FIRST, UNINFORMATIVE, WASTE, CrawlUrl

HOSTS = 200
LIMITS = MemoryLimits(shared=64, host=8, crowd=16, hosts=50)


@pytest.mark.parametrize("classes", [(ACTIVE,), (FIRST, ACTIVE, UNINFORMATIVE, WASTE)], ids=str)
def test_ten_times_the_urls_are_no_more_objects_also_above_and_below_a_floor(
    tmp_path: Path, classes: tuple[int, ...]
) -> None:
    random, now, last = Random(3), 1000.0, 0
    frontier = DiskFrontier(tmp_path, politeness=Politeness(1.0), random=Random(1), clock=lambda: 0.0, limits=LIMITS)
    objects = []
    for waiting in (4_000, 40_000):
        while len(frontier) < waiting:
            with frontier.batch():
                for _ in range(50):
                    last += 1
                    url, precedence = f"http://h{random.randrange(HOSTS)}.example/{last}", random.choice(classes)
                    frontier.put(CrawlUrl(url, random.random(), 1, precedence=precedence))
            frontier.set_floor(floor := 0.9 + random.random() / 10, floor / 2)
            now += 1.0
            taken = frontier.take(now)
            assert taken is not None
            frontier.done(taken.url, now, 0.1)
        gc.collect()
        objects.append(len(gc.get_objects()))
    assert objects[1] - objects[0] < 4_000 * len(classes), "for 36,000 URLs more"
    frontier.close()


def test_a_held_url_takes_no_objects_while_visits_go_on(tmp_path: Path) -> None:
    """It uses memory only for its entries in mapped files."""
    random, now, last = Random(3), 1000.0, 0
    frontier = DiskFrontier(tmp_path, politeness=Politeness(1.0), random=Random(1), clock=lambda: 0.0, limits=LIMITS)
    objects = []
    for held in (4_000, 40_000):
        while len(frontier) < held:
            with frontier.batch():
                for _ in range(50):
                    last += 1
                    url = f"http://h{random.randrange(HOSTS)}.example/{last}"
                    frontier.put(CrawlUrl(url, 2 + random.random(), not_before=now + 1e4 * random.random()))
            now += 1.0
            if taken := frontier.take(now):
                frontier.done(taken.url, now, 0.1, now + 1e4)
        assert frontier.best() is not None and frontier.next_due(now) is not None
        gc.collect()
        objects.append(len(gc.get_objects()))
    assert objects[1] - objects[0] < 4_000, "for 36,000 URLs more"
    assert frontier.hosts() == HOSTS and frontier.hosts_in_memory() <= HOSTS
    frontier.close()
