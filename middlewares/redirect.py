"""Follows redirects; a ``Location`` that is not a URL ends the page with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware

from crawlproject.adapters.refused import NoRedirect

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class PageRedirectMiddleware(RedirectMiddleware):
    """Scrapy's middleware, which lets errors in the header escape (docs/upstream/0003), with ``NoRedirect`` in their place."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        try:
            return super().process_response(request, response)
        except ValueError as wrong:
            raise NoRedirect(response.status) from wrong
