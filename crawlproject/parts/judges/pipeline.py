"""Awaits the answer of a judge about each fetched page, before anything is decided about the page."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.asyncio import is_asyncio_available

from crawlproject.adapters.feeds import PageItem
from crawlproject.adapters.running import Component, crawl_of, stopped
from crawlproject.configuration import read_options
from crawlproject.pages.page_types import with_page_type
from crawlproject.pages.text.relevance import BY_KEYWORDS
from crawlproject.parts.judges.part import Judges

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class JudgePipeline(Component):
    """Holds the lease of a page until the answer or a timeout; other hosts are fetched from meanwhile.

    It runs before the pipelines that examine and store, which must not be interrupted: what is learned from one page has to be
    known for the next.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if read_options(crawler.settings).topic_relevance in BY_KEYWORDS or not is_asyncio_available():
            raise NotConfigured

    async def process_item(self, item: Any) -> Any:
        crawl = crawl_of(self.crawler)
        part = crawl.part(Judges) if crawl is not None else None
        if part is None or not part.judge.appointed.asks or not isinstance(item, PageItem):
            return item
        page, judge = item.page, part.judge
        judge.tell(page.url, None)
        if page.needs_browser or with_page_type(page).page_type:
            return item
        question = judge.question(page, judge.first(page))
        if question is None:
            return item
        try:
            async with asyncio.timeout(judge.seconds):
                answer: float = await asyncio.wrap_future(question)
            judge.tell(page.url, judge.answered(answer))
        except Exception as failure:  # whatever it is, the crawl continues
            judge.failed(failure)
        if stopped(self.crawler):
            raise DropItem("the crawl stops; the page is fetched again after a resume", log_level="DEBUG")
        return item
