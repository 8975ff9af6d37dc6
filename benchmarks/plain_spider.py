"""The baseline: plain Scrapy, tuned, breadth-first with ``LinkExtractor``; it stores nothing and scores nothing.

The settings are those that a careful user of Scrapy would choose for a broad crawl of one kind of page.
"""

from __future__ import annotations

import scrapy
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "CONCURRENT_REQUESTS": 100,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 100,
    "DOWNLOAD_DELAY": 0,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "COMPRESSION_ENABLED": False,
    "DNSCACHE_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
}


class PlainSpider(scrapy.Spider):
    """Follows every link of every page."""

    name = "plain"
    extractor = LinkExtractor()

    def parse(self, response):
        for link in self.extractor.extract_links(response):
            yield scrapy.Request(link.url)

    async def start(self):
        for url in self.start_urls:
            yield scrapy.Request(url)
