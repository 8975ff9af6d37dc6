"""Ensures that every request reaches the downloader with its canonical URL, wherever the request comes from. As it stands before
all middlewares that refuse requests, it also says why ``scrapy fetch`` and ``scrapy shell`` bring nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.spider import DefaultSpider

from crawlproject.adapters.refused import Refused
from crawlproject.adapters.running import AS_SPELLED, Component, count
from crawlproject.configuration import read_options
from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import make_canonicalizer

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
_HTTP = ("http:", "https:")


class CanonicalizeMiddleware(Component):
    """Replaces a plain GET of another URL variant by a GET of the canonical URL, which goes through the scheduler.

    Requests with a body or another method, and variants that a server insists on (``as_spelled`` in ``meta``), do not change.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.canonicalize = make_canonicalizer(read_options(crawler.settings))

    def process_request(self, request: Request) -> Request | None:
        if request.method != "GET" or request.body or AS_SPELLED in request.meta or not request.url.startswith(_HTTP):
            return None
        try:
            url = self.canonicalize(request.url)
        except InvalidUrl as invalid:
            raise IgnoreRequest(str(invalid)) from invalid
        if url == request.url:
            return None
        count(self.crawler, "canonicalize/respelled")
        return request.replace(url=url)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Log a refusal, for the spider of Scrapy's commands alone: Scrapy is silent about them, and a crawl counts its own."""
        if isinstance(exception, Refused) and isinstance(self.crawler.spider, DefaultSpider):
            from crawlproject.reports.evidence import meaning  # takes long to import

            words = meaning(exception.reason)
            logger.error("Refused (%s): %s%s", exception.reason, exception.url, words and f": {words}")
