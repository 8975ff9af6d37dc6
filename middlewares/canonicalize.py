"""Ensures that every request reaches the downloader with its canonical URL, wherever the request comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from crawlproject.adapters.running import AS_SPELLED, Component, count
from crawlproject.configuration import read_options
from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import make_canonicalizer

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

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
