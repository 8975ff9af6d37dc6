"""Fetches robots.txt once per origin and obeys it, also when several requests arrive at the same moment.

Scrapy's own middleware lets concurrent requests of a new host through (2.14 to 2.19; docs/upstream/0001), uses one file for both
schemes of a host (0002), keeps every parser for ever, and knows neither expiry nor ``Crawl-delay``. Here a lock per origin makes
all requests wait for the one fetch of robots.txt; the rules live in a bounded cache; and since that fetch was a visit of the
host, the page waits in the frontier until the host may be visited again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured, NotSupported
from scrapy.http.request import NO_CALLBACK

from crawlproject.adapters.host_turns import HostTurns
from crawlproject.adapters.refused import Refused
from crawlproject.adapters.request_json import lease_of
from crawlproject.adapters.running import (
    ASKED_REST,
    AWAITED_ROBOTS,
    RESOURCE,
    ROBOTS,
    Component,
    count,
    crawl_of,
    fetch_of,
    memory_error,
    robots_agent,
    stopped,
    stopping,
    time,
)
from crawlproject.configuration import read_options
from crawlproject.core.responses import FLOOD
from crawlproject.core.robots import MAX_REDIRECTS, RobotsCache, RobotsRules
from crawlproject.core.services import UNREACHABLE
from crawlproject.errors import InvalidUrl
from crawlproject.http.connection_failures import ExchangeLost, Unanswered, connection_failure
from crawlproject.urls.canonical import canonical_or_none, canonical_url
from crawlproject.urls.hosts import host_of, origin_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

PATIENCE = 30.0  # seconds that a redirect of a robots.txt waits for another host

_REDIRECTS = (301, 302, 303, 307, 308)
_ALLOWED = "robots_allowed"  # meta key: the rules were read and allow the request


class HostBusy(Exception):
    """The target host of a robots.txt redirect could not be visited in time."""


class RobotsMiddleware(Component):
    """Active when ``ROBOTSTXT_OBEY`` is on. ``meta["dont_obey_robotstxt"]`` exempts a request, as in Scrapy."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        super().__init__(crawler)
        self.options = read_options(crawler.settings)
        self.cache = RobotsCache(
            size=self.options.crawl_robots_cache_size,
            max_age=self.options.crawl_robots_max_age,
            agent=robots_agent(crawler.settings),
        )
        self._turns = HostTurns(crawler)
        self._waits: dict[str, str] = {}  # host that is being visited -> the one that its robots.txt redirect waits for
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def process_request(self, request: Request, spider: Spider | None = None) -> Request | None:
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith(("http:", "https:")):
            return None
        if request.meta.pop(_ALLOWED, False):
            return None  # checked when robots.txt came, before the host had to rest; the rules may since have expired
        origin = _origin(request)
        crawl = crawl_of(self.crawler)
        if crawl and crawl.connections.is_in_doubt(origin):
            self.cache.forget(origin)  # a page got no answer: fetching robots.txt shows whether the host answers
        rules = self.cache.get(origin, time())
        fetched = False
        if rules is None:
            rules, fetched = await self._fetch_once(origin, retry=not self._is_leased(request))
            if fetched and RESOURCE in request.meta:
                await self._turns.rest(0.0)  # this visit of the host continues for a page in the browser
        if fetched and rules.sitemaps and crawl and (lease := lease_of(crawl, request)):
            crawl.robots_read(rules, lease)
        if fetched and rules.asked_rest:
            request.meta[ASKED_REST] = rules.asked_rest
        if rules.unreachable and crawl and not crawl.connections.is_given_up(origin) and self._is_leased(request):
            self.cache.forget(origin)
            raise Unanswered(rules.failure or UNREACHABLE)  # the crawl tries the host again later
        if not rules.allows(request.url):
            count(self.crawler, f"robots/refused/{rules.reason}")
            if fetched and self._is_leased(request):  # the page is not fetched, but its host was visited
                fetch = fetch_of(request, 0, time())
                self._turns.end(host_of(origin), fetch.seconds, fetch.asked_rest)
            raise Refused(f"robots/{rules.reason}", request.url)
        if fetched and self._host_must_rest(request, rules):
            request.meta[AWAITED_ROBOTS] = request.meta[_ALLOWED] = True
            return request
        return None

    async def _fetch_once(self, origin: str, *, retry: bool) -> tuple[RobotsRules, bool]:
        """The rules of ``origin``, and whether this call fetched them."""
        lock = self._locks.setdefault(origin, asyncio.Lock())
        async with lock:
            rules = self.cache.get(origin, time())
            if rules is not None:
                return rules, False
            rules = await self._fetch(origin, retry=retry)
        self._learn(origin, rules)
        return rules, True

    def _learn(self, origin: str, rules: RobotsRules) -> None:
        if self.crawler.engine and (crawl := crawl_of(self.crawler)):
            crawl.learn_robots(origin, rules, time())

    def _share(self, rules: RobotsRules, passed: Iterable[str]) -> RobotsRules:
        """Keep ``rules`` also for every origin whose robots.txt, one of the URLs ``passed``, redirected to them."""
        for url in passed:
            origin = origin_of(url)
            if url == f"{origin}/robots.txt" and self.cache.get(origin, time()) is None:
                self._learn(origin, self.cache.share(origin, rules))
        return rules

    async def _fetch(self, origin: str, *, retry: bool) -> RobotsRules:
        count(self.crawler, "robots/fetched")
        url = f"{origin}/robots.txt"
        passed = [url]
        try:
            response = await self._download(url, retry=retry)
            for _ in range(MAX_REDIRECTS):
                target = _target(response)
                if target is None or target in passed:
                    break
                if known := self._known(target):
                    return self._share(known, passed)
                passed.append(target)
                response = await self._follow(passed, response, retry=retry)
        except (ExchangeLost, NotSupported):
            raise  # the page will wait again, and its robots.txt with it; or nothing can be fetched at all
        except Exception as failure:
            if lacking := memory_error(failure):
                raise lacking from failure
            if isinstance(failure, Refused) and (failure.url == url or failure.reason.startswith(FLOOD)):
                raise  # the address is refused, which is also that of the page; or a flood, which pages would be, too
            # Any other reason why robots.txt did not arrive (timeout, refused connection, a broken reply, another middleware)
            # means "unreachable" in RFC 9309; the crawl continues.
            logger.debug("robots.txt of %s is unreachable: %r", origin, failure)
            count(self.crawler, f"robots/failed/{type(failure).__name__}")
            rules = self.cache.store(origin, 0, {}, b"", time())
            if host_of(passed[-1]) == host_of(url):  # otherwise another host failed, not that of the page
                rules.failure = connection_failure(failure)
            return rules
        headers = {
            name.decode("latin-1").lower(): values[-1].decode("latin-1") for name, values in response.headers.items()
        }
        rules = self.cache.store(origin, response.status, headers, response.body, time())
        if host_of(passed[-1]) == host_of(url):
            rules.asked_rest = response.meta.get(ASKED_REST, 0.0)
        return self._share(rules, passed)

    async def _follow(self, passed: Sequence[str], redirect: Response, *, retry: bool) -> Response:
        """Fetch the last URL of ``passed``, to which a robots.txt redirects, once its host has rested.

        The host of the first URL is that of the page, whose visit is under way.
        """
        target = passed[-1]
        if crawl_of(self.crawler) is None:
            return await self._download(target, retry=retry)
        own, host = host_of(passed[0]), host_of(target)
        await self._turns.rest(redirect.meta.get("download_latency", 0.0))
        if host == own:
            return await self._download(target, retry=retry)
        if self._waits_for(host, own):
            raise ExchangeLost("busy_host")  # gives way: otherwise neither visit would end
        self._waits[own] = host
        try:
            if not await self._turns.begin(target, PATIENCE, beside=own):
                raise HostBusy(host)
        finally:
            self._waits.pop(own, None)
        began, asked_rest = time(), 0.0
        try:
            response = await self._download(target, retry=retry)
            asked_rest = response.meta.get(ASKED_REST, 0.0)
            return response
        finally:
            self._turns.end(host, time() - began, asked_rest)

    def _waits_for(self, host: str, own: str) -> bool:
        """Whether the visit of ``host`` waits for that of ``own`` to end, perhaps by visits of others."""
        while host != own and host in self._waits:
            host = self._waits[host]
        return host == own

    def _known(self, url: str) -> RobotsRules | None:
        """The known rules at ``url``, if it is the robots.txt of an origin that was fetched before."""
        origin = origin_of(url)
        rules = self.cache.get(origin, time()) if url == f"{origin}/robots.txt" else None
        return None if rules is None or rules.unreachable else rules

    async def _download(self, url: str, *, retry: bool) -> Response:
        """Fetch one hop. Redirects are followed here, each through the middlewares: Scrapy would follow twenty."""
        # An immediate retry would visit the host without a pause: a leased page waits in the frontier for the next try.
        meta = {"dont_obey_robotstxt": True, "dont_retry": not retry, "dont_redirect": True, ROBOTS: True}
        request = Request(url, callback=NO_CALLBACK, meta=meta)
        response: Response = await self.crawler.engine.download_async(request)
        self._note(response)
        return response

    def _note(self, response: Response) -> None:
        crawl = crawl_of(self.crawler)
        if crawl is not None and not stopped(self.crawler):
            names = ("Content-Type", "Location")
            content_type, location = ((response.headers.get(name) or b"").decode("latin-1") for name in names)
            with stopping(self.crawler):
                crawl.folder.robots.append(
                    response.url,
                    response.status,
                    time(),
                    content_type=content_type,
                    location=location,
                    body=response.body,
                )

    def _host_must_rest(self, request: Request, rules: RobotsRules) -> bool:
        """Whether the host must rest between robots.txt and the page."""
        asked = rules.crawl_delay(self.options.politeness_max_crawl_delay)
        return self._is_leased(request) and bool(
            self.options.politeness_min_delay or self.options.politeness_factor or asked
        )

    def _is_leased(self, request: Request) -> bool:
        """Whether the frontier of a topical crawl holds the lease of this request."""
        return lease_of(crawl_of(self.crawler), request) is not None


def _target(response: Response) -> str | None:
    """The target of a robots.txt redirect, on any host; None if the reply is no redirect."""
    location = response.headers.get(b"Location")
    if response.status not in _REDIRECTS or not location:
        return None
    return canonical_or_none(canonical_url, location.decode("utf-8", "replace"), response.url)


def _origin(request: Request) -> str:
    """The origin whose robots.txt applies; the URL of a POST is not canonical, and may lack a path."""
    try:
        return origin_of(canonical_url(request.url))
    except InvalidUrl as invalid:
        raise IgnoreRequest(str(invalid)) from invalid
