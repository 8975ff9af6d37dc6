"""Requests the default page of a folder by name, from servers that know it only by that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from crawlproject.adapters.request_json import lease_of
from crawlproject.adapters.running import AS_SPELLED, Component, count, crawl_of
from crawlproject.pages.html.parse import parse_document
from crawlproject.records import PAGE, REVISIT, CrawlUrl
from crawlproject.urls.canonical import canonical_or_none

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from crawlproject.core.crawl import Crawl

_NOT_THERE = (403, 404)
_USUAL = "index.html"


class DefaultPageMiddleware(Component):
    """The canonical URL ``/a/`` also stands for ``/a/index.html`` (``CRAWL_URL_DEFAULT_PAGES``), but storage services know only
    the latter.

    When ``/a/`` is forbidden or not found, and the link that led there names a page, that page is fetched within the same
    lease. For a seed or a revisited page, whose original spelling is not kept, the usual name is tried.
    """

    def process_response(self, request: Request, response: Response) -> Request | Response:
        if response.status not in _NOT_THERE or request.method != "GET" or AS_SPELLED in request.meta:
            return response
        crawl = crawl_of(self.crawler)
        lease = lease_of(crawl, request) if request.url.endswith("/") else None
        if crawl is None or lease is None or lease.url != request.url or not _is_of_a_page(lease):
            return response
        spelled = next(_spellings(crawl, lease), None)
        if spelled is None:
            return response
        count(self.crawler, "canonicalize/default_page")
        return request.replace(url=spelled, meta={**request.meta, AS_SPELLED: True}, dont_filter=True)


def _is_of_a_page(lease: CrawlUrl) -> bool:
    """Whether a lease is for a page, not for a feed, a form or a page that a browser renders."""
    return lease.kind == REVISIT or (lease.kind == PAGE and not lease.variant)


def _spellings(crawl: Crawl, lease: CrawlUrl) -> Iterator[str]:
    """The URLs of pages that stand for the folder, as spelled by the page that links to them."""
    links = [f"{lease.url}{_USUAL}"] if lease.parent is None else _links(crawl, lease.parent)
    for spelled in (link.partition("#")[0] for link in links):
        name = spelled.removeprefix(lease.url)
        if name and "/" not in name and canonical_or_none(crawl.canonicalize, spelled) == lease.url:
            yield spelled


def _links(crawl: Crawl, url: str) -> Iterable[str]:
    """The links of a stored page, as spelled there."""
    try:
        document = parse_document(crawl.folder.pages.load(url), url=url, tag_paths=False)
    except FileNotFoundError:  # it was not stored
        return
    for link in document.links:
        try:
            yield urljoin(document.base, link.href.strip())
        except ValueError:
            continue
