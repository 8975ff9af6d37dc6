"""Handlers of URLs that are fetched again, when the revisits schedule them: sitemaps and feeds, for what they name now, and
pages, for what has become of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import UNREACHABLE, FetchPlan, Handler, Services, read_headers, why_no_page
from crawlproject.pages.page_types import SOFT_404
from crawlproject.parts.listings.listing import Listing, ListingReader
from crawlproject.parts.listings.part import ListingHandler, Listings
from crawlproject.parts.revisits.rereads import validators
from crawlproject.parts.revisits.revisits import FORBIDDEN, RETRY, Revisits
from crawlproject.parts.revisits.steps import RevisitSteps
from crawlproject.records import GONE, MISSING, MOVED, NOT_KEPT, SAME, CrawlUrl, Fetch, Page, Reply, Visit
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import location

_NOT_MODIFIED = 304
_AWAY = (404, 410)
_FOR_GOOD = (301, 308)


class RefetchHandler(Handler):
    """What refetched URLs have in common: each was admitted once, and counts towards no budget of its site."""

    def __init__(self, services: Services, revisits: Revisits) -> None:
        self._services = services
        self._admission = services.admission
        self._frontier = services.frontier
        self._revisits = revisits

    def offer(self, url: CrawlUrl) -> bool:
        return self._frontier.put(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        return self._admission.rules.late_refusal(url.url)

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        return steps.stored(visit, inherited, self._services.folder.pages.load)


class RereadHandler(RefetchHandler):
    """Offers what is new in a listing, and brings forward the visits of pages that the listing says have changed.

    ``readers`` are by kind, which is the ``variant`` of the URL. The history does not record these readings.
    """

    def __init__(self, services: Services, revisits: Revisits, readers: Mapping[str, ListingReader]) -> None:
        super().__init__(services, revisits)
        self._readers = readers
        self._follow = services.steps.follow

    def plan(self, url: CrawlUrl) -> FetchPlan:
        return FetchPlan(one_try=True, any_type=True, headers=self._revisits.rereads.validators(url.url))

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> None:
        if reply.status == _NOT_MODIFIED or not 200 <= reply.status < 300:
            self._end(url, fetch, news=False)
            return
        found = self._readers[url.variant].listing(url, reply.body)
        new = [entry for entry in found.entries if entry[0] not in self._frontier]
        with self._frontier.batch():
            self._follow(found.page)
            self._revisits.listed(url.url, reply.headers.get("link", ""), found, fetch.at)
            self._end(url, fetch, news=self._revisits.hinted(found.dates or found.entries, fetch.at) or bool(new))

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._end(url, fetch, news=False)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """Drop a listing that robots.txt forbids: it is not requested again in this run."""
        self._frontier.drop(url.key, picked=reason == UNREACHABLE)
        self._revisits.listing_left(url.url)
        self._revisits.feeds.left(url.url, self._services.now)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        self._end(url, fetch, news=False)
        return False

    def _end(self, url: CrawlUrl, fetch: Fetch, *, news: bool) -> None:
        reading = self._revisits.feeds.was_read(url.url, fetch, news=news)
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
    """Reads a listing for the first time, in a crawl that reads it again later."""

    def __init__(self, services: Services, reader: ListingReader, listings: Listings, revisits: Revisits) -> None:
        super().__init__(services, reader, listings.log, listings.has_enough)
        self._revisits = revisits

    def read(self, url: CrawlUrl, reply: Reply, found: Listing, fetch: Fetch) -> None:
        self._frontier.put_many(self._revisits.read_listing(url.url))
        self._revisits.listed(url.url, reply.headers.get("link", ""), found, fetch.at)


class RevisitHandler(RefetchHandler):
    """Fetches known pages again with the validators of their last visit, and ends the visits that brought no new text."""

    def __init__(self, services: Services, revisits: Revisits) -> None:
        super().__init__(services, revisits)
        self._canonicalize = services.canonicalize
        self.steps: RevisitSteps = RevisitSteps(services, revisits)

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        return self._revisits.turn(url, now)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        page = self.steps.known(url.url)
        return FetchPlan(one_try=True, headers=validators(page.etag, page.last_modified))

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        known = self.steps.known(url.url)
        if reply.status == _NOT_MODIFIED:
            self.steps.end(url, fetch, SAME)
        elif href := location(reply):
            target = canonical_or_none(self._canonicalize, href, url.url)
            if target == url.url or target is None:
                self.fail(url, "redirect to itself" if target else "redirect to no URL", fetch)
            else:
                self.redirect(url, target, fetch)
        elif error := why_no_page(reply, self.steps.content_types):
            self.fail(url, error, fetch)
        elif known.digest == hashlib.md5(reply.body[: self.steps.max_bytes], usedforsecurity=False).hexdigest():
            self.steps.end(url, fetch, SAME)
        else:
            page = page or self.steps.read(url, reply.body, **read_headers(reply.headers), now=fetch.at)
            if page.redirect:
                self.redirect(url, page.redirect, fetch)
            elif not page.indexable and not page.needs_browser:
                self.fail(url, NOT_KEPT, fetch)
            else:
                return page
        return None

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """A page that is not found counts as missing, and as gone the second time; other errors say nothing about the page."""
        if fetch.status in _AWAY or error.startswith(SOFT_404):
            change = GONE if self.steps.known(url.url).state == MISSING else MISSING
        else:
            change = GONE if error == NOT_KEPT else ""
        self.steps.end(url, fetch, change, error=error)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        now = self._services.now
        if reason == UNREACHABLE:
            self._frontier.release(url.key, now, 0.0, not_before=now + RETRY)
        else:
            self._frontier.hold(url.key, now + FORBIDDEN)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """Replace a page that has moved for good by the page at its new place, which is fetched as a new one."""
        for_good = fetch.status in _FOR_GOOD or 200 <= fetch.status < 300
        page = self.steps.known(url.url)
        self.steps.end(url, fetch, MOVED if for_good else "", redirect=target)
        return for_good and self._admission.offer(CrawlUrl(target, page.weight, max(page.depth, 1), url.url))
