"""Sitemaps and feeds: their links are offered like those of a page, which they are not."""

from __future__ import annotations

from collections.abc import Sequence

from crawlproject.core.kinds.handler import FetchPlan
from crawlproject.core.kinds.page import PageHandler
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.parts.listings.listing import Listing, ListingReader
from crawlproject.parts.listings.sitemap_log import ListingLog
from crawlproject.records import CrawlUrl, Fetch, Page, Reply, Visit


class ListingHandler(PageHandler):
    """Admits, fetches and ends the listings of one kind; they fail and are redirected as a page."""

    def __init__(self, services: Services, reader: ListingReader, log: ListingLog) -> None:
        super().__init__(services)
        self.reader = reader
        self._log = log
        self._outlinks = services.outlinks
        self._refusals = services.folder.refusals
        self._known = services.folder.history

    def offer(self, url: CrawlUrl) -> bool:
        return self._admission.offer(url, any_extension=True)  # it is wanted, whatever its name

    def plan(self, url: CrawlUrl) -> FetchPlan:
        return FetchPlan(any_type=True)

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        if not 200 <= reply.status < 300:
            self.fail(url, f"http {reply.status}", fetch)
            return None
        found = self.reader.listing(url, reply.body)
        for reason, count in ((f"{url.kind}/foreign", found.foreign), (f"{url.kind}/surplus", found.surplus)):
            if count:
                self._refusals.count(reason, count)
        if url.url not in self._known:
            self._log.append(url.url, fetch.at, found.entries)
            self._history.end(url, fetch, page=found.page)
        with self._outlinks.ending(url.key, fetch):
            self._outlinks.follow(found.page)
            for further in found.further:
                self.offer(further)
            self.read(url, reply, found, fetch)
        return None

    def read(self, url: CrawlUrl, reply: Reply, found: Listing, fetch: Fetch) -> None:
        """A listing was read for the first time: what follows belongs to the step that ends its lease."""

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, kind=visit.kind)
        entries: Sequence[Sequence[str]] = self._log.stored(visit.url)
        return self.reader.page(url, [tuple(entry) for entry in entries])
