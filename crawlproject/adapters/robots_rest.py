"""``Crawl-delay`` for crawls that read robots.txt with Scrapy's own middleware, which does not obey it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import is_asyncio_available

from crawlproject.adapters.meta import LEASE, robots_agent
from crawlproject.frontier.host_queue import queue_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawlproject.adapters.leases import Leases
    from crawlproject.options import Options


class RobotsRest:
    """Passes the ``Crawl-delay`` to the frontier, and makes the page wait for the rest after its robots.txt was fetched."""

    def __init__(self, crawler: Crawler, leases: Leases, options: Options) -> None:
        self._leases = leases
        self._agent = robots_agent(crawler.settings)
        self._longest = options.politeness_max_crawl_delay
        self._shortest = options.politeness_min_delay
        crawler.signals.connect(self._robots_parsed, signals.robots_parsed)

    async def _robots_parsed(self, robotparser: Any, request: Request) -> None:
        asked = min(robotparser.crawl_delay(self._agent) or 0.0, self._longest)
        lease = request.meta.get(LEASE)
        self._leases.frontier.crawl_delay(queue_of(lease if isinstance(lease, str) else request.url), asked)
        if self._leases.issued(str(lease), request) and is_asyncio_available():
            await asyncio.sleep(max(asked, self._shortest))
