"""Adds the seeds that are pushed to Redis while the crawl runs."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, NotConfigured
from scrapy.utils.asyncio import run_in_thread

from crawlproject.adapters.running import crawl_of, stopped, stopping, time
from crawlproject.configuration import read_options
from crawlproject.frontier.factory import server_of
from crawlproject.parts.workers.options import WorkerOptions

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawlproject.frontier.redis.pushed_seeds import Pushed
    from crawlproject.records import CrawlUrl

logger = logging.getLogger(__name__)

_LOOK = 1.0  # seconds between two polls


class PushedSeedsFeed:
    """Polls ``REDIS_START_URLS_KEY`` once a second. With ``FRONTIER = "redis"`` and the topical spider only.

    Seeds pass the scope and trap rules like those of the topic. While nothing is left to crawl, workers wait
    ``MAX_IDLE_TIME_BEFORE_CLOSE`` seconds for more of them before they end.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.options = read_options(crawler.settings).of(WorkerOptions)
        if self.options.frontier != "redis":
            raise NotConfigured
        self.crawler = crawler
        self.patience = self.options.max_idle_time_before_close
        self._idle_since: float | None = None
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_idle, signals.spider_idle)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self, spider: Spider) -> None:
        from crawlproject.frontier.redis.pushed_seeds import PushedSeeds

        crawl = crawl_of(self.crawler)
        if crawl is None:
            return
        options = self.options
        names = (spider.name, crawl.topic.name)
        self.seeds = PushedSeeds(server_of(options), [options.redis_start_urls_key % {"name": name} for name in names])
        self._task = asyncio.ensure_future(self._feed())

    def spider_idle(self) -> None:
        crawl = crawl_of(self.crawler)
        self._idle_since = monotonic() if self._idle_since is None else self._idle_since
        if self._task and crawl and not crawl.end_reason(time()) and monotonic() - self._idle_since < self.patience:
            raise DontCloseSpider

    def spider_closed(self) -> None:
        if self._task:
            self._task.cancel()

    async def _feed(self) -> None:
        from redis.exceptions import RedisError

        crawl = crawl_of(self.crawler)
        assert crawl is not None
        while not stopped(self.crawler):
            try:
                entries = await run_in_thread(self.seeds.look)
                if entries:
                    self._idle_since = None
                    seeds = [seed for entry in entries if (seed := self._seed_of(entry))]
                    with stopping(self.crawler):
                        crawl.frontier.put_many(seeds)
                    if stopped(self.crawler):
                        return  # the next run reads them again
                    await run_in_thread(self.seeds.remove, entries)
                    logger.info("%d seeds were pushed, %d of them are allowed", len(entries), len(seeds))
                    continue
            except RedisError as error:  # the frontier reports it; seeds that were not removed are read again
                logger.debug("pushed seeds: %s", error)
            await asyncio.sleep(_LOOK)

    def _seed_of(self, entry: Pushed) -> CrawlUrl | None:
        from crawlproject.frontier.redis.pushed_seeds import read_seed

        crawl = crawl_of(self.crawler)
        assert crawl is not None
        try:
            url, score = read_seed(entry.raw, self.options.redis_encoding)
        except ValueError as wrong:
            logger.error("%s: not a seed: %.200r (%s)", entry.key, entry.raw, wrong)
            return None
        return crawl.admission.seed(url, score)
