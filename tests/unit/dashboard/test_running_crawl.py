"""The state and actions of a crawl process; how the search box keeps its index up to date."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from support.parts import sites_of

from crawlproject.adapters.running import attach
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.dashboard import running_crawl as live
from crawlproject.dashboard import server as searching
from crawlproject.dashboard.running_crawl import RunningCrawl, Throttled
from crawlproject.dashboard.server import REFRESH, SearchBox
from crawlproject.errors import BadCrawlDir
from crawlproject.exporting.index import SearchResult
from crawlproject.records import Topic
from crawlproject.storage.searches import Searched, read_searches


def test_a_slow_look_is_not_repeated_at_once():
    looks = []

    def slow():
        looks.append(time.sleep(0.02))
        return len(looks)

    asked = Throttled(slow)
    assert [asked() for _ in range(5)] == [1] * 5  # again after two seconds at the earliest


def test_a_look_is_repeated_when_its_share_of_time_has_passed(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(live, "monotonic", lambda: now[0])
    monkeypatch.setattr(live, "perf_counter", iter([0.0, 0.03, 0.0, 0.03]).__next__)
    numbers = iter([1, 2])
    asked = Throttled(lambda: next(numbers))
    assert asked() == 1
    now[0] = 2.9
    assert asked() == 1
    now[0] = 3.0
    assert asked() == 2


class Engine(SimpleNamespace):
    def pause(self):
        self.paused = True

    def unpause(self):
        self.paused = False


@pytest.fixture
def crawler():
    woken = []
    slot = SimpleNamespace(closing=None, nextcall=SimpleNamespace(schedule=lambda: woken.append(True)))
    return SimpleNamespace(engine=Engine(paused=False, _slot=slot), woken=woken)


def test_a_resumed_crawl_is_woken_at_once(crawler):
    crawl = RunningCrawl(crawler)
    assert crawl.status == "running"
    crawl.control("pause")
    assert crawl.status == "paused" and crawler.engine.paused and not crawler.woken
    crawl.control("resume")
    assert crawl.status == "running" and crawler.woken
    with pytest.raises(ValueError, match="explode"):
        crawl.control("explode")


def test_a_crawl_that_is_ending_is_left_alone(crawler):
    crawler.engine._slot.closing = object()
    crawl = RunningCrawl(crawler)
    crawl.control("pause")
    assert crawl.status == "stopping" and not crawler.engine.paused


def test_an_index_is_brought_up_to_date_now_and_then(monkeypatch, tmp_path):
    updates, now = [], [100.0]

    def update(folder):
        updates.append(folder)
        raise BadCrawlDir(
            str(folder), "another process updates this index"
        )  # the existing entries can still be searched meanwhile

    hit = SimpleNamespace(url="http://a.example/", title="A", snippet="<b>a</b>", score=1.0, relevance=0.5)
    monkeypatch.setattr("crawlproject.exporting.index.update", update)
    monkeypatch.setattr("crawlproject.exporting.index.search", lambda *a, **k: SearchResult(1, (hit,)))
    box = SearchBox(lambda: now[0])
    for _ in range(3):
        assert box.search(tmp_path, "a", 10, 0)["hits"][0]["url"] == "http://a.example/"
    now[0] += REFRESH
    box.search(tmp_path, "a", 10, 0)
    assert len(updates) == 2
    assert box.search(tmp_path, "  ", 10, 0) == {"total": 0, "hits": []}
    box.search(tmp_path, "a", 10, 10)
    assert read_searches(tmp_path) == [Searched("a", 4, 1)], "nothing, and a second page, are no searches"
    assert searching.REFRESH > 1


@pytest.mark.parametrize(("refused", "why"), [(False, "silent"), (True, "refused or silent")])
def test_a_blocked_host_is_shown_with_the_reason(crawler, tmp_path, refused, why):
    now = time.time()
    topic = Topic("reef", ("reef",), ("http://a.example/", "http://b.example/"))
    options = read_options({"FRONTIER": "memory"})  # on disk, a host without visits is in no schedule
    crawl = assemble(topic, options, clock=lambda: now, folder=tmp_path)
    attach(crawler, crawl)
    crawl.frontier.block_host("a.example", now + 100.0)
    if refused:
        sites_of(crawl).tracker.hosts.rest("http://a.example/", now + 100.0)
    first, second = sorted(RunningCrawl(crawler).document()["frontier_hosts"], key=lambda host: host["host"])
    assert (first["why_waits"], second["why_waits"]) == (why, "")
    assert 90.0 < first["blocked"] <= 100.0 and second["blocked"] == 0.0


def test_an_outage_is_shown(crawler, tmp_path):
    crawl = assemble(
        Topic("reef", ("reef",), ("http://a.example/",)), read_options({}), clock=time.time, folder=tmp_path
    )
    attach(crawler, crawl)
    assert RunningCrawl(crawler).document()["offline"] is None
    began = time.time() - 60.0
    for _ in range(2):
        crawl.connections.failed("http://a.example/", "http://a.example", began, waiting=1, in_flight=0)
    assert RunningCrawl(crawler).document()["offline"] == pytest.approx(60.0, abs=5.0)
