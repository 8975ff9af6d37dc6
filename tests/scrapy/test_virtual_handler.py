"""VIRTUAL_WEB's download handler against the behaviour of Scrapy's own: responses, failures, signals, limits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    NotConfigured,
    StopDownload,
)
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.test import get_crawler
from support.webs import DictWeb, NamingWeb

from crawlproject.errors import BadWeb
from crawlproject.http import virtual_web_handler as handler_module
from crawlproject.http.virtual_web_handler import CHUNK, VirtualWebDownloadHandler
from crawlproject.records import Reply

LONG = b"x" * (3 * CHUNK + 1)
HTML = {"content-type": "text/html; charset=utf-8"}
DATED = {**HTML, "last-modified": "Wed, 15 Jan 1997 00:00:00 GMT", "etag": '"v1"'}
PAGES = {
    "http://h.example/": Reply("", 200, HTML, "<p>héllo".encode()),
    "http://h.example/text": Reply("", 200, {"content-type": "text/plain"}, b"text"),
    "http://h.example/image": Reply("", 200, {"content-type": "image/png"}, b"\x89PNG\x01"),
    "http://h.example/old": Reply("", 301, {"location": "http://h.example/"}),
    "http://h.example/dated": Reply("", 200, DATED, b"dated"),
    "http://h.example/long": Reply("", 200, HTML, LONG),
    "http://h.example/slow": Reply("", 200, HTML, b"slow", seconds=2.0),
    "http://h.example/timeout": Reply("", 0, seconds=3.0, error="timeout"),
    "http://h.example/refused": Reply("", 0, error="connection refused"),
}


class Sleeper:
    """Replaces ``asyncio.sleep``: records the durations and does not sleep."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def sleeper(monkeypatch: pytest.MonkeyPatch) -> Sleeper:
    sleeper = Sleeper()
    monkeypatch.setattr(handler_module, "asyncio", sleeper)
    monkeypatch.setattr(handler_module, "is_asyncio_available", lambda: True)
    return sleeper


@pytest.fixture
def crawler() -> Crawler:
    return get_crawler()


@pytest.fixture
def handler(crawler: Crawler, sleeper: Sleeper) -> VirtualWebDownloadHandler:
    return VirtualWebDownloadHandler(crawler, DictWeb(PAGES), latency=0.5)


def fetch(handler: VirtualWebDownloadHandler, request: Request | str) -> Response:
    """Run the download, which never waits for an event loop."""
    coroutine = handler.download_request(Request(request) if isinstance(request, str) else request)
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)
    return done.value.value


def failure(handler: VirtualWebDownloadHandler, request: Request | str) -> BaseException:
    coroutine = handler.download_request(Request(request) if isinstance(request, str) else request)
    try:
        coroutine.send(None)
    except StopIteration as done:
        raise AssertionError(f"a response came: {done.value}") from None
    except Exception as error:  # the caller checks its type
        return error
    raise AssertionError("the download waits")


def test_page_becomes_the_right_class_of_response(handler: VirtualWebDownloadHandler) -> None:
    response = fetch(handler, "http://h.example/")
    assert isinstance(response, HtmlResponse)
    assert (response.status, response.text, response.url) == (200, "<p>héllo", "http://h.example/")
    assert response.headers["Content-Type"] == b"text/html; charset=utf-8"
    assert type(fetch(handler, "http://h.example/text")) is TextResponse
    assert type(fetch(handler, "http://h.example/image")) is Response


def test_redirects_and_missing_pages_are_responses(handler: VirtualWebDownloadHandler) -> None:
    assert fetch(handler, "http://h.example/old").headers["Location"] == b"http://h.example/"
    assert fetch(handler, "http://h.example/none").status == 404


def test_other_methods_and_head(handler: VirtualWebDownloadHandler) -> None:
    assert fetch(handler, Request("http://h.example/", method="POST")).status == 405
    head = fetch(handler, Request("http://h.example/", method="HEAD"))
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-Modified-Since": "Wed, 15 Jan 1997 00:00:00 GMT"}, 304),
        ({"If-Modified-Since": "Thu, 16 Jan 1997 00:00:00 +0000"}, 304),
        ({"If-Modified-Since": "Tue, 14 Jan 1997 00:00:00 GMT"}, 200),
        ({"If-Modified-Since": "not a date"}, 200),
        ({"If-None-Match": 'W/"v1"'}, 304),
        ({"If-None-Match": '"v0", "v1"'}, 304),
        ({"If-None-Match": '"v0"', "If-Modified-Since": "Wed, 15 Jan 1997 00:00:00 GMT"}, 200),
    ],
)
def test_conditional_requests(handler: VirtualWebDownloadHandler, headers: dict[str, str], status: int) -> None:
    response = fetch(handler, Request("http://h.example/dated", headers=headers))
    assert response.status == status
    assert response.body == (b"" if status == 304 else b"dated")


def test_a_web_that_cloaks_learns_who_asks(crawler: Crawler, sleeper: Sleeper) -> None:
    handler = VirtualWebDownloadHandler(crawler, NamingWeb({}))
    asked = Request("http://h.example/", headers={"User-Agent": "Browser/5.0"})
    assert fetch(handler, asked).body == b"<p>for Browser/5.0"
    assert fetch(handler, "http://h.example/").body == b"<p>for "


def test_failures_are_what_the_retry_middleware_knows(handler: VirtualWebDownloadHandler) -> None:
    assert type(failure(handler, "http://h.example/timeout")) is DownloadTimeoutError
    assert type(failure(handler, "http://h.example/refused")) is DownloadConnectionRefusedError


def test_latency_is_simulated_times_the_factor(handler: VirtualWebDownloadHandler, sleeper: Sleeper) -> None:
    request = Request("http://h.example/slow")
    assert fetch(handler, request).status == 200
    assert sleeper.slept == [1.0]
    assert request.meta["download_latency"] >= 0


def test_latency_beyond_the_timeout_is_a_timeout(handler: VirtualWebDownloadHandler, sleeper: Sleeper) -> None:
    error = failure(handler, Request("http://h.example/slow", meta={"download_timeout": 0.25}))
    assert type(error) is DownloadTimeoutError
    assert sleeper.slept == [0.25]


def test_without_latency_nothing_waits(crawler: Crawler, sleeper: Sleeper) -> None:
    assert fetch(VirtualWebDownloadHandler(crawler, DictWeb(PAGES)), "http://h.example/slow").body == b"slow"
    assert sleeper.slept == []


def test_headers_can_stop_the_download(handler: VirtualWebDownloadHandler, crawler: Crawler) -> None:
    seen = {}

    def stop(headers: object, body_length: int, request: Request) -> None:
        seen["length"] = body_length
        raise StopDownload(fail=False)

    crawler.signals.connect(stop, signals.headers_received)
    response = fetch(handler, "http://h.example/long")
    assert (response.status, response.body, response.flags) == (200, b"", ["download_stopped"])
    assert seen == {"length": len(LONG)}


def test_bytes_can_cut_the_body(handler: VirtualWebDownloadHandler, crawler: Crawler) -> None:
    received = bytearray()

    def cut(data: bytes, request: Request) -> None:
        received.extend(data)
        if len(received) > CHUNK:
            raise StopDownload(fail=False)

    crawler.signals.connect(cut, signals.bytes_received)
    response = fetch(handler, "http://h.example/long")
    assert response.body == LONG[: 2 * CHUNK] == received
    assert response.flags == ["download_stopped"]


def test_failing_stop_carries_the_response(handler: VirtualWebDownloadHandler, crawler: Crawler) -> None:
    def stop(data: bytes) -> None:
        raise StopDownload

    crawler.signals.connect(stop, signals.bytes_received)
    error = failure(handler, "http://h.example/text")
    assert isinstance(error, StopDownload)
    assert error.response is not None
    assert error.response.body == b"text"


def test_maximum_size_holds(handler: VirtualWebDownloadHandler) -> None:
    error = failure(handler, Request("http://h.example/long", meta={"download_maxsize": 100}))
    assert type(error) is DownloadCancelledError


def test_settings_name_the_web(sleeper: Sleeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(NotConfigured):
        VirtualWebDownloadHandler.from_crawler(get_crawler())
    with pytest.raises(BadWeb, match="nowhere"):
        VirtualWebDownloadHandler.from_crawler(get_crawler(settings_dict={"VIRTUAL_WEB": "nowhere"}))


SPIDER = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

class Crawl(scrapy.Spider):
    name = "crawl"
    custom_settings = {
        "DOWNLOAD_HANDLERS": dict.fromkeys(
            ("http", "https"), "crawlproject.http.virtual_web_handler.VirtualWebDownloadHandler"
        ),
        "VIRTUAL_WEB": sys.argv[1], "ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False,
    }
    found = []

    async def start(self):
        yield scrapy.Request("http://h.example/")

    def parse(self, response):
        self.found.append([response.url, response.status])
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)

process = CrawlerProcess()
process.crawl(Crawl)
process.start()
print(json.dumps(sorted(Crawl.found)))
"""


def test_whole_crawl_without_a_network(tmp_path: Path) -> None:
    site = tmp_path / "web" / "h.example"
    (site / "deep").mkdir(parents=True)
    (site / "index.html").write_text(
        "<a href=a.html>a</a><a href=private.html>p</a><a href=deep>d</a><a href=none>n</a>"
    )
    (site / "a.html").write_text("<a href=http://other.example/>other</a>")
    (site / "private.html").write_text("private")
    (site / "deep" / "index.html").write_text("deep")
    (site / "robots.txt").write_text("User-agent: *\nDisallow: /private.html\n")
    script = [sys.executable, "-c", SPIDER, str(tmp_path / "web")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        ["http://h.example/", 200],
        ["http://h.example/a.html", 200],
        ["http://h.example/deep/", 200],
    ]
