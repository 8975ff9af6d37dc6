"""Frontiers of other projects, in the form that ``frontier_load`` measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawlproject.records import CrawlUrl


class ScrapyStore:
    """Scrapy's scheduler with ``JOBDIR``: a file for each priority, and the requests seen.

    It uses ``ScrapyPriorityQueue``, because the default queue takes 100 requests a second when they are of 200,000 hosts.
    Scores become one of ten priorities, because each priority has its own folder.
    """

    def __init__(self, folder: Path) -> None:
        from scrapy import Request
        from scrapy.core.scheduler import Scheduler
        from scrapy.utils.test import get_crawler

        self._folder = folder
        self._request = Request
        settings = {
            "JOBDIR": str(folder),
            "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
            "LOG_ENABLED": False,
        }
        crawler = get_crawler(settings_dict=settings)
        crawler.spider = crawler._create_spider("load")
        self._scheduler = Scheduler.from_crawler(crawler)
        self._scheduler.open(crawler.spider)

    def put(self, page: Sequence[CrawlUrl]) -> None:
        for url in page:
            self._scheduler.enqueue_request(self._request(url.url, priority=int(10 * url.score)))

    def take(self, now: float) -> list[str]:
        request = self._scheduler.next_request()
        return [request.url] if request else []

    def done(self, urls: Sequence[str], now: float, refetch_at: float | None) -> None:
        """Not supported: a URL that was taken is gone."""

    def rescore(self, scores: Sequence[tuple[str, float]]) -> None:
        """Not supported."""

    def disk_bytes(self) -> int:
        return sum(path.stat().st_blocks * 512 for path in self._folder.rglob("*") if path.is_file())


class ScrapyRedisStore:
    """scrapy-redis: its priority queue and its duplicates filter, one round trip each for every request."""

    def __init__(self, url: str) -> None:
        from redis import Redis
        from scrapy import Request, Spider
        from scrapy_redis.dupefilter import RFPDupeFilter
        from scrapy_redis.queue import PriorityQueue

        self._request = Request
        self._server = Redis.from_url(url)
        self._queue = PriorityQueue(self._server, Spider("load"), "load:requests")
        self._seen = RFPDupeFilter(self._server, "load:dupefilter")
        self._memory = _used_memory(self._server)

    def put(self, page: Sequence[CrawlUrl]) -> None:
        for url in page:
            request = self._request(url.url, priority=int(1e6 * url.score))
            if not self._seen.request_seen(request):
                self._queue.push(request)

    def take(self, now: float) -> list[str]:
        request = self._queue.pop()
        return [request.url] if request else []

    def done(self, urls: Sequence[str], now: float, refetch_at: float | None) -> None:
        """Not supported: a URL that was taken is gone."""

    def rescore(self, scores: Sequence[tuple[str, float]]) -> None:
        """Not supported."""

    def disk_bytes(self) -> int:
        """Bytes in the server's memory."""
        return _used_memory(self._server) - self._memory


def _used_memory(server: Any) -> int:
    return int(server.info("memory")["used_memory"])
