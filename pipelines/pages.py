"""The page file, named by the MD5 of the URL."""

from __future__ import annotations

from crawlproject.adapters.feeds import PageItem
from crawlproject.core.crawl import Crawl

from .base import PagePipeline


class PagesPipeline(PagePipeline):
    """Stores the body and fills the fields that feed exports see (paper 000 section 2.2)."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.publish(crawl.steps_for(item.lease).visit(item.lease, item.page, item.body, item.fetch))
