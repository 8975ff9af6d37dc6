"""What the pipelines share: they act on ``PageItem`` s of a topical crawl and let everything else pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from crawlproject.adapters.feeds import PageItem
from crawlproject.adapters.running import crawl_of, stopped, stopping

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl


class PagePipeline:
    """A step with a page: subclasses say which in ``step``."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        crawl = crawl_of(self.crawler)
        if crawl is not None and isinstance(item, PageItem):
            with stopping(self.crawler):
                self.step(item, crawl)
            if stopped(self.crawler):
                raise DropItem("the crawl stops; the page is fetched again after a resume", log_level="DEBUG")
        return item

    def step(self, item: PageItem, crawl: Crawl) -> None:
        raise NotImplementedError
