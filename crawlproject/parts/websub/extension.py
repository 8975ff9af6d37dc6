"""Lets hubs report that feeds have changed (WebSub): answers their verifications and deliveries while a crawl runs.

Strangers may find the port. No delivery is kept: only its signature is computed, piece by piece.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web
from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.adapters.extensions.progress import print_above
from crawlproject.adapters.running import count, crawl_of, frontier_closing, stop, time, wake
from crawlproject.configuration import read_options
from crawlproject.errors import StorageFailed
from crawlproject.http.loopback import ListeningServer, answer, listen
from crawlproject.parts.websub.options import WebsubOptions
from crawlproject.parts.websub.part import WebsubPart
from crawlproject.parts.websub.subscriptions import Subscriptions

if TYPE_CHECKING:
    import socket
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
# Errors in their requests would fill the log.
_of_strangers = logging.getLogger(f"{__name__}.strangers")
_of_strangers.setLevel(logging.CRITICAL)
MOST_BODY = 4 * 1024 * 1024  # bytes of a delivery
MOST_CHALLENGE = 4_096  # characters
CONNECTIONS = 100  # at the same time; further ones are closed at once
LONGEST = 30.0  # seconds that a connection lasts
SIGNATURE = "X-Hub-Signature"


class HubDeliveries:
    """Runs with ``CRAWL_WEBSUB_CALLBACK`` and the topical spider. Raises ``BadSetting`` when the port is not available."""

    def __init__(self, crawler: Crawler, listening: socket.socket, subscriptions: Subscriptions) -> None:
        self._crawler = crawler
        self._subscriptions = subscriptions
        self._listening = listening
        self._server: DeliveryServer | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        options = (crawl.options if crawl else read_options(crawler.settings)).of(WebsubOptions)
        if not options.crawl_websub_callback:
            raise NotConfigured  # it is off
        if crawl is None:
            logger.warning("CRAWL_WEBSUB_CALLBACK: only crawls of the topical spider ask hubs to deliver")
        part = crawl.part(WebsubPart) if crawl is not None else None
        if part is None:
            raise NotConfigured  # a round is over before hubs deliver
        listening = listen(options.crawl_websub_host, options.crawl_websub_port, "CRAWL_WEBSUB_PORT")
        extension = cls(crawler, listening, part.subscriptions)
        crawler.signals.connect(extension.begin, signals.spider_opened)
        crawler.signals.connect(extension.close, frontier_closing)
        crawler.signals.connect(extension.end, signals.spider_closed)
        return extension

    async def begin(self) -> None:
        failed = partial(stop, self._crawler)
        self._server = DeliveryServer(self._subscriptions, self._listening, self._count, failed)
        await self._server.begin()
        print_above(f"Hubs are heard at {self._server.url}/", sys.stderr)

    def close(self) -> None:
        """The frontier is about to be closed: requests that come now do not count."""
        if self._server is not None:
            self._server.is_open = False

    async def end(self) -> None:
        if self._server is not None:
            await self._server.end()

    def _count(self, name: str) -> None:
        """Count a request, and wake the crawl, which may have something to do."""
        count(self._crawler, f"websub/{name}")
        wake(self._crawler)


class _BriefConnections(web.Server):
    """Closes connections that last too long, whatever they do, and those beyond ``CONNECTIONS``."""

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.Response]], longest: float) -> None:
        super().__init__(handler, access_log=None, logger=_of_strangers, keepalive_timeout=0, lingering_time=0)
        self._longest = longest

    def __call__(self) -> web.RequestHandler:
        connection = super().__call__()
        rest = self._longest if len(self.connections) < CONNECTIONS else 0.0
        asyncio.get_running_loop().call_later(rest, connection.force_close)
        return connection


class DeliveryServer(ListeningServer):
    """Answers for ``subscriptions``, each at the last part of its path, so that a proxy may serve it under any other path.

    ``tell`` is called with the name of each event, ``failed`` when an event could not be written to disk. No connection lasts
    longer than ``longest`` seconds.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        listening: socket.socket,
        tell: Callable[[str], object],
        failed: Callable[[StorageFailed], object],
        longest: float = LONGEST,
    ) -> None:
        super().__init__(listening)
        self._subscriptions = subscriptions
        self._tell = tell
        self._failed = failed
        self.is_open = True  # False: the crawl ends
        self._longest = longest

    def _server(self) -> web.Server:
        return _BriefConnections(self._answer, self._longest)

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        path = request.path.rpartition("/")[2]
        try:
            if request.method == "GET":
                return self._verification(request, path)
            if request.method == "POST":
                return await self._delivery(request, path)
        except StorageFailed as failure:
            self._failed(failure)
            return _said("", 503)
        except (ConnectionError, web.RequestPayloadError):
            return _said("", 400)
        except Exception:
            logger.exception("A request of a hub failed")
            return _said("", 500)
        return _said("", 405)

    def _verification(self, request: web.BaseRequest, path: str) -> web.Response:
        query = {name: request.query[name] for name in request.query}
        asked = len(query.get("hub.challenge", "")) <= MOST_CHALLENGE
        challenge = self._subscriptions.challenge(path, query, time()) if asked and self.is_open else None
        if challenge is None:
            return _said("no such subscription", 404)
        self._tell(f"heard/{query['hub.mode']}")
        return _said(challenge, 200)

    async def _delivery(self, request: web.BaseRequest, path: str) -> web.Response:
        signed = self._subscriptions.signed(path, request.headers.get(SIGNATURE, ""))
        if signed is None:
            return _said("no such subscription", 404)
        size = 0
        async for piece in request.content.iter_any():
            size += len(piece)
            if size > MOST_BODY:
                self._tell("ignored")
                return _said("too long", 413)
            signed.add(piece)
        counts = self.is_open and self._subscriptions.delivered(path, signed, time())
        self._tell("delivered" if counts else "ignored")
        return _said("", 202)  # ignored deliveries, too: a forger learns nothing


def _said(text: str, status: int) -> web.Response:
    return answer(text.encode(), "text/plain; charset=utf-8", status=status)
