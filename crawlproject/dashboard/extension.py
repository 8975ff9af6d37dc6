"""The dashboard of a running crawl: ``-s DASHBOARD=1`` serves it on loopback.

It costs the crawl nothing while nobody looks at it: numbers are read when the browser asks.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.adapters.extensions.status_line import print_above
from crawlproject.adapters.running import crawl_of
from crawlproject.dashboard import address_file
from crawlproject.errors import StorageFailed
from crawlproject.options import read_options

if TYPE_CHECKING:
    import socket
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlproject.dashboard.server import Dashboard

logger = logging.getLogger(__name__)


class DashboardServer:
    """``EXTENSIONS = {"crawlproject.dashboard.extension.DashboardServer": 5}``, with the topical spider.

    Raises ``BadSetting`` when nothing can listen on the port.
    """

    def __init__(self, crawler: Crawler, listening: socket.socket, host: str) -> None:
        self._crawler = crawler
        self._listening = listening
        self._host = host
        self._dashboard: Dashboard | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        options = read_options({name: settings[name] for name in settings if name.startswith("DASHBOARD")})
        if not options.dashboard:
            raise NotConfigured  # it is off
        from crawlproject.dashboard.server import listen  # aiohttp takes a while to import

        listening = listen(options.dashboard_host, options.dashboard_port)
        extension = cls(crawler, listening, options.dashboard_host)
        crawler.signals.connect(extension.begin, signals.spider_opened)
        crawler.signals.connect(extension.end, signals.spider_closed)
        return extension

    async def begin(self) -> None:
        """Start to serve, and print the address."""
        from crawlproject.dashboard.own_crawl import OwnCrawl
        from crawlproject.dashboard.running_crawl import RunningCrawl
        from crawlproject.dashboard.server import Dashboard

        crawl = crawl_of(self._crawler)
        if crawl is None:
            self._listening.close()
            logger.warning("DASHBOARD: only crawls of the topical spider have a dashboard")
            return
        live = RunningCrawl(self._crawler)
        self._dashboard = Dashboard(OwnCrawl(live, crawl.folder.path), self._listening, self._host, live.document)
        await self._dashboard.begin()
        address = address_file.AddressFile(self._dashboard.url, self._dashboard.token, os.getpid())
        try:
            address_file.write(crawl.folder.path, address)
        except StorageFailed as failure:  # no reason to stop a crawl
            logger.warning("%s", failure)
        print_above(f"Dashboard: {self._dashboard.url}/", sys.stderr)

    async def end(self) -> None:
        crawl = crawl_of(self._crawler)
        if crawl is not None:
            address_file.remove(crawl.folder.path)
        if self._dashboard is not None:
            await self._dashboard.end()
