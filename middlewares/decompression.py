"""Unpacks bodies up to the size that is read: longer ones are cut, and decompression bombs are dropped with a reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import TextResponse
from scrapy.responsetypes import responsetypes

from crawlproject.adapters.refused import Refused
from crawlproject.adapters.running import count, longest_body
from crawlproject.configuration import read_options
from crawlproject.core.address_policy import BOMB
from crawlproject.pages.unpack import CODINGS, Damaged, Unpacked

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

MAX_CODINGS = 2  # servers compress once, or twice by mistake; Scrapy has no limit (docs/upstream/0004)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # never in text (WHATWG MIME Sniffing section 3)
_LOOK = 1_445  # bytes that are searched for them (section 5.2)
_GZIP = b"\x1f\x8b\x08"


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware, with limits for the number of codings and for the size after each (``PAGE_MAX_BYTES``).

    Values that are not codings (``utf-8``, ``none``) are ignored, and the first bytes of a body count more than its header.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler=crawler)
        self.crawler = crawler
        self.max_bytes = read_options(crawler.settings).page_max_bytes

    def process_response(self, request: Request, response: Response) -> Response:  # type: ignore[override]
        packed_as = response.headers.getlist(b"Content-Encoding")
        if not packed_as or request.method == "HEAD":
            return response
        named = b",".join(packed_as).decode("latin-1").lower().split(",")
        codings = [coding for each in named if (coding := each.strip()) in CODINGS]
        if len(codings) > MAX_CODINGS:
            raise self._refused(request)
        body = response.body
        for coding in reversed(codings) if body else ():
            body = self._unpacked(request, body, coding)
        del response.headers[b"Content-Encoding"]
        kind = responsetypes.from_args(headers=response.headers, url=response.url, body=body)
        changes = {"encoding": None} if issubclass(kind, TextResponse) else {}  # detect the encoding again
        return response.replace(cls=kind, body=body, **changes)

    def _unpacked(self, request: Request, body: bytes, coding: str) -> bytes:
        limit = longest_body(request, self.max_bytes)
        try:
            unpacked = Unpacked(body, "gzip" if body.startswith(_GZIP) else coding, limit)
        except Damaged:
            if _BINARY.search(body[:_LOOK]):
                raise
            return body  # plain text that was never packed
        if unpacked.is_bomb:
            raise self._refused(request)
        if unpacked.is_cut:
            count(self.crawler, "truncate/stopped/max_bytes")
        return unpacked.body

    def _refused(self, request: Request) -> Refused:
        count(self.crawler, f"{BOMB}/refused")
        return Refused(BOMB, request.url)
