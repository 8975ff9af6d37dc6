"""Ends the leases of items and callbacks that fail, with a recorded reason."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.pipelines import ItemPipelineManager

from crawlproject.adapters.feeds import PageItem
from crawlproject.adapters.request_json import lease_of
from crawlproject.adapters.running import Component, breaking, crawl_of, fetch_of, stop, stopped, stopping, time
from crawlproject.errors import FATAL

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


class WatchedPipelines(ItemPipelineManager):
    """``ITEM_PROCESSOR``: Scrapy's manager, which also tells ``Failures`` when pipelines return another item. No signal does."""

    async def process_item_async(self, item: Any) -> Any:
        returned = await super().process_item_async(item)
        if returned is not item and self.crawler is not None:
            failures = self.crawler.get_extension(Failures)
            if failures is not None:
                failures.item_replaced(item, returned)
        return returned


class Failures(Component):
    """Stops the crawl for a ``FATAL`` error. A page that a pipeline drops or fails on is recorded as an error, unless it is
    already in the history: then only the later pipelines do not get it.
    """

    _has_warned = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.get("SCHEDULER", "").endswith("FrontierScheduler"):
            raise NotConfigured
        extension = super().from_crawler(crawler)
        crawler.signals.connect(extension.item_error, signals.item_error)
        crawler.signals.connect(extension.item_dropped, signals.item_dropped)
        crawler.signals.connect(extension.spider_error, signals.spider_error)
        return extension

    def item_error(self, item: Any, failure: Failure) -> None:
        if isinstance(failure.value, FATAL):
            stop(self.crawler, failure.value)
        else:
            self._end(item, type(failure.value).__name__)

    def item_dropped(self, item: Any, exception: BaseException) -> None:
        self._end(item, f"dropped: {exception}"[:200])

    def item_replaced(self, item: Any, returned: Any) -> None:
        """The pipelines returned something else in place of an item."""
        crawl = crawl_of(self.crawler)
        if crawl is None or not isinstance(item, PageItem) or not crawl.frontier.leased(item.lease.key):
            return
        if not self._has_warned:
            logger.warning(
                "A pipeline returned %s instead of its item, but `process_item` must return the item. If the pipeline has a "
                "number below 400, the page is lost; above 400, the page and its links are kept.",
                "nothing" if returned is None else f"a {type(returned).__name__}",
            )
        self._has_warned = True
        self._end(item, "lost")

    def spider_error(self, failure: Failure, response: Response | None) -> None:
        crawl = crawl_of(self.crawler)
        if isinstance(failure.value, FATAL):
            stop(self.crawler, failure.value)
        elif crawl is not None and response is not None and response.request is not None:
            lease = lease_of(crawl, response.request)
            if lease is not None and not stopped(self.crawler):
                with stopping(self.crawler):
                    crawl.fail(lease, type(failure.value).__name__, fetch_of(response.request, response.status, time()))

    def _end(self, item: Any, error: str) -> None:
        """End the lease of a page that was lost in the pipelines, unless the crawl stops: then it is fetched again."""
        crawl = crawl_of(self.crawler)
        if crawl is None or not isinstance(item, PageItem) or stopped(self.crawler):
            return
        if crawl.frontier.leased(item.lease.key):
            with stopping(self.crawler):
                if item.is_committed:  # only pipelines of the operator miss the page: its links are still followed
                    with breaking():
                        crawl.steps_for(item.lease).offer(item.page, item.fetch)
                else:
                    crawl.fail(item.lease, error, item.fetch)
