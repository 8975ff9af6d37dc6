"""The links go to the frontier, and the page's lease ends."""

from __future__ import annotations

from scrapy.exceptions import DropItem

from crawlproject.adapters.feeds import PageItem
from crawlproject.core.crawl import Crawl

from .base import PagePipeline


class FrontierPipeline(PagePipeline):
    """The ordering observes the page and scores its links; the frontier takes them in one atomic step.

    A page that is not stored (it asks not to be indexed, or needs a browser) ends here: feed exports and pipelines behind this
    one do not see it.
    """

    def step(self, item: PageItem, crawl: Crawl) -> None:
        crawl.steps_for(item.lease).offer(item.page, item.fetch)
        if not item.page.is_kept:
            raise DropItem(f"not stored: {item.page.url}", log_level="DEBUG")
