"""Reads no more of a response than is wanted: unwanted content types stop after the headers, long bodies are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import StopDownload

from crawlproject.adapters.running import ANY_TYPE, Component, count, crawl_of, longest_body
from crawlproject.configuration import read_options
from crawlproject.pages.html.encoding import media_type

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

_ANOTHER_KIND = frozenset(("dont_obey_robotstxt", ANY_TYPE))  # meta keys of requests with any content type


class TruncateMiddleware(Component):
    """Cuts every body at ``PAGE_MAX_BYTES``, and robots.txt at the size that RFC 9309 allows.

    A page of the topical crawl must also be of ``PAGE_CONTENT_TYPES``.

    It works through Scrapy's signals while the body arrives (``StopDownload``), whatever length was declared. A response
    without a content type is read.
    """

    def __init__(self, crawler: Crawler) -> None:
        options = read_options(crawler.settings)
        super().__init__(crawler)
        self.max_bytes = options.page_max_bytes
        self.wanted = frozenset(content_type.lower() for content_type in options.page_content_types)
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = super().from_crawler(crawler)
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        crawler.signals.connect(middleware.bytes_received, signals.bytes_received)
        return middleware

    def process_request(self, request: Request) -> None:
        """Turn ``DOWNLOAD_MAXSIZE`` off: Scrapy would drop a response with a larger declared length, here it is cut."""
        request.meta.setdefault("download_maxsize", 0)

    def headers_received(self, headers: Headers, body_length: int, request: Request, spider: Spider) -> None:
        content_type = (headers.get(b"Content-Type") or b"").decode("latin-1")
        named = media_type(content_type)
        if named and named not in self.wanted and self._is_page(request):
            self._stop("content_type")

    def bytes_received(self, data: bytes, request: Request, spider: Spider) -> None:
        received = self._received.get(request, 0) + len(data)
        self._received[request] = received
        if received > longest_body(request, self.max_bytes):
            self._stop("max_bytes")

    def _is_page(self, request: Request) -> bool:
        crawl = crawl_of(self.crawler)
        return crawl is not None and not _ANOTHER_KIND.intersection(request.meta) and request.callback is not None

    def _stop(self, event: str) -> None:
        count(self.crawler, f"truncate/stopped/{event}")
        raise StopDownload(fail=False)
