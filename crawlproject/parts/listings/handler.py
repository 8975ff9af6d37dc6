"""Sitemaps and feeds: their links are offered like those of a page, which they are not."""

from __future__ import annotations

from crawlproject.core.kinds.handler import FetchPlan
from crawlproject.core.kinds.page import PageHandler, PageParts
from crawlproject.core.outlinks import Outlinks
from crawlproject.parts.listings.listing import ListingReader
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.records import CrawlUrl, Fetch, Page
from crawlproject.webs.base import Reply


class ListingHandler(PageHandler):
    """Admits, fetches and ends the listings of one kind; they fail and are redirected as a page."""

    def __init__(self, parts: PageParts, reader: ListingReader, outlinks: Outlinks, revisits: Revisits | None) -> None:
        super().__init__(parts)
        self._reader = reader
        self._outlinks = outlinks
        self._revisits = revisits

    def offer(self, url: CrawlUrl) -> bool:
        return self._admission.offer(url, any_extension=True)  # it is wanted, whatever its name

    def plan(self, url: CrawlUrl) -> FetchPlan:
        return FetchPlan(any_type=True)

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        if not 200 <= reply.status < 300:
            self.fail(url, f"http {reply.status}", fetch)
            return None
        found = self._reader.listing(url, reply.body)
        self._history.end(url, fetch, error=self._reader.kind, listed=found)
        with self._outlinks.ending(url.key, fetch):
            self._outlinks.follow(found.page)
            for further in found.further:
                self.offer(further)
            if self._revisits is not None:
                self._frontier.put_many(self._revisits.read_listing(url.url))
                self._revisits.listed(url.url, reply.headers.get("link", ""), found, fetch.at)
        return None
