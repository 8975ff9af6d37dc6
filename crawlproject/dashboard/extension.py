"""The dashboard of a running crawl: ``-s DASHBOARD=1`` serves it on loopback.

It costs the crawl nothing while no browser shows it: data are read only when a browser requests them.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.adapters.extensions.progress import print_above
from crawlproject.adapters.running import crawl_of
from crawlproject.adapters.seed_search import SeedsFound
from crawlproject.configuration import program, read_options
from crawlproject.dashboard import address_file
from crawlproject.dashboard.crawl_json import FolderWatch
from crawlproject.dashboard.running_crawl import RunningCrawl
from crawlproject.errors import BadInput, StorageFailed

if TYPE_CHECKING:
    import socket
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlproject.dashboard.server import Dashboard

logger = logging.getLogger(__name__)

_READING_ON = 500  # lines of a long history read at once, which takes a few milliseconds in the event loop of the crawl


class DashboardServer:
    """``EXTENSIONS = {"crawlproject.dashboard.extension.DashboardServer": 5}``, with the topical spider.

    Raises ``BadSetting`` if the port cannot be used.
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
            raise NotConfigured
        from crawlproject.dashboard.server import listen  # aiohttp takes a while to import

        listening = listen(options.dashboard_host, options.dashboard_port)
        extension = cls(crawler, listening, options.dashboard_host)
        crawler.signals.connect(extension.begin, signals.spider_opened)
        crawler.signals.connect(extension.end, signals.spider_closed)
        return extension

    async def begin(self) -> None:
        """Start the server, write its address into the crawl folder, and print it."""
        from crawlproject.dashboard.running_crawl import RunningCrawl
        from crawlproject.dashboard.server import Dashboard

        crawl = crawl_of(self._crawler)
        if crawl is None:
            self._listening.close()
            logger.warning("DASHBOARD: only crawls of the topical spider have a dashboard")
            return
        live = RunningCrawl(self._crawler)
        own = OwnCrawl(live, crawl.folder.path)
        model = str(self._crawler.settings.get("SEARCH_MODEL") or "")
        self._dashboard = Dashboard(own, self._listening, self._host, live.document, search_model=model)
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


class OwnCrawl:
    """The crawl of this process, named after its folder. The folder is read in the event loop, a few lines at a time."""

    can_start = False

    def __init__(self, live: RunningCrawl, folder: Path) -> None:
        self._live = live
        self._folder = folder
        self._watched = FolderWatch(folder)

    @property
    def name(self) -> str:
        return self._folder.name

    def crawls(self) -> list[dict[str, Any]]:
        info = self._watched.info()
        return [{"name": self.name, "status": self._live.status, "topic": info.topic[:120], "ordering": info.ordering}]

    def folder(self, name: str) -> Path:
        if name != self.name:
            raise BadInput("crawl", f"this process crawls {self.name!r}, not {name[:80]!r}")
        return self._folder

    async def state(self, name: str) -> dict[str, Any]:
        self.folder(name)
        document = {
            "name": self.name,
            "folder": str(self._folder),
            **self._watched.document(_READING_ON),
            **self._live.document(),
        }
        self._watched.spell(document.get("family", ()))
        return document

    async def control(self, name: str, action: str) -> None:
        self.folder(name) if name else None
        try:
            self._live.control(action)
        except ValueError as wrong:
            raise BadInput("action", str(wrong)) from None

    async def seeds(self, query: str) -> SeedsFound:
        raise BadInput("request", f"this dashboard shows one crawl; start others with `{program} dashboard`")

    async def start(self, form: Any) -> tuple[list[str], SeedsFound | None]:
        return [], await self.seeds("")  # raises
