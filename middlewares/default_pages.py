"""Requests the default page of a folder by name, from servers that know it only by that name."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import ada_url

from crawlproject.adapters.request_json import lease_of
from crawlproject.adapters.running import AS_SPELLED, Component, count, crawl_of
from crawlproject.pages.html.parse import parse_document
from crawlproject.records import PAGE, REVISIT, CrawlUrl
from crawlproject.urls.canonical import canonical_or_none

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.core.crawl import Crawl

_NOT_THERE = (403, 404)
_USUAL = "index.html"
_PARENTS = 16  # pages whose links are remembered: one menu may lead to many folders that are missing


class DefaultPageMiddleware(Component):
    """The canonical URL ``/a/`` also stands for ``/a/index.html`` (``CRAWL_URL_DEFAULT_PAGES``), but storage services know only
    the latter.

    When ``/a/`` is forbidden or not found, and the link that led there names a page, that page is fetched within the same
    lease. For a seed or a revisited page, whose original spelling is not kept, the usual name is tried.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pages_named_by = lru_cache(_PARENTS)(_pages_named_by)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        if response.status not in _NOT_THERE or request.method != "GET" or AS_SPELLED in request.meta:
            return response
        crawl = crawl_of(self.crawler)
        lease = lease_of(crawl, request) if request.url.endswith("/") else None
        if crawl is None or lease is None or lease.url != request.url or not _is_of_a_page(lease):
            return response
        if lease.parent is not None:
            spelled = self._pages_named_by(crawl, lease.parent).get(lease.url)
        else:
            usual = f"{lease.url}{_USUAL}"
            spelled = usual if canonical_or_none(crawl.canonicalize, usual) == lease.url else None
        if spelled is None:
            return response
        count(self.crawler, "canonicalize/default_page")
        return request.replace(url=spelled, meta={**request.meta, AS_SPELLED: True}, dont_filter=True)


def _is_of_a_page(lease: CrawlUrl) -> bool:
    """Whether a lease is for a page, not for a feed, a form or a page that a browser renders."""
    return lease.kind == REVISIT or (lease.kind == PAGE and not lease.variant)


def _pages_named_by(crawl: Crawl, url: str) -> dict[str, str]:
    """The default pages that a stored page links to by name: the canonical URL of each one's folder, and the URL as spelled."""
    try:
        document = parse_document(crawl.folder.pages.load(url), url=url, tag_paths=False)
    except FileNotFoundError:  # it was not stored
        return {}
    found: dict[str, str] = {}
    for link in document.links:
        folder = canonical_or_none(crawl.canonicalize, link.href, document.base)
        if folder is None or not folder.endswith("/"):
            continue
        try:
            spelled = ada_url.join_url(document.base, link.href).partition("#")[0]
        except ValueError:
            continue
        name = spelled.removeprefix(folder)
        if name and "/" not in name:
            found.setdefault(folder, spelled)
    return found
