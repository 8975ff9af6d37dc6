"""Retries temporary errors of a server once its host has rested; the crawl itself retries hosts that did not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware

from crawlproject.adapters.request_json import lease_of
from crawlproject.adapters.running import crawl_of
from crawlproject.http.connection_failures import connection_failure

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class ReplyRetryMiddleware(RetryMiddleware):
    """Scrapy's middleware, except that the crawl retries pages that got no answer (``Crawl.unreachable``)."""

    def process_exception(self, request: Request, exception: Exception) -> Request | Response | None:  # type: ignore[override]
        lease = lease_of(crawl_of(self.crawler), request) if connection_failure(exception) else None
        if lease is not None and lease.request is None:
            return None
        return super().process_exception(request, exception)
