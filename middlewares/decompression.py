"""Limits decompression: a body that grows too large, or is compressed several times, is dropped with a reason."""

from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawlproject.components.refused import Refused
from crawlproject.crawl.address_policy import BOMB

MAX_CODINGS = 2  # servers compress once, and by mistake twice


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware, which stops at ``DOWNLOAD_MAXSIZE`` bytes for each coding, with a limit for the number of codings."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        codings = b",".join(response.headers.getlist(b"Content-Encoding"))
        if codings.count(b",") >= MAX_CODINGS:
            raise self._refused(request)
        try:
            return super().process_response(request, response)
        except IgnoreRequest as bomb:
            raise self._refused(request) from bomb

    def _refused(self, request: Request) -> Refused:
        if self.stats:
            self.stats.inc_value(f"{BOMB}/refused")
        return Refused(BOMB, request.url)
