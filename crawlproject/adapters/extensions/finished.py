"""``finished.json``: the mark of a complete crawl, for programs that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.adapters.running import Component, crawl_of, interrupted, stopped, stopping, time
from crawlproject.storage.crawl_files import clear_marker, write_marker

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class FinishedMarker(Component):
    """Writes the marker when everything else of a complete crawl is written, including feeds and report.

    There is no marker while a crawl runs, or when it was stopped early.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = super().from_crawler(crawler)
        crawler.signals.connect(extension.begin, signals.spider_opened)
        crawler.signals.connect(extension.end, signals.engine_stopped)
        return extension

    def begin(self) -> None:
        """Remove the marker, because the crawl runs again."""
        crawl = crawl_of(self.crawler)
        if crawl is not None:
            with stopping(self.crawler):
                clear_marker(crawl.folder.path)

    def end(self) -> None:
        """Write the marker; called after every ``spider_closed``."""
        crawl = crawl_of(self.crawler)
        if crawl is not None and not stopped(self.crawler) and not interrupted(self.crawler):
            with stopping(self.crawler):
                write_marker(crawl.folder.path, crawl.folder.manifest.found, time())
