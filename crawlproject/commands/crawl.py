"""``scrapy crawl``, with our exit codes: 2 for bad input, 3 when the disk stopped the crawl."""

from __future__ import annotations

import argparse
import asyncio

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

from crawlproject.commandline import STOPPED, reporting_errors
from crawlproject.errors import BadInput, StorageFailed
from crawlproject.live import stopped


class Command(ScrapyCrawl):
    """Scrapy's own command, except that a wrong topic or setting is one message instead of a traceback."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one spider name: scrapy crawl topical -a topic=FILE")
        assert self.crawler_process is not None, "scrapy.cmdline sets it"
        crawler = self._create_crawler(args[0])
        crawling = self.crawler_process.crawl(crawler, **opts.spargs)
        with reporting_errors(self):
            self.crawler_process.start()
            _raise_ours(crawling)
            if self.crawler_process.bootstrap_failed:
                self.exitcode = 1
            elif stopped(crawler):
                self.exitcode = STOPPED


def _raise_ours(crawling: object) -> None:
    """Raise what stopped the crawl from starting, when it is an error of ours."""
    if isinstance(crawling, asyncio.Task) and crawling.done() and not crawling.cancelled():
        failure = crawling.exception()
        if isinstance(failure, BadInput | StorageFailed):
            raise failure
        if failure is not None:
            raise RuntimeError("the crawl did not start") from failure
