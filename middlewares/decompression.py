"""Unpacks bodies as far as they are read: what is longer is cut, and a bomb is dropped with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import TextResponse
from scrapy.responsetypes import responsetypes

from crawlproject.components.meta import longest_body
from crawlproject.components.refused import Refused
from crawlproject.components.running import count
from crawlproject.crawl.address_policy import BOMB
from crawlproject.options import read_options
from crawlproject.pages.unpack import Unpacked

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

MAX_CODINGS = 2  # servers compress once, and by mistake twice


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware, with limits for the number of codings and for what comes out of each: ``PAGE_MAX_BYTES``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler=crawler)
        self.crawler = crawler
        self.max_bytes = read_options(crawler.settings).page_max_bytes

    def process_response(self, request: Request, response: Response) -> Response:  # type: ignore[override]
        packed_as = response.headers.getlist(b"Content-Encoding")
        if not packed_as or request.method == "HEAD":
            return response
        if b",".join(packed_as).count(b",") >= MAX_CODINGS:
            raise self._refused(request)
        codings, unknown = self._split_encodings(packed_as)
        body = response.body
        for coding in codings if body else ():
            unpacked = Unpacked(body, coding.decode(), longest_body(request, self.max_bytes))
            if unpacked.is_bomb:
                raise self._refused(request)
            if unpacked.is_cut:
                count(self.crawler, "truncate/stopped/max_bytes")
            body = unpacked.body
        if unknown:
            self._warn_unknown_encoding(response, unknown)
        response.headers[b"Content-Encoding"] = unknown
        kind = responsetypes.from_args(headers=response.headers, url=response.url, body=body)
        changes = {"encoding": None} if issubclass(kind, TextResponse) else {}  # found anew
        response = response.replace(cls=kind, body=body, **changes)
        if not unknown:
            del response.headers[b"Content-Encoding"]
        return response

    def _refused(self, request: Request) -> Refused:
        count(self.crawler, f"{BOMB}/refused")
        return Refused(BOMB, request.url)
