"""The steps of a fetched page, in the order of ``ITEM_PIPELINES``; other items pass unchanged."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import DropItem

from crawlproject.adapters.feeds import PageItem
from crawlproject.adapters.running import Component, breaking, crawl_of, stopped, stopping

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl


class PagePipeline(Component):
    """One step with a page, which subclasses define in ``step``.

    An unexpected exception costs the page. From the history line on (``is_committed``) it stops the crawl, because otherwise
    the links of the page would be lost for good.
    """

    is_committed: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.crawl = crawl_of(crawler)

    def process_item(self, item: Any) -> Any:
        if self.crawl is not None and isinstance(item, PageItem):
            with stopping(self.crawler), breaking() if self.is_committed else nullcontext():
                self.step(item, self.crawl)
            if stopped(self.crawler):
                raise DropItem("the crawl stops; the page is fetched again after a resume", log_level="DEBUG")
        return item

    def step(self, item: PageItem, crawl: Crawl) -> None:
        raise NotImplementedError


class ExaminePipeline(PagePipeline):
    """Examines the page: captcha pages, soft 404s and the like end here; duplicates and spam are marked and pass."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.page = crawl.steps_for(item.lease).examine(item.page, item.fetch)
        if item.page.page_type:
            crawl.fail(item.lease, item.page.page_type, item.fetch)
            raise DropItem(f"{item.page.page_type}: {item.page.url}", log_level="DEBUG")


class RelevancePipeline(PagePipeline):
    """Judges the page: the cosine of page and keywords (paper 000 eq. 1), or another judge of ``TOPIC_RELEVANCE``."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.page = crawl.steps_for(item.lease).score_page(item.page)


class LinksPipeline(PagePipeline):
    """Scores the context of each link: the cosine of its aggregation node's text and the keywords (paper 003 section 4.4)."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.page = crawl.steps_for(item.lease).score_links(item.page)


class PagesPipeline(PagePipeline):
    """Stores the body and fills the fields that feed exports see (paper 000 section 2.2)."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.publish(crawl.steps_for(item.lease).visit(item.lease, item.page, item.body, item.fetch))


class HistoryPipeline(PagePipeline):
    """Writes the links and the item for the index, then the history line that commits them: all or nothing."""

    is_committed = True

    def step(self, item: PageItem, crawl: Crawl) -> None:
        assert item.visit is not None, "the pages pipeline runs before the history pipeline"
        crawl.steps_for(item.lease).keep(item.page, item.visit)
        item.is_committed = True


class FrontierPipeline(PagePipeline):
    """Lets the ordering observe the page and score its links, which enter the frontier in one atomic step.

    A page that is not stored (it asks not to be indexed, or needs a browser) ends here: feed exports and later pipelines do not
    see it.
    """

    is_committed = True

    def step(self, item: PageItem, crawl: Crawl) -> None:
        crawl.steps_for(item.lease).offer(item.page, item.fetch)
        if not item.page.is_kept:
            raise DropItem(f"not stored: {item.page.url}", log_level="DEBUG")
