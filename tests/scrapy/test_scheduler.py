"""The scheduler between a stand-in for the engine and a real frontier: leases, timers, endings, and never an exception."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trials
from hypothesis import strategies as st
from scrapy import Request, Spider, signals
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.project import get_project_settings
from support.parts import sites_of

from crawlproject.adapters.leases import SLOW
from crawlproject.adapters.request_json import dump_request
from crawlproject.adapters.request_scheduler import RequestScheduler
from crawlproject.adapters.running import TAKEN_AT, attach, torn
from crawlproject.adapters.scheduler import CrawlScheduler, FrontierScheduler
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.errors import StorageFailed
from crawlproject.frontier.factory import MARGIN, open_frontier
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.storage.append_log import read_lines


class World:
    """A clock, the timers that were set, and the part of the engine that the scheduler uses."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.timers: list[SimpleNamespace] = []
        self.wakes = 0
        self.active: set[Request] = set()
        self.inprogress: set[Request] = set()

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, wake: Callable[[], None]) -> SimpleNamespace:
        timer = SimpleNamespace(due=self.now + delay, wake=wake, live=True)
        timer.cancel = lambda: setattr(timer, "live", False)
        self.timers.append(timer)
        return timer

    def woken(self) -> None:
        self.wakes += 1

    def live_timers(self) -> list[float]:
        return [round(timer.due, 6) for timer in self.timers if timer.live]

    def fire(self) -> None:
        """Advance the clock to the next timer, and fire it."""
        timer = min((timer for timer in self.timers if timer.live), key=lambda timer: timer.due)
        timer.live, self.now = False, timer.due
        timer.wake()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    for module in ("scheduler", "request_scheduler", "leases"):
        monkeypatch.setattr(f"crawlproject.adapters.{module}.time", world.time)
    monkeypatch.setattr("crawlproject.adapters.leases.call_later", world.call_later)
    return world


class Theirs(Spider):
    name = "theirs"

    def page_request(self, url: CrawlUrl) -> Request:
        return Request(url.url, callback=self.parse)


def a_crawler(world: World, **settings: object) -> Any:
    chosen = get_project_settings()
    chosen.setdict({"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, **settings}, priority="cmdline")
    crawler = SimpleNamespace(settings=chosen, get_extension=lambda cls: None)
    crawler.signals = SignalManager(crawler)
    crawler.stats = MemoryStatsCollector(SimpleNamespace(settings=chosen))
    slot = SimpleNamespace(inprogress=world.inprogress, nextcall=SimpleNamespace(schedule=world.woken))
    crawler.engine = SimpleNamespace(
        spider=None, _slot=slot, downloader=SimpleNamespace(active=world.active, total_concurrency=16)
    )
    return crawler


def built(crawler: Any) -> Any:
    """The scheduler as Scrapy builds it, opened."""
    scheduler = FrontierScheduler.from_crawler(crawler)
    scheduler.open(Theirs())
    return scheduler


def opened(world: World, **settings: object) -> RequestScheduler:
    """A scheduler for another spider of this project."""
    return built(a_crawler(world, **settings))


def topical(world: World, folder: Path, *seeds: str, **settings: object) -> CrawlScheduler:
    """A scheduler for a topical crawl."""
    crawler = a_crawler(world, CRAWL_DIR=str(folder), **settings)
    attach(crawler, assemble(Topic("reef", ("reef",), seeds), read_options(crawler.settings), clock=world.time))
    return built(crawler)


def issued(world: World, scheduler: Any) -> Request:
    """The next request, on its way through the downloader."""
    request = next(requests_of(scheduler, world))
    scheduler.crawler.signals.send_catch_log(signals.request_reached_downloader, request=request, spider=None)
    return request


def requests_of(scheduler: Any, world: World) -> Iterator[Request]:
    while (request := scheduler.next_request()) is not None:
        world.active.add(request)
        world.inprogress.add(request)
        yield request


SEEDS = tuple(f"http://h{n}.example/" for n in range(6))


# ------------------------------------------------------------ leases


def test_no_more_leases_are_open_than_requests_may_be(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, *SEEDS, CONCURRENT_REQUESTS=3)
    first, *_ = given = list(requests_of(scheduler, world))
    assert len(given) == 3 and scheduler.frontier.leases() == 3
    assert [timer.due for timer in world.timers] == [world.now + SLOW], "the engine calls sooner when a request ends"
    world.active.discard(first)
    world.inprogress.discard(first)
    assert len(list(requests_of(scheduler, world))) == 1


def test_fetches_that_take_long_take_no_place(world: World, tmp_path: Path) -> None:
    seeds = [f"http://h{n}.example/" for n in range(30)]
    scheduler = topical(world, tmp_path, *seeds, CONCURRENT_REQUESTS=2)
    given = []
    for _ in range(6):
        given.append(len(list(requests_of(scheduler, world))))
        world.now += SLOW
    assert given == [2, 2, 2, 2, 0, 0], "so many besides the others, and no more"
    world.active.clear()
    assert scheduler.next_request() is None, "pages in the pipelines are not slow fetches, but hold their lease"


def test_one_request_at_a_time_is_one_at_a_time(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, *SEEDS, CONCURRENT_REQUESTS=1)
    assert len(list(requests_of(scheduler, world))) == 1
    world.now += 10 * SLOW
    assert scheduler.next_request() is None


def test_pages_in_the_pipelines_hold_their_lease(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, *SEEDS, CONCURRENT_REQUESTS=1)
    request = issued(world, scheduler)
    world.active.discard(request)
    assert scheduler.next_request() is None and scheduler.frontier.leases() == 1
    scheduler.crawl.fail(scheduler.frontier.leased(request.url), "http 404", Fetch(404, world.now, 0.1))
    world.inprogress.discard(request)
    assert scheduler.next_request() is not None


def test_a_redirect_to_a_host_that_has_to_wait_is_counted_too(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, SEEDS[0])
    scheduler.crawl.admission.offer(CrawlUrl("http://x.example/0", 0.5, 1, SEEDS[0]))
    scheduler.next_request()
    request = issued(world, scheduler)
    assert request.url == "http://x.example/0"
    sites_of(scheduler.crawl).tracker.hosts.rest(request.url, world.now + 5.0)
    redirects = {"redirect_times": 7, "redirect_urls": [request.url], "redirect_reasons": [302]}
    moved = request.replace(url="http://x.example/1", meta={**request.meta, **redirects})
    assert not scheduler.enqueue_request(moved) and scheduler.next_request() is None
    world.now += 10.0
    request = issued(world, scheduler)
    assert (request.url, request.meta["redirect_times"]) == ("http://x.example/1", 7)


def test_a_lease_that_nobody_ends_is_lost_and_reported(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, SEEDS[0])
    request = issued(world, scheduler)
    world.now += 2.5
    world.active.clear()
    world.inprogress.clear()
    assert scheduler.next_request() is None
    line = next(read_lines(tmp_path / "history.jsonl"))
    assert (line["url"], line["error"], line["seconds"]) == (request.url, "lost", 2.5)
    assert scheduler.frontier.leases() == 0 and not scheduler.has_pending_requests()
    assert scheduler.crawler.stats.get_value("scheduler/lost") == 1


def test_a_request_of_another_spider_ends_when_its_response_went_through_the_spider(world: World) -> None:
    scheduler = opened(world, POLITENESS_MIN_DELAY=1)
    scheduler.enqueue_request(Request(SEEDS[0]))
    scheduler.enqueue_request(Request(SEEDS[0] + "x"))
    request = issued(world, scheduler)
    world.now += 0.5
    assert scheduler.next_request() is None
    world.active.discard(request)
    assert scheduler.next_request() is None and scheduler.frontier.leases() == 1, "what it leads to is not known yet"
    world.inprogress.discard(request)
    assert scheduler.next_request() is None and scheduler.frontier.leases() == 0, "now the host rests"
    world.fire()
    assert world.now == pytest.approx(1001.5 + MARGIN) and issued(world, scheduler).url == SEEDS[0] + "x"


def test_a_full_frontier_keeps_no_requests_that_it_has_dropped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.adapters.leases._KEPT", 20)
    scheduler = opened(world, FRONTIER_MAX_URLS=30)
    known = []
    for number in range(500):
        request = Request(f"http://h{number}.example/", priority=number)
        known.append(weakref.ref(request))
        assert scheduler.enqueue_request(request)
        del request
    gc.collect()
    alive = [number for number, each in enumerate(known) if each() is not None]
    assert len(alive) <= 61 and alive[-30:] == [*range(470, 500)]
    assert [int(request.url[8:-9]) for request in requests_of(scheduler, world)][:3] == [499, 498, 497]


# ------------------------------------------------------------ wakes


def test_the_engine_is_woken_when_the_next_host_is_due(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, "http://a.example/1", "http://a.example/2", POLITENESS_MIN_DELAY=0.3)
    request = issued(world, scheduler)
    assert scheduler.next_request() is None and world.timers == [], "nothing is due before the fetch ends"
    scheduler.crawl.fail(scheduler.frontier.leased(request.url), "http 404", Fetch(404, world.now, 0.1))
    for _ in range(3):
        assert scheduler.next_request() is None
    assert world.live_timers() == [pytest.approx(1000.3 + MARGIN)], "one timer, however often the engine asks"
    world.fire()
    assert world.wakes == 1 and scheduler.next_request() is not None


def test_an_earlier_time_replaces_the_timer(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, SEEDS[5])
    scheduler.frontier.drop(SEEDS[5])
    for number, wait in enumerate((9.0, 2.0, 5.0)):
        scheduler.frontier.put(CrawlUrl(f"http://h{number}.example/", 1.0, not_before=world.now + wait))
        assert scheduler.next_request() is None
    assert world.live_timers() == [1002.0]
    scheduler.close("finished")
    assert world.live_timers() == []


def test_a_budget_in_flight_does_not_keep_the_engine_busy(world: World, tmp_path: Path) -> None:
    """URLs wait and their hosts are due, but as many pages as the budget allows are being fetched."""
    scheduler = topical(world, tmp_path, *SEEDS, CRAWL_MAX_PAGES=2)
    assert len(list(requests_of(scheduler, world))) == 2
    assert scheduler.next_request() is None and world.timers == []
    assert scheduler.has_pending_requests()


def test_a_spent_budget_leaves_nothing_pending(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, *SEEDS, CRAWL_MAX_PAGES=1)
    crawl = scheduler.crawl
    url = scheduler.frontier.leased(issued(world, scheduler).url)
    assert url is not None
    page = crawl.steps.read(url, b"reef")
    crawl.steps.keep(page, crawl.steps.visit(url, page, b"reef", Fetch(200, world.now, 0.1)))
    assert not scheduler.has_pending_requests() and len(scheduler.frontier) == 5


# ------------------------------------------------------------ in


def test_a_known_request_is_refused_and_counted(world: World) -> None:
    scheduler = opened(world)
    assert scheduler.enqueue_request(Request("http://a.example/"))
    assert not scheduler.enqueue_request(Request("http://A.example/index.html#part"))
    assert scheduler.crawler.stats.get_value("scheduler/refused/known") == 1


def test_priority_is_added_to_the_default_score(world: World) -> None:
    scheduler = opened(world, FRONTIER_REQUEST_SCORE=0.25)
    for url, priority in zip(SEEDS, (-1, 3, 0), strict=False):
        scheduler.enqueue_request(Request(url, priority=priority))
    assert scheduler.frontier.best() == 3.25
    assert [request.url for request in requests_of(scheduler, world)] == [SEEDS[1], SEEDS[2], SEEDS[0]]


def test_a_retry_waits_again_and_is_the_same_request(world: World, tmp_path: Path) -> None:
    scheduler = topical(world, tmp_path, SEEDS[0])
    request = issued(world, scheduler)
    again = request.replace(dont_filter=True, priority=request.priority - 1)
    again.meta["retry_times"] = 1
    assert scheduler.enqueue_request(again)
    assert scheduler.frontier.leases() == 0 and len(scheduler.frontier) == 1
    world.active.clear()
    assert scheduler.next_request() is again and again.meta["retry_times"] == 1


def test_unfiltered_requests_are_new_ones_after_a_resume_too(world: World, tmp_path: Path) -> None:
    for _ in range(3):
        scheduler = opened(world, JOBDIR=str(tmp_path))
        for _ in range(2):
            assert scheduler.enqueue_request(Request("http://a.example/", dont_filter=True))
            issued(world, scheduler)
            world.active.clear()
            world.inprogress.clear()
            assert scheduler.next_request() is None
        scheduler.close("shutdown")


def test_what_ended_after_the_last_call_is_not_fetched_again(world: World, tmp_path: Path) -> None:
    first = opened(world, JOBDIR=str(tmp_path))
    first.enqueue_request(Request(SEEDS[0]))
    issued(world, first)
    world.active.clear()
    world.inprogress.clear()
    first.close("shutdown")
    assert not opened(world, JOBDIR=str(tmp_path)).has_pending_requests()


def test_a_jobdir_of_an_earlier_version_is_resumed(world: World, tmp_path: Path) -> None:
    """In that version a plain GET waited under its canonical URL."""
    frontier = open_frontier(read_options({}), tmp_path / "frontier", clock=world.time)
    frontier.put(CrawlUrl(SEEDS[0], 3.0, request=dump_request(Request(SEEDS[0], priority=2), Theirs())))
    frontier.close()
    scheduler = opened(world, JOBDIR=str(tmp_path))
    assert not scheduler.enqueue_request(Request(f"{SEEDS[0]}index.html#part"))
    assert issued(world, scheduler).priority == 2 and scheduler.next_request() is None


def test_a_request_that_cannot_be_made_again_is_reported_and_passed_over(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = opened(world, JOBDIR=str(tmp_path))
    first.enqueue_request(Request("http://a.example/", meta={"object": object()}))
    first.enqueue_request(Request("http://b.example/", priority=-1))
    first.close("shutdown")
    second = opened(world, JOBDIR=str(tmp_path))
    assert issued(world, second).url == "http://b.example/"
    assert "http://a.example/ is lost" in caplog.text
    assert second.crawler.stats.get_value("scheduler/unserializable/lost") == 1


LOOP: dict[str, Any] = {}
LOOP["loop"] = LOOP
starts = st.sampled_from(["http://", "http://a.example/", "https://a.example:444/", "ftp://a/", "data:,", "about:"])
metas = st.dictionaries(
    st.sampled_from([TAKEN_AT, "as_spelled", "awaited_robots", "depth", "redirect_times"]),
    st.sampled_from([None, 0, 1000.0, True]),
    max_size=3,
)
redirected = st.lists(st.sampled_from([*SEEDS, "", "no url", "http://[", "mailto:x"]), max_size=2).map(
    lambda urls: {"redirect_urls": urls, "redirect_reasons": [301] * len(urls)}
)
objects = st.sampled_from([{}, {"it": object()}, {"it": LOOP}, {"it": float("nan")}, {"it": "\ud800"}])


@trials(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    st.data(),
    st.lists(
        st.tuples(starts, st.text(max_size=12), st.sampled_from(["GET", "POST"]), metas, redirected, objects),
        max_size=4,
    ),
)
def test_no_request_makes_the_scheduler_raise(world: World, data: st.DataObject, many: list[tuple[Any, ...]]) -> None:
    scheduler = opened(world)
    for start, tail, method, meta, redirects, held in many:
        try:
            request = Request(start + tail, method=method, meta={**meta, **redirects, **held})
        except ValueError:
            continue  # no request at all
        request.dont_filter = data.draw(st.booleans())
        assert scheduler.enqueue_request(request) in (True, False)
    given_out = list(requests_of(scheduler, world))
    assert all(isinstance(request, Request) for request in given_out)


def test_a_full_disk_stops_the_crawl_instead(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bool:
        raise StorageFailed("the disk is full")

    stopped: list[str] = []
    monkeypatch.setattr("crawlproject.adapters.running.stop", lambda crawler, failure: stopped.append(str(failure)))
    scheduler = topical(world, tmp_path, *SEEDS)
    monkeypatch.setattr(scheduler.frontier, "put", full)
    monkeypatch.setattr(scheduler.frontier, "take", full)
    assert scheduler.enqueue_request(Request("http://a.example/")) is False
    assert scheduler.next_request() is None
    assert stopped == ["the disk is full"] * 2


@pytest.mark.parametrize("broken", ["take", "leased"])
def test_an_exception_that_nobody_expected_stops_the_crawl_and_is_told(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    def fails(*_: object) -> Any:
        raise KeyError("no such row")

    scheduler = topical(world, tmp_path, *SEEDS)
    first = issued(world, scheduler)
    monkeypatch.setattr(scheduler.frontier, broken, fails)
    if broken == "leased":
        assert scheduler.enqueue_request(first.replace(meta={**first.meta, "retry_times": 1})) is False
    assert scheduler.next_request() is None and not scheduler.has_pending_requests()
    told = [record for record in caplog.records if record.levelname == "ERROR"]
    assert told[0].exc_info and "KeyError: 'no such row'. The crawl stops; report the error above" in told[1].message
    assert len(told) == 2 and torn(scheduler.crawler)


def test_so_does_one_when_it_is_asked_whether_more_comes(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = topical(world, tmp_path, *SEEDS)
    monkeypatch.setattr(scheduler.crawl, "end_reason", lambda now: 1 / 0)
    assert not scheduler.has_pending_requests() and torn(scheduler.crawler)
