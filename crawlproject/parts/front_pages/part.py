"""Offers the front page of each host that links lead to, even if no page links to it.

Path-ascending crawlers (Cothey 2004) request each folder above a URL. Here only the root is requested, which nearly always
exists, and leads to the rest of the site.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawlproject.core.part import Part, Setup
from crawlproject.parts.front_pages.options import FrontPageOptions
from crawlproject.records import IMPLIED, Link, Page, Span


class FrontPages(Part):
    """Present unless ``CRAWL_FRONT_PAGES`` is off. A front page gets the context of the first link to its host, and no anchor."""

    name = "front_pages"

    @classmethod
    def make(cls, setup: Setup) -> FrontPages | None:
        return cls() if setup.options.of(FrontPageOptions).crawl_front_pages else None

    def implied(self, page: Page) -> Iterable[Link]:
        first: dict[str, Link] = {}
        for link in page.links:
            first.setdefault(link.url[: link.url.index("/", 8) + 1], link)
        known = {link.url for link in page.links}
        known.add(page.url)
        for url, link in first.items():
            if url not in known:
                start = link.anchor_span.start
                yield Link(url, "", Span(start, start), link.context_span, link.context_score, IMPLIED)
