"""Redirects, where a ``Location`` that is no URL ends the page with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware

from crawlproject.adapters.refused import NoRedirect

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class PageRedirectMiddleware(RedirectMiddleware):
    """Scrapy's own, which raises whatever reading the header raises (docs/upstream/0003)."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        try:
            return super().process_response(request, response)
        except ValueError as wrong:
            raise NoRedirect(response.status) from wrong
