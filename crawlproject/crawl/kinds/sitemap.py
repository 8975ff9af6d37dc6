"""Sitemaps: their links are offered like those of a page, which they are not."""

from __future__ import annotations

from collections.abc import Sequence

from crawlproject.crawl.admission import Admission
from crawlproject.crawl.history_writer import HistoryWriter
from crawlproject.crawl.inspectors import Inspection
from crawlproject.crawl.kinds.handler import FetchPlan
from crawlproject.crawl.kinds.page import PageHandler
from crawlproject.crawl.outlinks import Outlinks
from crawlproject.crawl.page_steps import PageSteps
from crawlproject.crawl.sitemaps import Sitemaps
from crawlproject.frontier.base import Frontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import SITEMAP, CrawlUrl, Fetch, Page
from crawlproject.webs.base import Reply


class SitemapHandler(PageHandler):
    """Admits, fetches and ends sitemaps; it fails and is redirected as a page."""

    def __init__(
        self,
        admission: Admission,
        frontier: Frontier,
        history: HistoryWriter,
        inspection: Inspection,
        ordering: BaseOrdering,
        steps: PageSteps,
        sitemaps: Sitemaps,
        outlinks: Outlinks,
    ) -> None:
        super().__init__(admission, frontier, history, inspection, ordering, steps)
        self._sitemaps = sitemaps
        self._outlinks = outlinks

    def offer_named(self, hrefs: Sequence[str], found: CrawlUrl) -> None:
        """Offer the sitemaps that the robots.txt for ``found`` names, up to ``CRAWL_SITEMAPS`` a host."""
        for sitemap in self._sitemaps.named(hrefs, found):
            self.offer(sitemap)

    def offer(self, url: CrawlUrl) -> bool:
        return self._admission.offer(url, any_extension=True)  # packed, or a feed

    def plan(self, url: CrawlUrl) -> FetchPlan:
        return FetchPlan(any_type=True)

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        if not 200 <= reply.status < 300:
            self.fail(url, f"http {reply.status}", fetch)
            return None
        found = self._sitemaps.listing(url, reply.body)
        self._history.end(url, fetch, error=SITEMAP, listed=found)
        with self._outlinks.ending(url.key, fetch):
            self._outlinks.follow(found.page)
            for sitemap in found.sitemaps:
                self.offer(sitemap)
        return None
