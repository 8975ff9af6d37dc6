"""Finds out which hosts are names of one server, so that the frontier makes one visit to a server at a time.

A host is looked up before its first fetch, including that of robots.txt, also if that is only the target of a redirect. If
another host with the same address is being visited, or has just been visited, the page waits in the frontier.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from scrapy.exceptions import NotConfigured

from crawlproject.adapters.host_turns import look_up_with
from crawlproject.adapters.request_json import lease_of
from crawlproject.adapters.running import AWAITED_ADDRESS, ROBOTS, Component, count, crawl_of
from crawlproject.configuration import read_options
from crawlproject.core.server_addresses import ServerAddresses
from crawlproject.http.name_resolver import names_of
from crawlproject.urls.addresses import read_address
from crawlproject.urls.hosts import host_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.core.crawl import Crawl

_HOSTS = 10_000  # size of the cache

Lookup = Callable[[str], Awaitable[Sequence[str]]]


class ServerAddressMiddleware(Component):
    """Active with ``POLITENESS_PER = "address"``, in topical crawls on the network, for URLs without a proxy.

    Names of this machine (loopback addresses) stay separate servers, because different programs answer there.
    ``look_up`` returns the addresses of a name, if any (default: those that the crawler will connect to).
    """

    def __init__(self, crawler: Crawler, look_up: Lookup | None = None) -> None:
        options = read_options(crawler.settings)
        if options.virtual_web or options.politeness_per == "host":
            raise NotConfigured
        super().__init__(crawler)
        self._look_up = look_up or self._ask
        self._addresses: ServerAddresses | None = None
        # Schemes with a proxy, and the hosts exempt from it: reading the environment costs more than a link.
        self._proxied = frozenset(getproxies())
        self._bypasses = lru_cache(_HOSTS)(proxy_bypass)
        look_up_with(crawler, self.look_up)

    async def process_request(self, request: Request) -> Request | None:
        crawl = crawl_of(self.crawler)
        if crawl is None or request.meta.get(ROBOTS) or not request.url.startswith(("http:", "https:")):
            return None
        proxied = bool(request.meta["proxy"]) if "proxy" in request.meta else self._has_proxy(request.url)
        if proxied or await self._may_visit(request.url, crawl) or lease_of(crawl, request) is None:
            return None
        count(self.crawler, "scheduler/address_in_use")
        request.meta[AWAITED_ADDRESS] = True
        return request

    def process_response(self, request: Request, response: Response) -> Response:
        if self._addresses is not None and (seconds := request.meta.get("download_latency")):
            self._addresses.answered(host_of(request.url), seconds)
        return response

    async def look_up(self, url: str) -> None:
        """Tell the frontier the address of the host of a URL, if a visit of it is to begin that is none of a page."""
        crawl = crawl_of(self.crawler)
        if crawl is not None and not self._has_proxy(url):
            await self._may_visit(url, crawl)

    async def _may_visit(self, url: str, crawl: Crawl) -> bool:
        """Whether no other name of the server of a URL is being visited, or has just been; True if that is known already."""
        host, addresses = host_of(url), self._of(crawl)
        if addresses.knows(host):
            return True
        looked_up = await self._look_up(urlsplit(url).hostname or "")
        if not looked_up:
            return True  # the next page looks it up again
        return addresses.found(host, filter(_tells, looked_up))

    async def _ask(self, name: str) -> Sequence[str]:
        """The addresses of a name; none if it cannot be resolved, in which case the fetch reports the reason."""
        try:
            return await names_of(self.crawler).addresses(name)
        except OSError:
            return ()

    def _has_proxy(self, url: str) -> bool:
        """Whether the environment names a proxy for the URL, which then resolves the name."""
        if not self._proxied:
            return False
        parts = urlsplit(url)
        return parts.scheme in self._proxied and not self._bypasses(parts.hostname or "")

    def _of(self, crawl: Crawl) -> ServerAddresses:
        if self._addresses is None:
            self._addresses = ServerAddresses(crawl.frontier.host_address)
        return self._addresses


def _tells(text: str) -> bool:
    """Whether an address identifies a server."""
    address = read_address(text)
    return address is not None and not address.is_loopback
