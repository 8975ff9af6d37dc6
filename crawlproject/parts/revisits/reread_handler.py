"""Sitemaps and feeds that were read before: what do they name now?"""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.core.kinds.handler import UNREACHABLE, FetchPlan
from crawlproject.core.services import Services
from crawlproject.parts.listings.handler import ListingHandler
from crawlproject.parts.listings.listing import Listing, ListingReader
from crawlproject.parts.listings.sitemap_log import ListingLog
from crawlproject.parts.revisits.deliveries import FeedReading
from crawlproject.parts.revisits.refetch_handler import RefetchHandler
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.records import CrawlUrl, Fetch, Page, Reply

_NOT_MODIFIED = 304


class RereadHandler(RefetchHandler):
    """Offers what is new in a listing, and brings the visits of pages forward that it says have changed.

    ``readers`` are by kind, which is the ``variant`` of the URL. Nothing of it stands in the history.
    """

    def __init__(self, services: Services, revisits: Revisits, readers: Mapping[str, ListingReader]) -> None:
        super().__init__(services, revisits)
        self._readers = readers
        self._outlinks = services.outlinks

    def plan(self, url: CrawlUrl) -> FetchPlan:
        return FetchPlan(one_try=True, any_type=True, headers=self._revisits.rereads.validators(url.url))

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> None:
        if reply.status == _NOT_MODIFIED or not 200 <= reply.status < 300:
            self._end(url, fetch, news=False)
            return
        found = self._readers[url.variant].listing(url, reply.body)
        new = [entry for entry in found.entries if entry[0] not in self._frontier]
        with self._frontier.batch():
            self._outlinks.follow(found.page)
            self._revisits.listed(url.url, reply.headers.get("link", ""), found, fetch.at)
            self._end(url, fetch, news=self._revisits.hinted(found.dates or found.entries, fetch.at) or bool(new))

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._end(url, fetch, news=False)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """As robots.txt forbids it: it is not asked for again in this run."""
        self._frontier.drop(url.key, picked=reason == UNREACHABLE)
        self._revisits.left()
        if self._revisits.subscriptions is not None:
            self._revisits.subscriptions.leave(url.url, self._services.now)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        self._end(url, fetch, news=False)
        return False

    def _end(self, url: CrawlUrl, fetch: Fetch, *, news: bool) -> None:
        known = self._revisits.subscriptions
        reading = known.was_read(url.url, fetch, news=news) if known is not None else FeedReading()
        due = self._revisits.rereads.read(
            url.url,
            fetch.at,
            news=news,
            etag=fetch.etag,
            last_modified=fetch.last_modified,
            pushed=reading.pushed,
            stretch=reading.stretch,
        )
        self._revisits.listing_read(url)
        self._frontier.done(url.key, fetch.rests_from, fetch.seconds, refetch_at=min(due, reading.again))


class FirstReading(ListingHandler):
    """A listing that is read for the first time, in a crawl that reads it again."""

    def __init__(self, services: Services, reader: ListingReader, log: ListingLog, revisits: Revisits) -> None:
        super().__init__(services, reader, log)
        self._revisits = revisits

    def read(self, url: CrawlUrl, reply: Reply, found: Listing, fetch: Fetch) -> None:
        self._frontier.put_many(self._revisits.read_listing(url.url))
        self._revisits.listed(url.url, reply.headers.get("link", ""), found, fetch.at)
