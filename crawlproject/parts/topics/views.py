"""The folders that a crawl of several topics keeps for each: brought up to date while it runs, with a report at its end."""

from __future__ import annotations

import logging
from time import perf_counter
from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.adapters.running import repeated, stopped, stopping
from crawlproject.errors import BadInput
from crawlproject.parts.topics.topic_view import FOLDER
from crawlproject.reports.report import write_report

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl
    from crawlproject.parts.topics.crawl_topics import CrawlTopics

logger = logging.getLogger(__name__)

CATCH_UP_EVERY = 0.25  # seconds between two slices of work
SLICE = 0.025  # seconds that a slice may take: a tenth of the time, while pages are judged for a topic that joined


class TopicViews:
    """Those of ``crawl``, which ``crawler`` runs."""

    def __init__(self, crawler: Crawler, crawl: Crawl, topics: CrawlTopics) -> None:
        self._crawler = crawler
        self._crawl = crawl
        self._topics = topics

    def connect(self) -> None:
        """Work from the beginning of the crawl to its end."""
        repeated(self._crawler, self.catch_up, CATCH_UP_EVERY)
        self._crawler.signals.connect(self.write_reports, signals.spider_closed, weak=False)

    def catch_up(self) -> None:
        """A slice of work."""
        if not stopped(self._crawler):
            until = perf_counter() + SLICE
            with stopping(self._crawler):
                self._topics.catch_up(lambda: perf_counter() < until)

    def write_reports(self) -> None:
        """A report for each topic; called when the crawl is closed."""
        for name in self._topics.members:
            try:
                with stopping(self._crawler):
                    write_report(self._crawl.folder.path / FOLDER / name)
            except BadInput as wrong:
                logger.error("No report of the topic %s was written: %s", name, wrong)
