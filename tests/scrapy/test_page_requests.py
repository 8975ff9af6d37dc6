"""What pages in a browser request: hosts are left alone for as long as their answers ask."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.project import get_project_settings

from crawlproject.adapters.running import attach, time
from crawlproject.adapters.scheduler import CrawlScheduler
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.parts.rendering.browser.resources import PageAnswers, Resources
from crawlproject.parts.rendering.browser_requests import PageRequest
from crawlproject.parts.rendering.options import RenderOptions
from crawlproject.parts.rendering.part import rendered_until
from crawlproject.records import Fetch, Topic

PAGE = "http://a.example/"


def a_page(folder: Path, **headers: str) -> tuple[Crawl, PageAnswers]:
    """A crawl that visits a page, and the answers to what the page requests: 429 with these headers."""
    settings = get_project_settings()
    settings.setdict({"CRAWL_DIR": str(folder), "POLITENESS_MIN_DELAY": 1}, priority="cmdline")
    crawler: Any = SimpleNamespace(settings=settings, spider=None)
    crawler.signals = SignalManager(crawler)
    crawler.stats = MemoryStatsCollector(SimpleNamespace(settings=settings))

    async def download(request: Request) -> Response:
        response = Response(request.url, 429, headers)
        crawler.signals.send_catch_log(signals.response_downloaded, request=request, response=response, spider=None)
        return response

    crawler.engine = SimpleNamespace(download_async=download, spider=None, _slot=None)
    options = read_options(settings)
    crawl = assemble(Topic("reef", ("reef",), (PAGE,)), options, clock=lambda: 0.0)
    attach(crawler, crawl)
    crawler.scheduler = CrawlScheduler(crawler, crawl)  # signals do not keep it
    assert crawl.take(time())
    return crawl, Resources(crawler, options.of(RenderOptions)).answers_for(PAGE)


def ask(page: PageAnswers, url: str, kind: str) -> None:
    asyncio.run(page.answer(PageRequest(url, "GET", kind, {})))


@pytest.mark.parametrize("kind", ["Script", "XHR"])
def test_another_host_rests_for_as_long_as_it_asks(tmp_path: Path, kind: str) -> None:
    crawl, page = a_page(tmp_path, **{"Retry-After": "40"})
    ask(page, "http://api.example/data", kind)
    now = time()
    assert crawl.frontier.visit("api.example", now) - now == pytest.approx(41.0, abs=0.5)
    assert not page.asked_rest


@pytest.mark.parametrize("kind", ["Script", "Document"])
def test_the_host_of_a_page_rests_for_as_long_as_an_answer_to_a_request_asks(tmp_path: Path, kind: str) -> None:
    _, page = a_page(tmp_path, **{"Retry-After": "40"})
    ask(page, f"{PAGE}more", kind)
    assert page.asked_rest == 40.0
    assert [rendered_until(Fetch(200, 1.0, 0.5, asked), 2.0, 40.0).rests_from for asked in (0.0, 50.0)] == [42.0, 52.0]
