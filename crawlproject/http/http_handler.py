"""Fetching over HTTP: Scrapy's aiohttp handler, set up for a crawl of many hosts.

It costs less than Scrapy's handler on Twisted. It keeps all promises of a Scrapy download handler: proxies, TLS settings,
time-outs, ``headers_received`` and ``bytes_received`` with ``StopDownload``, ``DOWNLOAD_MAXSIZE``,
``DOWNLOAD_FAIL_ON_DATALOSS``, the exceptions of ``scrapy.exceptions``. The module of its base class is private to Scrapy:
``tests/scrapy/test_http_handler.py`` checks what is used of it.

``connector.py`` decides where to connect and how many connections there are, ``guarded_protocol.py`` how much is read.
"""

from __future__ import annotations

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
from crawlproject.adapters.running import count, heartbeat, memory_error, safety_of, time
from crawlproject.configuration import read_options
from crawlproject.core.address_policy import ADDRESS, AddressPolicy
from crawlproject.core.responses import HEADS, SLOW, Flood, HostTimeouts
from crawlproject.http.connection_failures import ExchangeLost, tls_failure
from crawlproject.http.connector import FULL, AddressRefused, GuardedConnector, Sockets, TableFull, raise_limit
from crawlproject.http.guarded_protocol import GuardedResponse, IdleConnectionLost
from crawlproject.http.name_resolver import names_of

READ_AHEAD = 2**18  # bytes of a body that are buffered: most pages fit

_OURS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # headers that aiohttp must not add to requests


class HttpDownloadHandler(AiohttpDownloadHandler):
    """``DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlproject.http.http_handler.HttpDownloadHandler")``.

    Differences from Scrapy's handler: a URL is sent exactly as the request spells it, headers may be long, an idle
    connection lives longer than most hosts rest, addresses are checked, responses have limits, and a host that was fast
    may be silent for a short time only. No request is repeated: an exchange that is lost with a kept connection, or while the
    process was suspended or busy, raises ``ExchangeLost``. An address that is not permitted, and a flood, raise ``Refused``.
    Proxies, and hosts that are ``AddressPolicy.is_named``, are chosen by the operator: their addresses are not checked.
    """

    experimental: ClassVar[bool] = False
    lazy: bool = True  # `scrapy shell` makes its engine before the event loop runs

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._safety: AddressPolicy | None = None  # that of the spider, which does not exist yet
        self._unused = self._session  # of the parent class; it has opened no connection
        options = read_options(crawler.settings)
        self._max_header_bytes, self._max_headers = options.crawl_max_header_bytes, options.crawl_max_headers
        self._timeouts = HostTimeouts(options.crawl_min_timeout)
        in_use = self._pool_size_total * (1 + SLOW_BESIDE)  # slow fetches run in addition to the others
        self._sockets = Sockets(raise_limit(), in_use)
        self._resolver = names_of(crawler)
        self._session = self._make_session()  # for proxies, and for hosts that the operator named
        self._guarded: aiohttp.ClientSession | None = None
        self._suspensions = heartbeat.suspensions

    def _make_session(self, safety: AddressPolicy | None = None) -> aiohttp.ClientSession:
        """Make a session that connects to the addresses that ``safety`` permits (None: to all)."""
        session = aiohttp.ClientSession(
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
        session._retry_connection = False  # otherwise requests on reset connections are repeated at once
        return session

    def _session_for(self, url: URL, proxy: str | None) -> aiohttp.ClientSession:
        if self._guarded is None or self._safety is None:
            self._safety = safety_of(self.crawler)
            self._guarded = self._make_session(self._safety)
        if proxy or self._safety.is_named(url.host or "", url.port or 0):
            return self._session
        return self._guarded

    @staticmethod
    def _extract_headers(response: aiohttp.ClientResponse) -> Headers:
        headers = Headers()  # from bytes: Scrapy would encode what aiohttp has decoded (docs/upstream/0005)
        for name, value in response.raw_headers:
            dict.setdefault(headers, name.title(), []).append(value)
        return headers

    @staticmethod
    async def _iter_body_chunks(response: _ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except (TimeoutError, aiohttp.ClientError) as broken:
            if lacking := memory_error(broken):
                raise lacking from broken
            guarded = cast(GuardedResponse, response)
            late = guarded.late() if isinstance(broken, TimeoutError) else None
            raise _excuse(broken, guarded.began) or late or broken from broken

    async def close(self) -> None:
        for opened in (self._unused, self._session, self._guarded, self._resolver):
            if opened is not None:
                await opened.close()

    async def download_request(self, request: Request) -> Response:
        began = time()
        if self._suspensions != heartbeat.suspensions:
            self._suspensions = heartbeat.suspensions
            self._sockets.close_kept()
        while True:
            try:
                return await super().download_request(request)
            except TableFull as full:
                count(self.crawler, "downloader/waited_for_open_files")
                await self._sockets.wait_for_room()
                if time() - began > request.meta.get("download_timeout", self._DEFAULT_CONNECT_TIMEOUT):
                    raise DownloadTimeoutError(f"Getting {request.url} waited too long for a socket.") from full

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[_ClientResponse]:
        url = URL(request.url, encoded=True)
        proxy = self._extract_proxy_url_with_creds(request)
        host, began = url.authority, time()
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
                cast(GuardedResponse, response).began = began
                yield cast(_ClientResponse, response)
            self._timeouts.answered(host, time() - began - heartbeat.lost(began, time()))
        except (Flood, TimeoutError, aiohttp.ClientError, ExchangeLost) as failure:
            meaning = _meaning(failure, request, timeout, began)
            if isinstance(meaning, ExchangeLost):
                count(self.crawler, f"downloader/lost/{meaning.reason}")
            elif isinstance(failure, Flood):
                count(self.crawler, f"{failure.reason}/refused")
            elif isinstance(failure, TimeoutError):
                self._timeouts.failed(host, time() - began)
            raise meaning from failure


def _meaning(failure: Exception, request: Request, timeout: float, began: float) -> Exception:
    """The exception of Scrapy or of the crawl for the failure of an exchange that began at ``began``."""
    if isinstance(failure, aiohttp.ClientConnectorError) and isinstance(failure.os_error, AddressRefused):
        return Refused(ADDRESS, request.url)
    if isinstance(failure, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return UnsupportedURLSchemeError(str(failure))
    if lost := _excuse(failure, began):
        return lost
    if isinstance(failure, Flood):
        return Refused(failure.reason, request.url)
    if isinstance(failure, TimeoutError):
        return DownloadTimeoutError(f"Getting {request.url} took longer than {timeout} seconds.")
    assert isinstance(failure, aiohttp.ClientError)
    if isinstance(failure, aiohttp.ClientConnectorError):
        return tls_failure(failure) or _connection_failure(failure)
    return tls_failure(failure) or DownloadFailedError(str(failure))


def _excuse(failure: Exception, began: float) -> ExchangeLost | None:
    """The failure as an ``ExchangeLost``, if it is not the fault of the host."""
    if isinstance(failure, ExchangeLost):
        return failure
    if isinstance(failure, IdleConnectionLost):
        return ExchangeLost("idle_connection")
    if isinstance(failure, Flood) and failure.reason != SLOW:
        return None
    reason = heartbeat.excuse(began, timed_out=isinstance(failure, Flood | TimeoutError))
    return ExchangeLost(reason) if reason else None


def _as_pairs(headers: Headers) -> list[tuple[str, str]]:
    """The headers of a request as sent, without those for the proxy, which are handled separately (``_extract_proxy``)."""
    return [
        (name.decode(), value.decode())
        for name, values in dict.items(headers)
        for value in values
        if name != b"Proxy-Authorization"
    ]


def _connection_failure(failed: aiohttp.ClientConnectorError) -> Exception:
    if failed.os_error.errno in FULL:
        return TableFull(*failed.os_error.args)
    if isinstance(failed, aiohttp.ClientConnectorDNSError):
        return CannotResolveHostError(str(failed))
    return DownloadConnectionRefusedError(str(failed))
