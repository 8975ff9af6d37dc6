"""The links go to the frontier, and the page's lease ends."""

from __future__ import annotations

from crawlproject.crawl import Crawl
from crawlproject.items import PageItem
from pipelines.base import PagePipeline


class FrontierPipeline(PagePipeline):
    """The ordering observes the page and scores its links; the frontier takes them in one atomic step."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        crawl.offer(item.page, item.fetch)
