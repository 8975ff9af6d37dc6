"""The download handler of ``VIRTUAL_WEB``: all of Scrapy without a network.

It replaces Scrapy's own HTTP handler, so every middleware, signal and retry works as on the network: for a timeout or a
refused connection in the web it raises the same exceptions as the real handler, ``headers_received`` and
``bytes_received`` are sent and may stop the download, ``DOWNLOAD_MAXSIZE`` and ``download_timeout`` apply.

    DOWNLOAD_HANDLERS = dict.fromkeys(
        ("http", "https"), "crawlproject.http.virtual_web_handler.VirtualWebDownloadHandler"
    )
"""

from __future__ import annotations

import asyncio
import logging
from ipaddress import IPv4Address
from time import monotonic
from typing import Self

from scrapy import Request, signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    NotConfigured,
    StopDownload,
)
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.asyncio import is_asyncio_available
from twisted.python.failure import Failure

from crawlproject.adapters.subcommand import cache_dir
from crawlproject.configuration import read_options
from crawlproject.records import Reply
from crawlproject.webs.base import Web, answer
from crawlproject.webs.open import open_web

logger = logging.getLogger(__name__)

CHUNK = 2**16  # bytes of a body between two bytes_received signals, as a socket returns at best
_LOOPBACK = IPv4Address("127.0.0.1")


class VirtualWebDownloadHandler(BaseDownloadHandler):
    """Answers requests from the web named by ``VIRTUAL_WEB``.

    A fetch takes ``VIRTUAL_WEB_LATENCY`` times ``Reply.seconds``; with 0, the default, it is answered at once. Needs
    Scrapy's asyncio support (its default).
    """

    def __init__(self, crawler: Crawler, web: Web, latency: float = 0.0) -> None:
        if not is_asyncio_available():
            raise NotConfigured("VIRTUAL_WEB needs asyncio: set TWISTED_REACTOR as in crawlproject/settings.py")
        super().__init__(crawler)
        self._web = web
        self._latency = latency
        self._maxsize = crawler.settings.getint("DOWNLOAD_MAXSIZE")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        options = read_options(crawler.settings)
        if not options.virtual_web:
            raise NotConfigured("VIRTUAL_WEB is empty")
        web = open_web(options.virtual_web, cache_dir=cache_dir())
        for warning in web.warnings:
            logger.warning("%s: %s", options.virtual_web, warning)
        return cls(crawler, web, options.virtual_web_latency)

    async def download_request(self, request: Request) -> Response:
        started = monotonic()
        reply = answer(self._web, request.method, request.url, _text(request.headers), request.body)
        await self._wait(request, reply)
        request.meta["download_latency"] = monotonic() - started
        if reply.error == "timeout":
            raise DownloadTimeoutError(f"Getting {request.url} timed out in the virtual web.")
        if reply.error:
            raise DownloadConnectionRefusedError(f"{request.url}: {reply.error} in the virtual web.")
        return self._received(request, reply)

    async def close(self) -> None:
        self._web.close()

    async def _wait(self, request: Request, reply: Reply) -> None:
        seconds = reply.seconds * self._latency
        if not seconds:
            return
        timeout = request.meta.get("download_timeout") or seconds
        await asyncio.sleep(min(seconds, timeout))
        if seconds > timeout:
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {timeout} seconds.")

    def _received(self, request: Request, reply: Reply) -> Response:
        """Send the signals of reception, which may cut the response short, and return the response."""
        headers = Headers(dict(reply.headers))
        size = len(reply.body)
        if stop := self._stopped(signals.headers_received, request, headers=headers, body_length=size):
            return _response(request, reply, headers, b"", stop)
        maxsize = request.meta.get("download_maxsize", self._maxsize)
        if maxsize and size > maxsize:
            raise DownloadCancelledError(f"{request.url} has {size} bytes, more than the maximum of {maxsize}.")
        for start in range(0, size, CHUNK):
            chunk = reply.body[start : start + CHUNK]
            if stop := self._stopped(signals.bytes_received, request, data=chunk):
                return _response(request, reply, headers, reply.body[: start + len(chunk)], stop)
        return _response(request, reply, headers, reply.body)

    def _stopped(self, signal: object, request: Request, **facts: object) -> StopDownload | None:
        """The ``StopDownload`` that a receiver of ``signal`` raised, if any."""
        answers = self.crawler.signals.send_catch_log(signal, request=request, spider=self.crawler.spider, **facts)
        for _, result in answers:
            if isinstance(result, Failure) and isinstance(result.value, StopDownload):
                return result.value
        return None


def _text(headers: Headers) -> dict[str, str]:
    return {str(name): str(value) for name, value in headers.to_unicode_dict().items()}


def _response(
    request: Request, reply: Reply, headers: Headers, body: bytes, stop: StopDownload | None = None
) -> Response:
    """Make a response of the right class; raise ``StopDownload(fail=True)`` with it, as Scrapy's handlers do."""
    kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
    flags = ["download_stopped"] if stop else None
    response = kind(request.url, reply.status, headers, body, flags=flags, ip_address=_LOOPBACK, protocol="HTTP/1.1")
    if stop and stop.fail:
        stop.response = response
        raise stop
    return response
