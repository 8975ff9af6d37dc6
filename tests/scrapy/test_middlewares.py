"""The downloader middlewares one by one: canonical URLs, traps, robots.txt, and truncated responses."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest, NotConfigured, StopDownload
from scrapy.http import Headers, Response
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.project import get_project_settings
from support.webs import DictWeb, page, robots

from crawlproject.adapters.refused import Refused
from crawlproject.adapters.running import AS_SPELLED, ASKED_REST, AWAITED_ROBOTS, ROBOTS, attach, time
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.connections import KNOWN_RETRIES, NEW_RETRIES
from crawlproject.core.crawl import Crawl
from crawlproject.core.services import UNREACHABLE
from crawlproject.frontier.factory import MARGIN
from crawlproject.http.connection_failures import ExchangeLost, Unanswered, connection_failure
from crawlproject.records import CrawlUrl, Reply, Topic
from middlewares import default_pages
from middlewares.canonicalize import CanonicalizeMiddleware
from middlewares.default_pages import DefaultPageMiddleware
from middlewares.retry import ReplyRetryMiddleware
from middlewares.robots import RobotsMiddleware
from middlewares.traps import TrapMiddleware
from middlewares.truncate import TruncateMiddleware, media_type

HOME = "http://a.example/"


class Engine:
    """Downloads from a web; every download yields to other tasks, as a socket would."""

    def __init__(self, web: DictWeb) -> None:
        self.web = web
        self.fetched: Counter[str] = Counter()
        self.metas: list[dict[str, Any]] = []

    async def download_async(self, request: Request) -> Response:
        self.fetched[request.url] += 1
        self.metas.append(request.meta)
        await asyncio.sleep(0)
        reply = self.web.get(request.url)
        if reply.error:
            raise TimeoutError(reply.error)
        return Response(request.url, reply.status, dict(reply.headers), reply.body, request=request)


def a_crawler(*entries: tuple[str, Reply], **settings: object) -> Any:
    chosen = get_project_settings()
    chosen.setdict({"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, **settings}, priority="cmdline")
    crawler = SimpleNamespace(settings=chosen, engine=Engine(DictWeb(dict(entries))), spider=None)
    crawler.signals = SignalManager(crawler)
    crawler.stats = MemoryStatsCollector(SimpleNamespace(settings=chosen))
    return crawler


def topical(crawler: Any, folder: Path, *seeds: str) -> Crawl:
    """Attach a topical crawl, whose seeds are leased, to the crawler."""
    options = read_options({**crawler.settings, "CRAWL_DIR": str(folder), "FRONTIER_BATCH_SIZE": 1})
    crawl = assemble(Topic("reef", ("reef",), seeds), options, clock=lambda: 0.0)
    attach(crawler, crawl)
    while crawl.take(1.0):
        pass
    return crawl


# ------------------------------------------------------------ default pages


def test_a_page_with_many_missing_folders_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hrefs = [f"/{number}/{'./index.html' if number % 2 else ''}" for number in range(60)]
    crawler = a_crawler()
    crawl = topical(crawler, tmp_path / "crawl", HOME)
    crawl.folder.pages.store(HOME, page(HOME, *hrefs, text="reef")[1].body)
    read: list[str] = []
    parse = default_pages.parse_document
    monkeypatch.setattr(
        default_pages, "parse_document", lambda body, url, **more: read.append(url) or parse(body, url=url, **more)
    )
    leases = {f"{HOME}{number}/": CrawlUrl(f"{HOME}{number}/", 0.5, parent=HOME, depth=1) for number in range(60)}
    monkeypatch.setattr(default_pages, "lease_of", lambda crawl, request: leases[request.url])
    middleware = DefaultPageMiddleware.from_crawler(crawler)
    found = [
        middleware.process_response(request := Request(url), Response(url, 404, request=request)).url for url in leases
    ]
    assert found == [f"{url}index.html" if number % 2 else url for number, url in enumerate(leases)]
    assert read == [HOME]


# ------------------------------------------------------------ canonical spelling


@pytest.mark.parametrize(
    ("request_", "url"),
    [
        (Request("http://a.example/x/../index.html?utm_source=y"), HOME),
        (Request("HTTP://A.example"), HOME),
        (Request(HOME), None),
        (Request("http://a.example/index.html", method="POST"), None),
        (Request("http://a.example/index.html", body=b"x"), None),
        (Request("http://a.example/index.html", meta={AS_SPELLED: True}), None),
        (Request("data:text/plain,x"), None),
    ],
)
def test_a_plain_get_goes_back_in_its_canonical_spelling(request_: Request, url: str | None) -> None:
    crawler = a_crawler()
    again = CanonicalizeMiddleware.from_crawler(crawler).process_request(request_)
    assert (again.url if again else None) == url
    assert crawler.stats.get_value("canonicalize/respelled", 0) == (url is not None)


def test_what_surrounds_the_url_stays() -> None:
    request = Request("http://a.example/index.html", headers={"X": "1"}, meta={"depth": 3}, priority=7)
    again = CanonicalizeMiddleware.from_crawler(a_crawler()).process_request(request)
    assert again is not None and again.headers["X"] == b"1" and again.meta["depth"] == 3 and again.priority == 7


def test_what_has_no_canonical_spelling_is_ignored() -> None:
    with pytest.raises(IgnoreRequest, match="not a URL to crawl"):
        CanonicalizeMiddleware.from_crawler(a_crawler()).process_request(Request("http://a..example/"))


# ------------------------------------------------------------ traps


def test_a_trap_is_refused_by_its_rule_and_counted() -> None:
    crawler = a_crawler(TRAP_EXTENSIONS="xyz")
    middleware = TrapMiddleware.from_crawler(crawler)
    for url, rule in (
        (HOME + "x" * 300, "too_long"),
        (HOME + "a/a/a/", "repeated_segments"),
        (HOME + "f.xyz", "extension"),
    ):
        with pytest.raises(Refused) as refused:
            middleware.process_request(Request(url))
        assert refused.value.reason == f"trap/{rule}"
        assert crawler.stats.get_value(f"traps/refused/{rule}") == 1


def test_robots_txt_and_who_asks_for_it_pass_the_traps() -> None:
    middleware = TrapMiddleware.from_crawler(a_crawler(TRAP_EXTENSIONS=["txt"]))
    middleware.process_request(Request(HOME))
    middleware.process_request(Request(f"{HOME}robots.txt"))
    middleware.process_request(Request(HOME + "x" * 300, meta={"dont_obey_traps": True}))


# ------------------------------------------------------------ how much is read


def truncating(folder: Path | None, **settings: object) -> tuple[TruncateMiddleware, Any]:
    crawler = a_crawler(**settings)
    if folder:
        topical(crawler, folder, HOME)
    return TruncateMiddleware.from_crawler(crawler), crawler


def stopped(crawler: Any, event: str) -> int:
    return crawler.stats.get_value(f"truncate/stopped/{event}", 0)


@pytest.mark.parametrize(
    ("content_type", "wanted"),
    [("text/html", True), ("TEXT/html; charset=utf-8", True), ("", True), ("video/mp4", False), ("text/htmlx", False)],
)
def test_an_unwanted_content_type_stops_at_the_headers(tmp_path: Path, content_type: str, wanted: bool) -> None:
    middleware, crawler = truncating(tmp_path)
    headers = Headers({"Content-Type": content_type} if content_type else {})
    request = Request(HOME, callback=Spider("x").parse)
    try:
        middleware.headers_received(headers, 9, request, Spider("x"))
    except StopDownload as stop:
        assert stop.fail is False
    assert stopped(crawler, "content_type") == (not wanted)


def test_only_pages_of_the_topical_crawl_must_be_pages(tmp_path: Path) -> None:
    film = Headers({"Content-Type": "video/mp4"})
    request = Request(HOME, callback=Spider("x").parse)
    foreign, _ = truncating(None)
    foreign.headers_received(film, 9, request, Spider("x"))
    middleware, _ = truncating(tmp_path)
    middleware.headers_received(film, 9, request.replace(meta={"dont_obey_robotstxt": True}), Spider("x"))


def test_a_body_stops_when_it_is_long_enough() -> None:
    middleware, crawler = truncating(None, PAGE_MAX_BYTES=10)
    one, other = Request(HOME), Request(HOME)
    for _ in range(2):
        middleware.bytes_received(b"12345", one, Spider("x"))
        middleware.bytes_received(b"12345", other, Spider("x"))
    with pytest.raises(StopDownload) as stop:
        middleware.bytes_received(b"6", one, Spider("x"))
    assert stop.value.fail is False and stopped(crawler, "max_bytes") == 1


def test_media_types() -> None:
    assert media_type(" Text/HTML ; charset=x") == media_type("text/html charset=x") == "text/html"
    assert {media_type(said) for said in ("", "html", "*/*", "unknown/unknown", "; charset=utf-8")} == {""}


# ------------------------------------------------------------ robots.txt


def ask(middleware: RobotsMiddleware, *requests: Request) -> list[Any]:
    """The results for requests that arrive at the same moment: None, a request, or the exception."""

    async def together() -> list[Any]:
        return await asyncio.gather(*map(middleware.process_request, requests), return_exceptions=True)

    return asyncio.run(together())


def reasons(outcomes: list[Any]) -> Counter[str]:
    return Counter(outcome.reason if isinstance(outcome, Refused) else type(outcome).__name__ for outcome in outcomes)


RULES = robots("http://a.example", "User-agent: *\nDisallow: /private/\nCrawl-delay: 4\n")


def test_requests_that_arrive_together_wait_for_one_robots_txt() -> None:
    crawler = a_crawler(RULES)
    urls = [f"{HOME}private/{n}" for n in range(50)] + [f"{HOME}{n}" for n in range(50)]
    outcomes = ask(RobotsMiddleware(crawler), *map(Request, urls))
    assert reasons(outcomes) == {"robots/forbidden": 50, "NoneType": 50}
    assert crawler.engine.fetched == {f"{HOME}robots.txt": 1}
    assert crawler.stats.get_value("robots/refused/forbidden") == 50


def test_each_origin_has_its_own_rules() -> None:
    crawler = a_crawler(RULES)
    urls = [f"{start}private/x" for start in (HOME, "https://a.example/", "http://a.example:81/", "http://b.example/")]
    outcomes = ask(RobotsMiddleware(crawler), *map(Request, urls))
    assert reasons(outcomes) == {"robots/forbidden": 1, "NoneType": 3}
    assert len(crawler.engine.fetched) == 4


def test_a_post_comes_as_it_was_spelled() -> None:
    crawler = a_crawler(RULES)
    urls = ["http://a.example", "http://A.example:80/private/x"]
    outcomes = ask(RobotsMiddleware(crawler), *(Request(url, method="POST") for url in urls))
    assert reasons(outcomes) == {"NoneType": 1, "robots/forbidden": 1}
    assert crawler.engine.fetched == {f"{HOME}robots.txt": 1}
    assert isinstance(ask(RobotsMiddleware(crawler), Request("http://a..example/", method="POST"))[0], IgnoreRequest)


def test_who_need_not_obey_does_not_ask() -> None:
    crawler = a_crawler(RULES)
    exempt = Request(f"{HOME}private/x", meta={"dont_obey_robotstxt": True})
    assert ask(RobotsMiddleware(crawler), exempt, Request("data:text/plain,x")) == [None, None]
    assert not crawler.engine.fetched
    with pytest.raises(NotConfigured):
        RobotsMiddleware(a_crawler(ROBOTSTXT_OBEY=False))


def test_robots_txt_itself_is_no_page() -> None:
    crawler = a_crawler(RULES)
    ask(RobotsMiddleware(crawler), Request(HOME))
    assert crawler.engine.metas[0]["dont_obey_robotstxt"] is True


@pytest.mark.parametrize("reply", [Reply("", 503), Reply("", 0, error="timeout")])
def test_an_unreachable_robots_txt_forbids(reply: Reply) -> None:
    crawler = a_crawler((f"{HOME}robots.txt", reply))
    middleware = RobotsMiddleware(crawler)
    assert reasons(ask(middleware, Request(HOME), Request(f"{HOME}x"))) == {"robots/unreachable": 2}
    assert crawler.engine.fetched == {f"{HOME}robots.txt": 1}, "a spider's own request leaves retries to Scrapy"


def led_on(url: str, target: str) -> tuple[str, Reply]:
    return url, Reply(url, 302, {"location": target}, b"")


def hops(count: int) -> list[tuple[str, Reply]]:
    """``count`` redirects over as many hosts, which end at rules that forbid everything."""
    names = [
        f"{HOME}robots.txt",
        *(f"http://h{number}.example/r" for number in range(count - 1)),
        "http://end.example/r",
    ]
    chain = [led_on(url, target) for url, target in itertools.pairwise(names)]
    return [*chain, (names[-1], Reply("", 200, {}, b"User-agent: *\nDisallow: /"))]


@pytest.mark.parametrize(("count", "forbidden"), [(1, True), (5, True), (6, False)])
def test_redirects_of_robots_txt_lead_to_other_hosts_five_times(count: int, forbidden: bool) -> None:
    """RFC 9309 section 2.3.1.2: after more redirects the file counts as unavailable."""
    crawler = a_crawler(*hops(count))
    outcomes = ask(RobotsMiddleware.from_crawler(crawler), Request(f"{HOME}x"))
    assert reasons(outcomes) == {"robots/forbidden" if forbidden else "NoneType": 1}
    assert crawler.engine.fetched.total() == min(count, 5) + 1
    assert all(meta["dont_redirect"] for meta in crawler.engine.metas)


@pytest.mark.parametrize(("place", "reason"), [(0, "safety/address"), (1, "robots/unreachable")])
def test_a_robots_txt_at_a_refused_address_refuses_its_page(place: int, reason: str) -> None:
    """If only a redirect leads to the address, robots.txt is unreachable."""
    chain = hops(2)
    crawler = a_crawler(*chain)
    download = crawler.engine.download_async

    async def guarded(request: Request) -> Response:
        if request.url == chain[place][0]:
            raise Refused("safety/address", request.url)
        return await download(request)

    crawler.engine.download_async = guarded
    assert reasons(ask(RobotsMiddleware.from_crawler(crawler), Request(f"{HOME}x"))) == {reason: 1}


def test_robots_txt_is_read_to_500_kib_whatever_pages_are_cut_at() -> None:
    crawler = a_crawler(PAGE_MAX_BYTES=100)
    middleware = TruncateMiddleware.from_crawler(crawler)
    request = Request(f"{HOME}robots.txt", meta={ROBOTS: True})
    middleware.bytes_received(b"x" * 512_000, request, Spider("any"))
    with pytest.raises(StopDownload):
        middleware.bytes_received(b"x", request, Spider("any"))


def test_a_leased_page_waits_after_robots_txt_and_is_not_asked_about_again(tmp_path: Path) -> None:
    crawler = a_crawler(RULES, POLITENESS_MIN_DELAY=1)
    topical(crawler, tmp_path, HOME)
    request = Request(HOME)
    middleware = RobotsMiddleware(crawler)
    assert ask(middleware, request) == [request] and request.meta[AWAITED_ROBOTS]
    request.meta.pop(AWAITED_ROBOTS)
    assert ask(middleware, request) == [None]
    assert crawler.engine.fetched == {f"{HOME}robots.txt": 1}


def test_a_crawl_delay_reaches_the_frontier(tmp_path: Path) -> None:
    crawler = a_crawler(RULES, page(HOME))
    crawl = topical(crawler, tmp_path, HOME, f"{HOME}next")
    ask(RobotsMiddleware(crawler), Request(HOME))
    for url in (HOME, f"{HOME}next"):
        crawl.frontier.release(url, 100.0, 0.1)
    assert crawl.frontier.next_due(100.0) == pytest.approx(104.0 + MARGIN)


def test_a_leased_page_waits_for_another_try_of_an_unreachable_robots_txt(tmp_path: Path) -> None:
    crawler = a_crawler((f"{HOME}robots.txt", Reply("", 503)))
    crawl = topical(crawler, tmp_path, HOME)
    middleware, request = RobotsMiddleware(crawler), Request(HOME)
    for attempt in range(1, KNOWN_RETRIES + 2):
        (failure,) = ask(middleware, request)
        assert isinstance(failure, Unanswered) and connection_failure(failure) == UNREACHABLE
        assert crawler.engine.fetched == {f"{HOME}robots.txt": attempt}, "it is asked again each time"
        crawl.connections.turned_away("http://a.example")
    assert [reasons(ask(middleware, request)) for _ in range(2)] == [{"robots/unreachable": 1}] * 2
    assert crawler.engine.fetched.total() == KNOWN_RETRIES + 2, "and then no more"
    assert all(meta["dont_retry"] for meta in crawler.engine.metas), "a retry at once would visit the host unasked"


def test_a_robots_txt_may_ask_to_wait(tmp_path: Path) -> None:
    crawler = a_crawler((f"{HOME}robots.txt", Reply("", 429)))
    topical(crawler, tmp_path, HOME)
    download = crawler.engine.download_async

    async def asking(request: Request) -> Response:
        request.meta[ASKED_REST] = 30.0  # as ``Leases`` stores it
        return await download(request)

    crawler.engine.download_async = asking
    request = Request(HOME)
    assert isinstance(ask(RobotsMiddleware(crawler), request)[0], Unanswered)
    assert request.meta[ASKED_REST] == 30.0


SILENT = f"{HOME}robots.txt", Reply("", 0, error="timeout")


def test_a_leased_page_whose_host_does_not_answer_is_left_to_the_crawl_until_it_gives_up(tmp_path: Path) -> None:
    crawler = a_crawler(SILENT)
    crawl = topical(crawler, tmp_path, HOME)
    middleware, request = RobotsMiddleware(crawler), Request(HOME)
    crawl.connections.answered("http://other.example", 1.0)
    for attempt in range(1, NEW_RETRIES + 2):
        (failure,) = ask(middleware, request)
        assert isinstance(failure, Unanswered) and connection_failure(failure) == "TimeoutError"
        assert crawler.engine.fetched == {f"{HOME}robots.txt": attempt}, "it is asked again each time"
        crawl.connections.failed(HOME, "http://a.example", 2.0, waiting=9, in_flight=0)
        crawl.connections.answered("http://other.example", 3.0)
    assert [reasons(ask(middleware, request)) for _ in range(2)] == [{"robots/unreachable": 1}] * 2
    assert crawler.engine.fetched.total() == NEW_RETRIES + 2, "and then no more"


def test_a_host_that_leads_its_robots_txt_to_a_dead_one_is_not_dead(tmp_path: Path) -> None:
    dead = "http://dead.example/robots.txt"
    crawler = a_crawler(led_on(f"{HOME}robots.txt", dead), (dead, Reply("", 0, error="timeout")))
    topical(crawler, tmp_path, HOME)
    middleware, request = RobotsMiddleware(crawler), Request(HOME)
    (failure,) = ask(middleware, request)
    assert isinstance(failure, Unanswered) and connection_failure(failure) == UNREACHABLE


@pytest.mark.parametrize("name", ["robots.txt", "rules"])
def test_of_hosts_whose_robots_txt_lead_to_each_other_one_gives_way(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("middlewares.robots.PATIENCE", 1.0)
    other = "http://b.example/"
    crawler = a_crawler(
        *(led_on(f"{one}robots.txt", f"{two}{name}") for one, two in ((HOME, other), (other, HOME))),
        *((f"{host}rules", Reply("", 200, {}, b"User-agent: *\nDisallow: /no")) for host in (HOME, other)),
    )
    crawl = topical(crawler, tmp_path, HOME, other)
    middleware = RobotsMiddleware(crawler)

    async def fetch(url: str) -> bool:
        try:
            assert await middleware.process_request(Request(url)) is None
        except ExchangeLost:  # no failure of the host
            crawl.frontier.release(url, 1.0, 0.1)
            return False
        crawl.frontier.done(url, 1.0, 0.1)
        return True

    async def both() -> None:
        first = dict(zip((HOME, other), await asyncio.gather(fetch(HOME), fetch(other)), strict=True))
        assert sorted(first.values()) == [False, True]
        assert crawl.take(time()) is not None
        assert await fetch(min(first, key=lambda url: first[url]))

    asyncio.run(both())
    for host in (HOME, other):
        rules = middleware.cache.get(host.rstrip("/"), time())
        assert rules is not None and rules.allows(f"{host}no") is (name == "robots.txt"), "a file in a circle is none"


def test_robots_txt_shows_whether_a_host_is_away_or_a_page(tmp_path: Path) -> None:
    crawler = a_crawler(RULES)
    crawl = topical(crawler, tmp_path, HOME)
    middleware = RobotsMiddleware(crawler)
    assert [len(ask(middleware, Request(HOME))) for _ in range(2)] == [1, 1]
    assert crawler.engine.fetched.total() == 1
    crawl.connections.failed(HOME, "http://a.example", 2.0, waiting=9, in_flight=0)
    ask(middleware, Request(HOME))
    assert crawler.engine.fetched.total() == 2 and not crawl.connections.is_in_doubt("http://a.example")


@pytest.mark.parametrize("leased", [True, False])
def test_who_did_not_answer_is_tried_again_later_and_not_at_once(tmp_path: Path, leased: bool) -> None:
    crawler = a_crawler(RETRY_TIMES=2)
    topical(crawler, tmp_path, HOME)
    crawler.spider = SimpleNamespace(crawler=crawler)
    middleware, request = ReplyRetryMiddleware.from_crawler(crawler), Request(HOME if leased else f"{HOME}own")
    assert (middleware.process_exception(request, DownloadTimeoutError("late")) is None) is leased
    again = middleware.process_response(request, Response(HOME, 503))
    assert isinstance(again, Request) and again.meta["retry_times"] == 1
