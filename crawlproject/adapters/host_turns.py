"""Visits of hosts for requests outside the frontier: requests of a page in the browser to other hosts, and the target of another
host's robots.txt redirect. As for all visits, a host gets one at a time, and rests in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from crawlproject.adapters.running import crawl_of, stopped, stopping, time
from crawlproject.frontier.factory import MARGIN
from crawlproject.urls.hosts import host_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

LOOK = 0.1  # seconds between two checks of a host that is being visited

_LOOK_UP = "topical_look_up"


def look_up_with(crawler: Crawler, look_up: Callable[[str], Awaitable[None]]) -> None:
    """Call ``look_up`` with a URL before the visit of its host: it tells the frontier the address."""
    setattr(crawler, _LOOK_UP, look_up)


class HostTurns:
    """Visits of hosts in the crawl of ``crawler``; usable while it has one."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    async def begin(self, url: str, patience: float, beside: str = "") -> bool:
        """Wait until the host of ``url`` may be visited, and begin the visit; False if that would take more than ``patience``
        seconds.

        If the host is another name of the server of ``beside``, which is being visited, the visit begins at once.
        """
        host, deadline = host_of(url), time() + patience
        if (look_up := getattr(self._crawler, _LOOK_UP, None)) is not None:
            await look_up(url)
        while not stopped(self._crawler):
            now = time()
            opens = await self._visit(host, now, beside)
            if opens <= now:
                return True
            wait = min(opens - now, LOOK) if opens == float("inf") else opens - now
            if now + wait > deadline:
                return False
            await asyncio.sleep(wait)
        return False

    def end(self, host: str, seconds: float, asked_rest: float = 0.0) -> None:
        """The visit has ended, and took ``seconds``. The host asks to be left alone for ``asked_rest`` seconds."""
        crawl = crawl_of(self._crawler)
        if crawl is not None and not stopped(self._crawler):
            with stopping(self._crawler):
                crawl.frontier.visited(host, time() + asked_rest, seconds)

    async def rest(self, seconds: float) -> None:
        """Rest for as long as a host does after a visit of ``seconds``, during the visit of one of its pages."""
        crawl = crawl_of(self._crawler)
        if crawl is not None:
            options = crawl.options
            pause = max(options.politeness_min_delay, options.politeness_factor * seconds)
            await asyncio.sleep(pause + MARGIN if pause else 0.0)

    async def _visit(self, host: str, now: float, beside: str) -> float:
        crawl = crawl_of(self._crawler)
        assert crawl is not None, "its pages are being fetched"
        if crawl.peers.has_server:  # the call waits for the server
            return await asyncio.to_thread(crawl.frontier.visit, host, now, beside)
        return crawl.frontier.visit(host, now, beside)
