"""The clock of a run does not jump, even if the system clock does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.livecrawl import finish
from support.webs import host_farm

from crawlproject.adapters.running import SteadyClock
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.records import Fetch, Topic
from crawlproject.storage.read import read_visits

DAY = 86_400.0
ROOT = Path(__file__).parents[3]


class System:
    """A system's clocks: ``step`` sets the wall clock, ``sleep`` passes time."""

    def __init__(self, wall: float = 1_700_000_000.0) -> None:
        self.wall, self.elapsed = wall, 12.0

    def sleep(self, seconds: float) -> None:
        self.wall += seconds
        self.elapsed += seconds

    def steady(self) -> SteadyClock:
        return SteadyClock(lambda: self.wall, lambda: self.elapsed)


@pytest.mark.parametrize("step", [-DAY, DAY, -1.0])
def test_it_counts_elapsed_time_only(step: float) -> None:
    system = System()
    clock = system.steady()
    assert clock() == 1_700_000_000.0
    system.wall += step
    system.sleep(5.0)
    assert clock() == 1_700_000_005.0
    assert system.steady()() == system.wall


@pytest.mark.parametrize("frontier", ["memory", "disk"])
@pytest.mark.parametrize("step", [-DAY, DAY])
def test_a_step_in_the_middle_of_a_crawl_changes_no_pause(tmp_path: Path, frontier: str, step: float) -> None:
    assert crawled(tmp_path / "stepped", frontier, step) == crawled(tmp_path / "steady", frontier, 0.0)
    times = [visit.at for visit in read_visits(tmp_path / "stepped")]
    assert times == sorted(times)


@pytest.mark.parametrize("frontier", ["memory", "disk"])
@pytest.mark.parametrize("step", [-DAY, DAY, -1e9])
def test_a_crawl_that_is_resumed_after_a_step_goes_on(tmp_path: Path, frontier: str, step: float) -> None:
    """A server asked for a rest of five minutes: it gets exactly that."""
    system, web = System(), host_farm(1, 6)
    options = read_options({"ORDERING": "breadth_first", "FRONTIER": frontier, "CRAWL_SITE_BUDGET": 0})
    topic = Topic("reef", ("reef",), ("http://h0.example/",))
    clock = system.steady()
    crawl = assemble(topic, options, clock=clock, folder=tmp_path)
    url = crawl.take(clock())
    assert url is not None
    fetch, body = Fetch(200, clock(), 0.1, asked_rest=300.0), web.get(url.url).body
    finish(crawl, url, crawl.steps.read(url, body), body, fetch)
    crawl.close("stopped", clock())
    system.wall += step
    clock = system.steady()
    resumed = assemble(topic, options, clock=clock, folder=tmp_path)
    due = resumed.next_due(clock())
    assert due is not None and due - clock() <= 300.0 + 1500.0
    if step > 0:
        assert due <= clock()
    system.sleep(max(0.0, due - clock()))
    assert resumed.take(clock()) is not None
    resumed.close("stopped", clock())


def test_nothing_that_runs_in_a_crawl_reads_the_wall_clock() -> None:
    reads = re.compile(r"from time import (?:\w+, )*time\b|\btime\.time\(|datetime\.now\(")
    places = [*(ROOT / "crawlproject" / "components").rglob("*.py"), *(ROOT / "middlewares").glob("*.py")]
    places += [*(ROOT / "spiders").glob("*.py"), *(ROOT / "pipelines").glob("*.py")]
    found = {path.name for path in places if reads.search(path.read_text())}
    assert found <= {"virtual_web_server.py", "explanation.py"}  # a separate server, and the output of ``scrapy why``


def crawled(folder: Path, frontier: str, step: float) -> list[tuple[str, float]]:
    """The URLs and times (by the steady clock) of takes in a crawl during which the wall clock is set."""
    system, web = System(), host_farm(3, 5)
    clock, taken = system.steady(), []
    options = read_options({"ORDERING": "breadth_first", "FRONTIER": frontier, "CRAWL_SITE_BUDGET": 0})
    crawl = assemble(Topic("reef", ("reef",), ("http://portal.example/",)), options, clock=clock, folder=folder)
    while (due := crawl.next_due(clock())) is not None:
        system.sleep(max(0.0, due - clock()))
        url = crawl.take(clock())
        if url is None:
            continue
        taken.append((url.url, clock() - 1_700_000_000.0))
        system.sleep(0.1)
        if len(taken) == 7:
            system.wall += step
        body = web.get(url.url).body
        finish(crawl, url, crawl.steps.read(url, body), body, Fetch(200, clock(), 0.1))
    crawl.close("finished", clock())
    assert len(taken) == 16
    return taken
