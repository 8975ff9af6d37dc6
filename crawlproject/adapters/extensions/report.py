"""Writes ``report.html`` when the crawl ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.adapters.running import Component, crawl_of, stopping
from crawlproject.errors import BadInput
from crawlproject.reports.report import write_report

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ReportWriter(Component):
    """Writes the report after the scheduler has closed the crawl, when every file of the folder is complete."""

    written = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = super().from_crawler(crawler)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_closed(self, spider: Spider, reason: str) -> None:
        crawl = crawl_of(self.crawler)
        if crawl is not None:
            try:
                with stopping(self.crawler):
                    write_report(crawl.folder.path)
                    self.written = True
            except BadInput as wrong:
                logger.error("No report was written: %s", wrong)
