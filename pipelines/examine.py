"""What a document is besides its text: a captcha page, a duplicate, spam."""

from __future__ import annotations

from scrapy.exceptions import DropItem

from crawlproject.adapters.feeds import PageItem
from crawlproject.core.crawl import Crawl

from .base import PagePipeline


class ExaminePipeline(PagePipeline):
    """Captcha pages, soft 404s and the like end here; duplicates and spam are marked and pass."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.page = crawl.steps_for(item.lease).examine(item.page, item.fetch)
        if item.page.page_type:
            crawl.fail(item.lease, item.page.page_type, item.fetch)
            raise DropItem(f"{item.page.page_type}: {item.page.url}", log_level="DEBUG")
