"""Scrapy's CrawlSpider as in its documentation: ``plain_crawl SEED HOST FILE``; the MD5 of each page goes to FILE."""

from __future__ import annotations

import sys
from hashlib import md5
from pathlib import Path
from typing import TextIO

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

SETTINGS = {"ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "ERROR", "DOWNLOAD_DELAY": 0}


class PlainCrawl(CrawlSpider):
    """Follows every link of the site."""

    name = "plain_crawl"
    seen: TextIO
    rules = (Rule(LinkExtractor(), callback="note", follow=True),)

    def note(self, response):
        if response.status == 200 and isinstance(response, HtmlResponse):
            self.seen.write(md5(response.body).hexdigest() + "\n")

    def parse_start_url(self, response, **_):
        self.note(response)
        return []


def main() -> None:
    seed, host, file = sys.argv[1:]
    with Path(file).open("a", buffering=1) as PlainCrawl.seen:
        process = AsyncCrawlerProcess(SETTINGS)
        process.crawl(PlainCrawl, start_urls=[seed], allowed_domains=[host])
        process.start()


if __name__ == "__main__":
    main()
