"""Plain Scrapy, breadth-first: the spider of the throughput benchmark, which here follows redirects too."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse

from benchmarks.plain_spider import SETTINGS, PlainSpider
from benchmarks.rivals.joblog import PageLog, read_job


class LoggingSpider(PlainSpider):
    """Follows every link of every page, and notes each page."""

    def parse(self, response):
        if isinstance(response, HtmlResponse):
            yield from super().parse(response)
        self.log_of_pages.note(response.url)


def main() -> None:
    job = read_job(sys.argv[1])
    os.environ["http_proxy"] = os.environ["https_proxy"] = job["proxy"]
    LoggingSpider.log_of_pages = PageLog(Path(job["log"]))
    process = AsyncCrawlerProcess({**SETTINGS, "REDIRECT_ENABLED": True, "LOG_LEVEL": "CRITICAL"})
    process.crawl(LoggingSpider, start_urls=job["seeds"])
    process.start()


if __name__ == "__main__":
    main()
