"""Fetching over HTTP: Scrapy's aiohttp handler, set up for a crawl of many hosts.

It costs less than the one on Twisted. All that Scrapy promises of a download handler holds: proxies, TLS settings, timeouts,
``headers_received`` and ``bytes_received`` with ``StopDownload``, ``DOWNLOAD_MAXSIZE``, ``DOWNLOAD_FAIL_ON_DATALOSS``, the
exceptions of ``scrapy.exceptions``. The module of the class that is built on is private to Scrapy:
``tests/scrapy/test_http_handler.py`` tries what is used of it.

``connector.py`` says where it connects to and how many connections there are, ``guarded_protocol.py`` how much is read.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar, cast

import aiohttp
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
from scrapy.http import Headers, Response
from yarl import URL

from crawlproject.adapters.leases import SLOW_BESIDE
from crawlproject.adapters.refused import Refused
from crawlproject.adapters.running import count, safety_of
from crawlproject.configuration import read_options
from crawlproject.core.address_policy import ADDRESS, AddressPolicy
from crawlproject.core.responses import HEADS, Flood, HostTimeouts
from crawlproject.http.connection_failures import tls_failure
from crawlproject.http.connector import FULL, AddressRefused, GuardedConnector, Sockets, TableFull, raise_limit
from crawlproject.http.guarded_protocol import GuardedResponse
from crawlproject.http.name_resolver import names_of

READ_AHEAD = 2**18  # bytes of a body that wait to be read: most pages are one piece

_OURS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # headers that requests have or have not


class HttpDownloadHandler(AiohttpDownloadHandler):
    """``DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlproject.http.http_handler.HttpDownloadHandler")``.

    Where it differs from Scrapy's: a URL is sent letter by letter as the request spells it, headers may be long, an idle
    connection lives as long as most rests of a host, addresses are checked, responses have limits, and a host that was quick
    may be silent for a short time only. Raises ``Refused`` for an address that is not permitted, and for a flood. A proxy is
    the operator's choice, and so is a host that ``AddressPolicy.is_named``: their addresses are not checked.
    """

    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._safety: AddressPolicy | None = None  # of the spider, which is not there yet
        self._unused = self._session  # of the parent; it has opened no connection
        options = read_options(crawler.settings)
        self._max_header_bytes, self._max_headers = options.crawl_max_header_bytes, options.crawl_max_headers
        self._timeouts = HostTimeouts(options.crawl_min_timeout)
        in_use = self._pool_size_total * (1 + SLOW_BESIDE)  # slow ones are made beside the others
        self._sockets = Sockets(raise_limit(), in_use)
        self._resolver = names_of(crawler)
        self._session = self._make_session()  # to proxies, and to hosts that the operator named
        self._guarded: aiohttp.ClientSession | None = None

    def _make_session(self, safety: AddressPolicy | None = None) -> aiohttp.ClientSession:
        """A session that connects to what ``safety`` permits, to anything without it."""
        return aiohttp.ClientSession(
            connector=GuardedConnector(
                self._sockets,
                self._resolver,
                safety,
                HEADS * self._max_header_bytes,
                local_addr=self._bind_address,
                limit_per_host=self._pool_size_per_host,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=GuardedResponse,
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

    @staticmethod
    async def _iter_body_chunks(response: _ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except TimeoutError as late:
            raise cast(GuardedResponse, response).late() or late from late

    async def close(self) -> None:
        for opened in (self._unused, self._session, self._guarded, self._resolver):
            if opened is not None:
                await opened.close()

    async def download_request(self, request: Request) -> Response:
        began = time.monotonic()
        while True:
            try:
                return await super().download_request(request)
            except TableFull as full:
                count(self.crawler, "downloader/waited_for_open_files")
                await self._sockets.wait_for_room()
                if time.monotonic() - began > request.meta.get("download_timeout", self._DEFAULT_CONNECT_TIMEOUT):
                    raise DownloadTimeoutError(f"Getting {request.url} waited too long for a socket.") from full

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[_ClientResponse]:
        url = URL(request.url, encoded=True)
        proxy = self._extract_proxy_url_with_creds(request)
        host, began = url.authority, time.monotonic()
        silence = self._timeouts.of(host, timeout)
        try:
            async with self._session_for(url, proxy).request(
                request.method,
                url,
                data=request.body or None,
                headers=_as_pairs(request.headers),
                timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=silence, sock_read=silence),
                ssl=self._ssl_context,
                allow_redirects=False,
                proxy=proxy,
            ) as response:
                yield cast(_ClientResponse, response)
            self._timeouts.answered(host, time.monotonic() - began)
        except Flood as flood:
            count(self.crawler, f"{flood.reason}/refused")
            raise Refused(flood.reason, request.url) from flood
        except TimeoutError as late:
            self._timeouts.failed(host, time.monotonic() - began)
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {timeout} seconds.") from late
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as wrong:
            raise UnsupportedURLSchemeError(str(wrong)) from wrong
        except aiohttp.ClientConnectorError as failed:
            raise tls_failure(failed) or _connection_failure(failed, request) from failed
        except aiohttp.ClientError as broken:
            raise tls_failure(broken) or DownloadFailedError(str(broken)) from broken


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
    if failed.os_error.errno in FULL:
        return TableFull(*failed.os_error.args)
    if isinstance(failed, aiohttp.ClientConnectorDNSError):
        return CannotResolveHostError(str(failed))
    return DownloadConnectionRefusedError(str(failed))
