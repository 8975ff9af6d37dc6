"""Downloader middleware: turns a fetched document into HTML while the crawl continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import DeferredSemaphore
from twisted.internet.threads import deferToThread

from crawlproject.adapters.running import ANY_TYPE, LONGEST, RESOURCE, ROBOTS, UNREAD, Component, crawl_of
from crawlproject.configuration import read_options
from crawlproject.options import DOCUMENT_TYPES
from crawlproject.parts.documents.opener import WORKERS
from crawlproject.parts.documents.part import Documents
from crawlproject.records import Reply

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

_NO_PAGE = frozenset((ANY_TYPE, RESOURCE, ROBOTS))  # meta keys of requests that do not fetch pages


class DocumentMiddleware(Component):
    """Sees responses after the middlewares that decompress and retry, before the spider. Leaves other spiders alone."""

    def __init__(self, crawler: Crawler) -> None:
        if {*DOCUMENT_TYPES.values()}.isdisjoint(read_options(crawler.settings).page_content_types):
            raise NotConfigured
        super().__init__(crawler)
        self._turn = DeferredSemaphore(WORKERS)  # more threads would only wait

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = super().from_crawler(crawler)
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        return middleware

    def headers_received(self, headers: Headers, request: Request) -> None:
        """Set the length limit of documents, which differs from that of pages."""
        request.meta.pop(LONGEST, None)
        if (part := self._part(request)) and part.opener.kind(_content_type(headers)):
            request.meta[LONGEST] = part.opener.longest

    async def process_response(self, request: Request, response: Response) -> Response:
        request.meta.pop(UNREAD, None)
        part, content_type = self._part(request), _content_type(response.headers)
        if part is None or not (kind := part.opener.kind(content_type)) or not 200 <= response.status < 300:
            return response
        reply = Reply(request.url, response.status, {"content-type": content_type}, response.body)
        cut = "download_stopped" in response.flags
        opening = self._turn.run(deferToThread, part.opener.opened, reply, cut=cut)
        opened: Reply = await maybe_deferred_to_future(opening)
        part.count(kind, opened)
        if opened.unread:
            request.meta[UNREAD] = opened.unread
        headers = response.headers.copy()
        headers[b"Content-Type"] = opened.headers["content-type"]
        return response.replace(body=opened.body, headers=headers)

    def _part(self, request: Request) -> Documents | None:
        crawl = crawl_of(self.crawler)
        return None if crawl is None or _NO_PAGE.intersection(request.meta) else crawl.part(Documents)


def _content_type(headers: Headers) -> str:
    return (headers.get(b"Content-Type") or b"").decode("latin-1")
