"""The ``SCHEDULER`` of this project: the one place that decides which of the two schedulers a spider gets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scrapy.core.scheduler import BaseScheduler

from crawlproject.adapters.crawl_scheduler import CrawlScheduler
from crawlproject.adapters.request_json import canonical_identity
from crawlproject.adapters.request_scheduler import RequestScheduler
from crawlproject.adapters.running import crawl_of
from crawlproject.configuration import read_options
from crawlproject.core.reading import make_canonicalizer

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class FrontierScheduler(BaseScheduler):
    """``SCHEDULER = "crawlproject.adapters.scheduler.FrontierScheduler"``.

    A topical crawl is served by ``CrawlScheduler``. Any other spider is served by ``RequestScheduler``, which here reads
    all settings of ours and takes requests for the same when their canonical URLs are.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        """Scrapy calls this when the spider is made, and with it its crawl."""
        crawl = crawl_of(crawler)
        if crawl is not None:
            return CrawlScheduler(crawler, crawl)
        options = read_options(crawler.settings)
        identity = partial(canonical_identity, canonicalize=make_canonicalizer(options))
        return RequestScheduler(crawler, options, identity)
