"""Fetching over HTTP: Scrapy's aiohttp handler, set up for a crawl of many hosts.

It costs less than the one on Twisted. All that Scrapy promises of a download handler holds: proxies, TLS settings, timeouts,
``headers_received`` and ``bytes_received`` with ``StopDownload``, ``DOWNLOAD_MAXSIZE``, ``DOWNLOAD_FAIL_ON_DATALOSS``, the
exceptions of ``scrapy.exceptions``. The module of the class that is built on is private to Scrapy:
``tests/scrapy/test_http_handler.py`` tries what is used of it.

A host is connected to only at an address that ``safety.py`` permits. It is asked about the addresses that the name server
gave, and once more about the one that a socket is made for: nothing is resolved between that and the connection.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar, cast

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from scrapy import Request
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers
from yarl import URL

from crawlproject.components.refused import Refused
from crawlproject.components.running import safety_of
from crawlproject.crawl.address_policy import ADDRESS, AddressPolicy
from crawlproject.options import read_options
from crawlproject.urls.addresses import read_address

READ_AHEAD = 2**18  # bytes of a body that wait to be read: most pages are one piece
KEEP_ALIVE = 15.0  # seconds that an idle connection stays open: longer than most hosts rest
REMEMBER_ADDRESSES = 300  # seconds

_OURS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # headers that requests have or have not


class AddressRefused(OSError):
    """The host has no address that may be connected to."""


class HttpDownloadHandler(AiohttpDownloadHandler):
    """``DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlproject.components.http_handler.HttpDownloadHandler")``.

    Where it differs from Scrapy's: a URL is sent letter by letter as the request spells it, headers may be long, an idle
    connection lives as long as most rests of a host, and addresses are checked. Raises ``Refused`` for an address that is
    not permitted. A proxy is the operator's choice, and so is a host that ``AddressPolicy.is_named``: these are not checked.
    """

    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._safety: AddressPolicy | None = None  # of the spider, which is not there yet
        self._unused = self._session  # of the parent; it has opened no connection
        options = read_options(crawler.settings)
        self._max_header_bytes, self._max_headers = options.crawl_max_header_bytes, options.crawl_max_headers
        self._session = self._make_session()  # to proxies, and to hosts that the operator named
        self._guarded: aiohttp.ClientSession | None = None

    def _make_session(self, safety: AddressPolicy | None = None) -> aiohttp.ClientSession:
        """A session that connects to what ``safety`` permits, to anything without it."""
        self._resolver = SafeResolver(safety) if safety else None
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                local_addr=self._bind_address,
                limit=self._pool_size_total,
                limit_per_host=self._pool_size_per_host,
                keepalive_timeout=KEEP_ALIVE,
                ttl_dns_cache=REMEMBER_ADDRESSES,
                resolver=self._resolver,
                socket_factory=_SafeSockets(safety) if safety else None,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=_ClientResponse,
            skip_auto_headers=_OURS,
            max_line_size=self._max_header_bytes,
            max_field_size=self._max_header_bytes,
            max_headers=self._max_headers,
            read_bufsize=READ_AHEAD,
        )

    def _session_for(self, url: URL, proxy: str | None) -> aiohttp.ClientSession:
        if self._guarded is None or self._safety is None:
            self._safety = safety_of(self.crawler)
            self._guarded = self._make_session(self._safety)
        if proxy or self._safety.is_named(url.host or "", url.port or 0):
            return self._session
        return self._guarded

    @staticmethod
    def _extract_headers(response: aiohttp.ClientResponse) -> Headers:
        headers = Headers()
        for name, value in response.raw_headers:
            dict.setdefault(headers, name.title(), []).append(value)
        return headers

    async def close(self) -> None:
        for opened in (self._unused, self._session, self._guarded, self._resolver):
            if opened is not None:
                await opened.close()

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[_ClientResponse]:
        url = URL(request.url, encoded=True)
        proxy = self._extract_proxy_url_with_creds(request)
        try:
            async with self._session_for(url, proxy).request(
                request.method,
                url,
                data=request.body or None,
                headers=_as_pairs(request.headers),
                timeout=aiohttp.ClientTimeout(total=timeout),
                ssl=self._ssl_context,
                allow_redirects=False,
                proxy=proxy,
            ) as response:
                yield cast(_ClientResponse, response)
        except TimeoutError as late:
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {timeout} seconds.") from late
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as wrong:
            raise UnsupportedURLSchemeError(str(wrong)) from wrong
        except aiohttp.ClientConnectorError as failed:
            raise _connection_failure(failed, request) from failed
        except aiohttp.ClientError as broken:
            raise DownloadFailedError(str(broken)) from broken


def _as_pairs(headers: Headers) -> list[tuple[str, str]]:
    """The headers of a request as they go out; what is for the proxy goes another way (``_extract_proxy``)."""
    return [
        (name.decode(), value.decode())
        for name, values in dict.items(headers)
        for value in values
        if name != b"Proxy-Authorization"
    ]


def _connection_failure(failed: aiohttp.ClientConnectorError, request: Request) -> Exception:
    if isinstance(failed.os_error, AddressRefused):
        return Refused(ADDRESS, request.url)
    if isinstance(failed, aiohttp.ClientConnectorDNSError):
        return CannotResolveHostError(str(failed))
    return DownloadConnectionRefusedError(str(failed))


class SafeResolver(AbstractResolver):
    """Resolves a name to those of its addresses that are permitted; ``AddressRefused`` when none of them is.

    ``resolver`` is who is asked; aiohttp's own unless given.
    """

    def __init__(self, safety: AddressPolicy, resolver: AbstractResolver | None = None) -> None:
        self._safety = safety
        self._resolver = resolver or aiohttp.DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        permitted = [result for result in found if _permits(self._safety, result["host"])]
        if found and not permitted:
            raise AddressRefused(f"{host} is at {found[0]['host']}")
        return permitted

    async def close(self) -> None:
        await self._resolver.close()


class _SafeSockets:
    """Makes the socket for a connection to one address: what spells an address in its URL is never resolved."""

    def __init__(self, safety: AddressPolicy) -> None:
        self._safety = safety

    def __call__(self, address: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        family, kind, protocol, _, target = address
        if not _permits(self._safety, str(target[0])):
            raise AddressRefused(f"{target[0]} is not public")
        return socket.socket(family, kind, protocol)


def _permits(safety: AddressPolicy, host: str) -> bool:
    address = read_address(host)
    return address is not None and safety.permits(address)
