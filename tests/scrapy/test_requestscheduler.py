"""The scheduler for any project, between a stand-in for the engine and a real frontier; and the settings of the add-on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import FeedExporter
from scrapy.http import FormRequest, Response
from scrapy.settings import Settings
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from crawlproject.adapters.request_scheduler import RequestScheduler, frontier_options
from crawlproject.addon import FrontierAddon
from crawlproject.errors import BadCrawlDir, BadSetting
from crawlproject.storage.crawl_files import FolderLock

A, B = "http://a.example/", "http://b.example/"
QUICK = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}


class Theirs(Spider):
    name = "theirs"


class HeaderFingerprinter(RequestFingerprinter):
    def fingerprint(self, request: Request) -> bytes:
        return request.headers.get(b"X-Shop", b"") + super().fingerprint(request)


class PathFilter(BaseDupeFilter):
    """Accepts each path once, regardless of the host."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def request_seen(self, request: Request) -> bool:
        path = request.url.split("/", 3)[3]
        known = path in self.paths
        self.paths.add(path)
        return known

    def log(self, request: Request, spider: Spider) -> None:
        """Log nothing."""


class Engine:
    """The part of the engine that the scheduler uses: it issues requests, answers them, and ends them."""

    def __init__(self, **chosen: object) -> None:
        self.crawler = get_crawler(Theirs, {"ADDONS": {FrontierAddon: 100}, **QUICK, **chosen})
        self.crawler.spider = Theirs()
        self.active: set[Request] = set()
        self.inprogress: set[Request] = set()
        slot = SimpleNamespace(inprogress=self.inprogress, nextcall=SimpleNamespace(schedule=lambda: None))
        self.crawler.engine = SimpleNamespace(spider=None, _slot=slot, downloader=SimpleNamespace(active=self.active))
        self.scheduler = RequestScheduler.from_crawler(self.crawler)
        self.scheduler.open(self.crawler.spider)

    def put(self, *requests: Request) -> list[bool]:
        return [self.scheduler.enqueue_request(request) for request in requests]

    def issue(self, *, reach: bool = True) -> Request:
        request = self.scheduler.next_request()
        assert request is not None
        self.active.add(request)
        self.inprogress.add(request)
        if reach:
            self.crawler.signals.send_catch_log(signals.request_reached_downloader, request=request, spider=None)
        return request

    def answer(self, request: Request) -> Response:
        """Pass the response to the spider."""
        response = Response(request.url, request=request)
        self.crawler.signals.send_catch_log(signals.response_received, response=response, request=request, spider=None)
        self.active.discard(request)
        return response

    def end(self, request: Request) -> None:
        self.active.discard(request)
        self.inprogress.discard(request)

    def stat(self, name: str) -> Any:
        return self.crawler.stats.get_value(name)

    def drain(self) -> Iterator[Request]:
        while (request := self.scheduler.next_request()) is not None:
            self.end(request)
            yield request


# ------------------------------------------------------------ which requests are the same


def test_requests_are_distinguished_as_scrapy_does_it() -> None:
    engine = Engine()
    same = [Request(A + "?b=2&a=1"), Request(A + "?a=1&b=2"), Request(A + "?a=1&b=2#part")]
    other = [
        Request(A),
        Request(A, method="POST"),
        Request(A, method="POST", body=b"1"),
        FormRequest(A, formdata={"q": "x"}),
        Request(A + "?utm_source=x"),
        Request(A + "index.html"),
    ]
    assert engine.put(*same) == [True, False, False]
    assert engine.put(*other) == [True] * 6
    assert engine.put(*other) == [False] * 6
    assert engine.put(Request(A, dont_filter=True), Request(A, dont_filter=True)) == [True, True]
    assert engine.stat("dupefilter/filtered") == 8
    assert {request.url for request in engine.drain()} >= {A + "?utm_source=x", A + "index.html"}


def test_the_projects_own_fingerprinter_is_asked() -> None:
    engine = Engine(REQUEST_FINGERPRINTER_CLASS=HeaderFingerprinter)
    assert engine.put(Request(A, headers={"X-Shop": "1"}), Request(A, headers={"X-Shop": "2"})) == [True, True]
    assert engine.put(Request(A, headers={"X-Shop": "1"})) == [False]


def test_a_dupefilter_of_the_projects_own_decides() -> None:
    assert Engine(DUPEFILTER_CLASS=BaseDupeFilter).put(Request(A), Request(A)) == [True, True]
    assert Engine(DUPEFILTER_CLASS=PathFilter).put(Request(A), Request(B), Request(B + "x")) == [True, False, True]


# ------------------------------------------------------------ what becomes of a request that was issued


@pytest.mark.parametrize("request_", [Request(A), FormRequest(A, formdata={"q": "x"}), Request(A, dont_filter=True)])
def test_a_retry_waits_again_inside_its_lease(request_: Request) -> None:
    engine = Engine()
    engine.put(request_)
    issued = engine.issue()
    again = issued.replace(dont_filter=True, meta={**issued.meta, "retry_times": 1})
    assert engine.put(again) == [True]
    engine.end(issued)
    assert engine.issue() is again
    engine.answer(again)
    engine.end(again)
    assert engine.scheduler.next_request() is None and not engine.scheduler.has_pending_requests()


def test_a_redirect_takes_the_place_of_its_source() -> None:
    engine = Engine()
    engine.put(Request(A))
    issued = engine.issue()
    target = issued.replace(url=B, meta={**issued.meta, "redirect_urls": [A], "redirect_times": 1})
    assert engine.put(target) == [True]
    assert engine.scheduler.frontier.leases() == 0 and engine.put(Request(A)) == [False]
    assert engine.issue().meta["redirect_times"] == 1


def test_requests_that_carry_the_meta_of_a_response_are_new_ones() -> None:
    engine = Engine()
    engine.put(Request(A))
    meta = engine.answer(engine.issue()).meta
    assert engine.put(Request(B, meta=meta), Request(A, meta=meta)) == [True, False], "a page that links to itself"
    assert engine.scheduler.frontier.leases() == 1, "the callback runs still"
    assert engine.put(Request(A, meta=meta, dont_filter=True)) == [True]


def test_an_errback_may_send_the_request_again() -> None:
    engine = Engine()
    engine.put(Request(A))
    issued = engine.issue()
    assert engine.put(issued.replace(dont_filter=False)) == [False], "known, as with Scrapy's own scheduler"
    assert engine.put(issued.replace(dont_filter=True)) == [True]


def test_what_reached_no_server_costs_its_host_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example a request that a middleware refused or a cache answered."""
    timers: list[float] = []
    monkeypatch.setattr("crawlproject.adapters.leases.call_later", lambda delay, wake: timers.append(delay))
    engine = Engine(POLITENESS_MIN_DELAY=1000)
    engine.put(Request(A), Request(A + "1"), Request(A + "2"))
    for _ in range(2):
        engine.end(engine.issue(reach=False))
    engine.end(engine.issue())
    engine.put(Request(A + "3"))
    assert engine.scheduler.next_request() is None and timers == [pytest.approx(1000, abs=1)], "after a visit it rests"


# ------------------------------------------------------------ memory


def test_without_jobdir_callbacks_share_what_their_requests_refer_to() -> None:
    """For example a list that several callbacks fill, or an object that JSON cannot represent."""
    engine, shared = Engine(), {"found": [], "object": object()}
    requests = [Request(url, cb_kwargs=shared) for url in (A, B)]
    assert engine.put(*requests) == [True, True]
    assert list(engine.drain()) == requests
    assert all(request.cb_kwargs["found"] is shared["found"] for request in requests)
    assert engine.stat("scheduler/unserializable") is None


# ------------------------------------------------------------ JOBDIR


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_request_in_the_pipelines_is_fetched_again_after_a_kill(tmp_path: Path, kind: str) -> None:
    killed = Engine(JOBDIR=str(tmp_path), FRONTIER=kind)
    killed.put(Request(A), Request(B))
    killed.answer(killed.issue())
    assert killed.scheduler.next_request() is not None
    killed.scheduler._lock.close()  # as the system does for a killed process
    resumed = Engine(JOBDIR=str(tmp_path), FRONTIER=kind)
    assert {request.url for request in resumed.drain()} == {A, B}


def test_half_a_line_of_a_feed_is_cut_off_at_the_next_start(tmp_path: Path) -> None:
    lines, rows = tmp_path / "items.jsonl", tmp_path / "items.csv"
    for feed in (lines, rows):
        feed.write_text('{"a": 1}\n{"a"')
    feeds = {str(lines): {"format": "jsonlines"}, str(rows): {"format": "csv"}}
    engine = Engine(JOBDIR=str(tmp_path / "job"), FEEDS=feeds)
    exporter = engine.crawler.get_extension(FeedExporter)
    exporter.open_spider(engine.crawler.spider)
    engine.crawler.signals.send_catch_log(signals.spider_opened, spider=engine.crawler.spider)
    assert lines.read_text() == '{"a": 1}\n'
    assert rows.read_text() == '{"a": 1}\n{"a"', "a row of CSV may have line breaks in it"


def test_a_request_is_known_after_a_resume(tmp_path: Path) -> None:
    first = Engine(JOBDIR=str(tmp_path))
    first.put(FormRequest(A, formdata={"q": "x"}))
    first.end(first.issue())
    first.scheduler.close("shutdown")
    resumed = Engine(JOBDIR=str(tmp_path))
    assert resumed.put(FormRequest(A, formdata={"q": "x"}), FormRequest(A, formdata={"q": "y"})) == [False, True]


def test_requests_of_another_scheduler_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "requests.queue").mkdir()
    (tmp_path / "requests.queue" / "active.json").touch()
    Engine(JOBDIR=str(tmp_path))
    assert "holds requests of another scheduler" in caplog.text


def test_a_jobdir_in_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(folder: Path) -> FolderLock:
        raise BadCrawlDir(str(folder), "in use by process 7")

    monkeypatch.setattr("crawlproject.adapters.request_scheduler.FolderLock", held)
    with pytest.raises(BadCrawlDir, match="in use"):
        Engine(JOBDIR=str(tmp_path))


# ------------------------------------------------------------ what the add-on sets


def updated(**chosen: object) -> Settings:
    settings = Settings(chosen)
    FrontierAddon().update_settings(settings)
    return settings


def test_the_addon_sets_the_scheduler_and_keeps_every_request() -> None:
    options = frontier_options(updated())
    assert updated()["SCHEDULER"] is RequestScheduler
    assert (options.frontier_max_urls, options.frontier_batch_size, options.politeness_min_delay) == (0, 1, 1.0)


def test_settings_of_the_project_win() -> None:
    options = frontier_options(updated(FRONTIER_BATCH_SIZE=7, FRONTIER_MAX_URLS=9, DOWNLOAD_DELAY=3))
    assert (options.frontier_max_urls, options.frontier_batch_size, options.politeness_min_delay) == (9, 7, 3.0)
    assert frontier_options(updated(POLITENESS_MIN_DELAY=0.5, DOWNLOAD_DELAY=3)).politeness_min_delay == 0.5
    assert frontier_options(updated()).politeness_min_delay == 1.0
    with pytest.raises(NotConfigured, match="another SCHEDULER"):
        updated(SCHEDULER="scrapy.core.scheduler.BaseScheduler")


def test_the_delay_of_a_spider_is_the_rest_of_its_hosts() -> None:
    """As an attribute, which Scrapy turns into a setting after the add-ons, or in the spider's ``custom_settings``."""

    class Slow(Theirs):
        download_delay = 2.5

    class Slower(Theirs):
        custom_settings = {"DOWNLOAD_DELAY": 7}  # noqa: RUF012

    for spider, delay in ((Slow, 2.5), (Slower, 7.0)):
        crawler = get_crawler(spider, {"ADDONS": {FrontierAddon: 100}})
        assert RequestScheduler.from_crawler(crawler).options.politeness_min_delay == delay


def test_settings_of_the_projects_own_are_left_alone() -> None:
    assert frontier_options(updated(CRAWL_SEED="none", PAGE_MAX_LINKS="many", CRAWL_SPEED=3)).frontier_max_urls == 0


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"FRONTIER_BATCH_SIZE": 0}, "setting FRONTIER_BATCH_SIZE"),
        ({"FRONTIER_MAX_URL": 0}, "did you mean FRONTIER_MAX_URLS"),
    ],
)
def test_wrong_settings_are_reported(setting: dict[str, object], told: str) -> None:
    with pytest.raises(BadSetting, match=told):
        updated(**setting)
