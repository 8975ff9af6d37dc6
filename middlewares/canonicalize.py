"""Every request that reaches the downloader has the canonical URL, whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from crawlproject.adapters.running import AS_SPELLED
from crawlproject.configuration import read_options
from crawlproject.core.reading import make_canonicalizer
from crawlproject.errors import InvalidUrl

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

_HTTP = ("http:", "https:")


class CanonicalizeMiddleware:
    """Replaces a plain GET of another URL variant by one of the canonical URL, which goes through the scheduler.

    Requests with a body or another method, and variants that a server insists on (``as_spelled`` in ``meta``), stay.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.canonicalize = make_canonicalizer(read_options(crawler.settings))
        self.stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Request | None:
        if request.method != "GET" or request.body or AS_SPELLED in request.meta or not request.url.startswith(_HTTP):
            return None
        try:
            url = self.canonicalize(request.url)
        except InvalidUrl as invalid:
            raise IgnoreRequest(str(invalid)) from invalid
        if url == request.url:
            return None
        if self.stats:
            self.stats.inc_value("canonicalize/respelled")
        return request.replace(url=url)
