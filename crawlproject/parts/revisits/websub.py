"""Lets hubs say that feeds have changed (WebSub): serves their verifications and deliveries while a crawl runs."""

from __future__ import annotations

import logging
import sys
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.adapters.extensions.status_line import print_above
from crawlproject.adapters.running import count, crawl_of, frontier_closing, stop, wake
from crawlproject.configuration import read_options
from crawlproject.http.loopback import listen
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.part import RevisitPart
from crawlproject.parts.revisits.subscriptions import Subscriptions

if TYPE_CHECKING:
    import socket
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlproject.parts.revisits.delivery_server import DeliveryServer

logger = logging.getLogger(__name__)


class HubDeliveries:
    """``CRAWL_WEBSUB_CALLBACK``, with the topical spider. Raises ``BadSetting`` when nothing can listen on the port."""

    def __init__(self, crawler: Crawler, listening: socket.socket, subscriptions: Subscriptions) -> None:
        self._crawler = crawler
        self._subscriptions = subscriptions
        self._listening = listening
        self._server: DeliveryServer | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        options = (crawl.options if crawl else read_options(crawler.settings)).of(RevisitOptions)
        if not options.crawl_websub_callback:
            raise NotConfigured  # it is off
        if crawl is None:
            logger.warning("CRAWL_WEBSUB_CALLBACK: only crawls of the topical spider ask hubs to deliver")
        part = crawl.part(RevisitPart) if crawl is not None else None
        if part is None or part.revisits.subscriptions is None:
            raise NotConfigured  # a round is over before they do
        listening = listen(options.crawl_websub_host, options.crawl_websub_port, "CRAWL_WEBSUB_PORT")
        extension = cls(crawler, listening, part.revisits.subscriptions)
        crawler.signals.connect(extension.begin, signals.spider_opened)
        crawler.signals.connect(extension.close, frontier_closing)
        crawler.signals.connect(extension.end, signals.spider_closed)
        return extension

    async def begin(self) -> None:
        """Serve."""
        from crawlproject.parts.revisits.delivery_server import DeliveryServer  # aiohttp takes a while to import

        failed = partial(stop, self._crawler)
        self._server = DeliveryServer(self._subscriptions, self._listening, self._count, failed)
        await self._server.begin()
        print_above(f"Hubs are heard at {self._server.url}/", sys.stderr)

    def close(self) -> None:
        """The frontier is about to be closed: nothing that comes counts any more."""
        if self._server is not None:
            self._server.is_open = False

    async def end(self) -> None:
        if self._server is not None:
            await self._server.end()

    def _count(self, name: str) -> None:
        """Count what came; the crawl may have something to do."""
        count(self._crawler, f"websub/{name}")
        wake(self._crawler)
