"""The addresses of hosts on their way from the name server to the frontier."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.project import get_project_settings

from crawlproject.adapters.running import ROBOTS, attach
from crawlproject.adapters.scheduler import CrawlScheduler
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.records import CrawlUrl, Topic
from middlewares.robots import RobotsMiddleware
from middlewares.server_address import ServerAddressMiddleware

NAMES = [f"http://name{number}.example/" for number in range(5)]


class NameServer:
    """Resolves ``.example`` names, all to the same address unless a test sets another."""

    def __init__(self, **addresses: Sequence[str]) -> None:
        self.addresses = addresses
        self.asked: Counter[str] = Counter()

    async def __call__(self, name: str) -> Sequence[str]:
        self.asked[name] += 1
        await asyncio.sleep(0)
        return self.addresses.get(name.removesuffix(".example"), ["192.0.2.1"])


def a_crawler(**settings: object) -> Any:
    chosen = get_project_settings()
    chosen.setdict(settings, priority="cmdline")
    crawler = SimpleNamespace(settings=chosen, spider=None)
    crawler.signals = SignalManager(crawler)
    crawler.stats = MemoryStatsCollector(SimpleNamespace(settings=chosen))
    crawler.engine = SimpleNamespace(
        spider=None, _slot=None, downloader=SimpleNamespace(active=set(), total_concurrency=16)
    )
    return crawler


def crawling(folder: Path, names: Sequence[str] = NAMES, **settings: object) -> tuple[Crawl, CrawlScheduler]:
    crawler = a_crawler(CRAWL_DIR=str(folder), FRONTIER_BATCH_SIZE=1, **settings)
    crawl = assemble(Topic("reef", ("reef",), tuple(names)), read_options(crawler.settings), clock=lambda: 0.0)
    attach(crawler, crawl)
    scheduler = CrawlScheduler(crawler, crawl)
    scheduler.open(SimpleNamespace(page_request=lambda url: Request(url.url)))  # type: ignore[arg-type]
    return crawl, scheduler


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("crawlproject.adapters.leases.call_later", lambda delay, wake: SimpleNamespace(cancel=id))


def requests_of(scheduler: CrawlScheduler) -> list[Request]:
    return list(iter(scheduler.next_request, None))


def ask(middleware: ServerAddressMiddleware, requests: Sequence[Request]) -> list[Request | None]:
    """The results for requests that arrive at the same moment."""

    async def together() -> list[Request | None]:
        return list(await asyncio.gather(*map(middleware.process_request, requests)))

    return asyncio.run(together())


def test_five_names_of_one_server_are_visited_one_after_the_other(tmp_path: Path) -> None:
    crawl, scheduler = crawling(tmp_path, POLITENESS_MIN_DELAY=0, POLITENESS_FACTOR=0)
    middleware = ServerAddressMiddleware(scheduler.crawler, NameServer())
    visited: list[str] = []
    requests = requests_of(scheduler)
    assert len(requests) == 5  # it is not known yet that they are one server
    while requests:
        outcomes = ask(middleware, requests)
        sent = [request for request, outcome in zip(requests, outcomes, strict=True) if outcome is None]
        assert len(sent) == 1
        for outcome in filter(None, outcomes):
            assert scheduler.enqueue_request(outcome)
        assert not requests_of(scheduler)
        visited += [request.url for request in sent]
        crawl.frontier.done(sent[0].url, 0.0, 0.0)
        requests = requests_of(scheduler)
    assert sorted(visited) == NAMES
    assert scheduler.crawler.stats.get_value("scheduler/address_in_use") == 4


def test_names_of_several_servers_are_visited_at_once_and_looked_up_once(tmp_path: Path) -> None:
    _, scheduler = crawling(tmp_path)
    servers = NameServer(**{f"name{number}": [f"192.0.2.{number}"] for number in range(5)})
    middleware = ServerAddressMiddleware(scheduler.crawler, servers)
    requests = requests_of(scheduler)
    for _ in range(2):
        assert ask(middleware, requests) == [None] * 5
    assert set(servers.asked.values()) == {1}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", "no address"])
def test_programs_of_this_machine_are_no_one_server(tmp_path: Path, address: str) -> None:
    _, scheduler = crawling(tmp_path)
    servers = NameServer(**{f"name{number}": [address] for number in range(5)})
    assert ask(ServerAddressMiddleware(scheduler.crawler, servers), requests_of(scheduler)) == [None] * 5


@pytest.mark.parametrize("how", ["environment", "request"])
def test_what_a_proxy_fetches_is_not_looked_up(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, scheduler = crawling(tmp_path)
    requests = requests_of(scheduler)
    if how == "environment":
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:8080")
    else:
        for request in requests:
            request.meta["proxy"] = "http://127.0.0.1:8080"
    servers = NameServer()
    assert ask(ServerAddressMiddleware(scheduler.crawler, servers), requests) == [None] * 5
    assert not servers.asked


def test_a_robots_txt_goes_with_its_page(tmp_path: Path) -> None:
    _, scheduler = crawling(tmp_path)
    servers = NameServer()
    asked = [Request(f"{name}robots.txt", meta={ROBOTS: True}) for name in NAMES]
    assert ask(ServerAddressMiddleware(scheduler.crawler, servers), asked) == [None] * 5
    assert not servers.asked


def test_a_content_network_is_told_by_the_speed_of_its_answers(tmp_path: Path) -> None:
    names = [f"http://site{number}.example/" for number in range(25)]
    _, scheduler = crawling(tmp_path, names, POLITENESS_MIN_DELAY=0, POLITENESS_FACTOR=0, CONCURRENT_REQUESTS=30)
    middleware = ServerAddressMiddleware(scheduler.crawler, NameServer())
    requests = requests_of(scheduler)
    outcomes = ask(middleware, requests)
    assert outcomes.count(None) == 1
    sent = requests[outcomes.index(None)]
    for outcome in filter(None, outcomes):
        scheduler.enqueue_request(outcome)
    sent.meta["download_latency"] = 0.05
    middleware.process_response(sent, Response(sent.url))
    assert len(requests_of(scheduler)) == 24


def test_it_is_off_per_host_and_for_a_virtual_web(tmp_path: Path) -> None:
    for settings in ({"POLITENESS_PER": "host"}, {"VIRTUAL_WEB": "sample"}):
        with pytest.raises(NotConfigured):
            ServerAddressMiddleware.from_crawler(a_crawler(**settings))


def test_other_spiders_are_left_alone() -> None:
    crawler = a_crawler()
    servers = NameServer()
    assert ask(ServerAddressMiddleware(crawler, servers), [Request(NAMES[0])]) == [None]
    assert not servers.asked


def test_a_name_without_an_address_is_fetched_which_tells_why(tmp_path: Path) -> None:
    _, scheduler = crawling(tmp_path, ["http://name.invalid/"])
    middleware = ServerAddressMiddleware(scheduler.crawler)
    assert ask(middleware, requests_of(scheduler)) == [None]


def test_a_name_that_could_not_be_looked_up_is_looked_up_again(tmp_path: Path) -> None:
    _, scheduler = crawling(tmp_path, NAMES[:2])
    servers = NameServer(name0=[])
    middleware = ServerAddressMiddleware(scheduler.crawler, servers)
    first, second = requests_of(scheduler)
    assert ask(middleware, [first]) == [None]
    servers.addresses.clear()
    assert ask(middleware, [second]) == [None]
    assert ask(middleware, [first]) == [first], "its server is being visited"


def test_an_address_in_a_url_is_an_address(tmp_path: Path) -> None:
    crawl, scheduler = crawling(tmp_path, ["http://192.0.2.1/", NAMES[0]], CRAWL_ALLOWED_ADDRESSES="192.0.2.0/24")
    outcomes = ask(
        ServerAddressMiddleware(scheduler.crawler, NameServer(**{"192.0.2.1": ["192.0.2.1"]})), requests_of(scheduler)
    )
    assert sum(outcome is None for outcome in outcomes) == 1
    assert isinstance(crawl.frontier.leased(NAMES[0]), CrawlUrl)


def test_the_target_of_a_robots_txt_redirect_waits_for_another_name_of_its_server(tmp_path: Path) -> None:
    crawl, scheduler = crawling(tmp_path, NAMES[:2], POLITENESS_MIN_DELAY=0, POLITENESS_FACTOR=0)
    crawler, target = scheduler.crawler, f"{NAMES[2]}robots.txt"
    asked: list[str] = []

    async def download(request: Request) -> Response:
        asked.append(request.url)
        status = 200 if request.url == target else 302
        return Response(request.url, status, {"Location": target}, request=request)

    crawler.engine.download_async = download
    addresses = ServerAddressMiddleware(crawler, NameServer(name0=["192.0.2.9"]))
    robots = RobotsMiddleware(crawler)
    page, other = requests_of(scheduler)
    assert ask(addresses, [page, other]) == [None, None]

    async def redirected() -> None:
        waiting = asyncio.ensure_future(robots.process_request(page))
        await asyncio.sleep(0.3)
        assert asked == [f"{NAMES[0]}robots.txt"], "its server is being visited by another name"
        crawl.frontier.done(other.url, 0.0, 0.0)
        await waiting

    asyncio.run(redirected())
    assert asked == [f"{NAMES[0]}robots.txt", target]
