"""What is the document, besides what it says?"""

from __future__ import annotations

from scrapy.exceptions import DropItem

from crawlproject.components.items import PageItem
from crawlproject.crawl.crawl import Crawl
from pipelines.base import PagePipeline


class ExaminePipeline(PagePipeline):
    """Walls, soft 404s and their kin end here; duplicates and spam are marked as such and go on."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.page = crawl.examine(item.page, item.fetch)
        if item.page.page_type:
            crawl.discard_page(item.lease, item.page, item.fetch)
            raise DropItem(f"{item.page.page_type}: {item.page.url}", log_level="DEBUG")
