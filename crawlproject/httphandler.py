"""Fetching over HTTP: Scrapy's aiohttp handler, set up for a crawl of many hosts.

It costs less than the one on Twisted. All that Scrapy promises of a download handler holds: proxies, TLS settings, timeouts,
``headers_received`` and ``bytes_received`` with ``StopDownload``, ``DOWNLOAD_MAXSIZE``, ``DOWNLOAD_FAIL_ON_DATALOSS``, the
exceptions of ``scrapy.exceptions``. The module of the class that is built on is private to Scrapy:
``tests/scrapy/test_http_handler.py`` tries what is used of it.
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
from scrapy.http import Headers
from yarl import URL

MAX_HEADER = 2**16  # bytes of a status line or a header: some sites send long policies
READ_AHEAD = 2**18  # bytes of a body that wait to be read: most pages are one piece
KEEP_ALIVE = 15.0  # seconds that an idle connection stays open: longer than most hosts rest
REMEMBER_ADDRESSES = 300  # seconds

_OURS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # headers that requests have or have not


class HttpDownloadHandler(AiohttpDownloadHandler):
    """``DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlproject.httphandler.HttpDownloadHandler")``.

    Where it differs from Scrapy's: a URL is sent letter by letter as the request spells it, headers may be long, and an idle
    connection lives as long as most rests of a host.
    """

    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._unused = self._session  # of the parent; it has opened no connection
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                local_addr=self._bind_address,
                limit=self._pool_size_total,
                limit_per_host=self._pool_size_per_host,
                keepalive_timeout=KEEP_ALIVE,
                ttl_dns_cache=REMEMBER_ADDRESSES,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=_ClientResponse,
            skip_auto_headers=_OURS,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            read_bufsize=READ_AHEAD,
        )

    @staticmethod
    def _extract_headers(response: aiohttp.ClientResponse) -> Headers:
        headers = Headers()
        for name, value in response.raw_headers:
            dict.setdefault(headers, name.title(), []).append(value)
        return headers

    async def close(self) -> None:
        await self._unused.close()
        await self._session.close()

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[_ClientResponse]:
        try:
            async with self._session.request(
                request.method,
                URL(request.url, encoded=True),
                data=request.body or None,
                headers=_as_pairs(request.headers),
                timeout=aiohttp.ClientTimeout(total=timeout),
                ssl=self._ssl_context,
                allow_redirects=False,
                proxy=self._extract_proxy_url_with_creds(request),
            ) as response:
                yield cast(_ClientResponse, response)
        except TimeoutError as late:
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {timeout} seconds.") from late
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as wrong:
            raise UnsupportedURLSchemeError(str(wrong)) from wrong
        except aiohttp.ClientConnectorDNSError as unknown:
            raise CannotResolveHostError(str(unknown)) from unknown
        except aiohttp.ClientConnectorError as refused:
            raise DownloadConnectionRefusedError(str(refused)) from refused
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
