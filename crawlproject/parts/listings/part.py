"""Sitemaps and feeds as sources of links: they are fetched and learned from like pages that consist of links."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from crawlproject.core.page_steps import PageSteps
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import FetchPlan, Handler, PageHandler, Services
from crawlproject.options import Options
from crawlproject.parts.listings.feeds import Feeds
from crawlproject.parts.listings.listing import Listing, ListingReader
from crawlproject.parts.listings.options import ListingOptions
from crawlproject.parts.listings.sitemaps import ListingLog, Sitemaps
from crawlproject.records import FEED, LISTINGS, SITEMAP, CrawlUrl, Fetch, FetchEvent, Page, Reply, Visit
from crawlproject.storage.crawl_files import SITEMAPS
from crawlproject.storage.read import read_visits


class Listings(Part):
    """The part that ``CRAWL_SITEMAPS`` or ``CRAWL_FEEDS`` asks for, now or in an earlier run of this crawl."""

    name = "listings"

    def __init__(self, setup: Setup) -> None:
        options, folder = setup.options.of(ListingOptions), setup.folder
        most = options.crawl_sitemap_urls
        self.sitemaps = Sitemaps(setup.canonicalize, setup.judge, per_host=options.crawl_sitemaps, most=most)
        self.feeds = Feeds(setup.canonicalize, setup.judge, per_host=options.crawl_feeds, most=most)
        self.log = ListingLog(folder.path, folder.history, keeps=folder.bodies)
        folder.beside.append(self.log)
        self._folder = folder
        self._read: dict[str, dict[str, list[str]]] = {kind: {} for kind in LISTINGS}  # by host, of all runs
        self._led_to: set[str] = set()  # listings to which others redirect, and that are still to come
        self.idle = [] if options.crawl_feeds else ["links"]

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        return ["related"] if options.of(ListingOptions).crawl_feeds else []

    @classmethod
    def make(cls, setup: Setup) -> Listings | None:
        options = setup.options.of(ListingOptions)
        wanted = options.crawl_sitemaps or options.crawl_feeds or (setup.folder.path / SITEMAPS).exists()
        return cls(setup) if wanted else None

    @property
    def readers(self) -> Mapping[str, ListingReader]:
        """The readers, by the kind of listing."""
        return {SITEMAP: self.sitemaps, FEED: self.feeds}

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        return {
            kind: ListingHandler(services, reader, self.log, self.has_enough) for kind, reader in self.readers.items()
        }

    def learn(self, event: FetchEvent) -> None:
        """Count the listings of each host over all resumes; a redirect and its target count as one."""
        visit = event.visit
        if visit.kind not in LISTINGS or visit.number > 1:
            return
        if visit.url in self._led_to:
            self._led_to.discard(visit.url)
        else:
            reader = self.readers[visit.kind]
            host = reader.host(visit.url, visit.parent or "")
            self._read[visit.kind].setdefault(host, []).append(visit.url)
            reader.named_by.setdefault(host, set()).add(visit.url)
        if visit.redirect:
            self._led_to.add(visit.redirect)

    def learned(self) -> Any:
        return {"read": self._read, "led_to": [*self._led_to]}

    def set_learned(self, learned: Any) -> None:
        read = {kind: {host: [*urls] for host, urls in learned["read"][kind].items()} for kind in LISTINGS}
        self._led_to.update(learned["led_to"])
        self._read = read
        for kind, reader in self.readers.items():
            reader.named_by = {host: {*urls} for host, urls in read[kind].items()}

    def has_enough(self, url: CrawlUrl) -> bool:
        """Whether the host of a listing that waits has had as many as it may: it waited while a resumed crawl read others."""
        reader = self.readers[url.kind]
        read = self._read[url.kind].get(reader.host(url.url, url.parent or ""), ())
        return len(read) >= reader.per_host and url.url not in self._led_to

    def replayed(self) -> None:
        folder = self._folder
        lost = folder.bodies and not (folder.path / SITEMAPS).exists()
        if lost and any(visit.kind in LISTINGS and visit.is_listing for visit in read_visits(folder.path)):
            folder.warnings.append(
                f"{folder.path / SITEMAPS} is missing: what the sitemaps listed is not learned again"
            )

    def robots_read(self, sitemaps: Sequence[str], found: CrawlUrl) -> Iterable[CrawlUrl]:
        return self.sitemaps.named(sitemaps, found)

    def links(self, page: Page) -> Iterable[CrawlUrl]:
        return self.feeds.named(page)


class ListingHandler(PageHandler):
    """Admits, fetches and ends the listings of one kind; failures and redirects are handled as for a page."""

    def __init__(
        self, services: Services, reader: ListingReader, log: ListingLog, has_enough: Callable[[CrawlUrl], bool]
    ) -> None:
        super().__init__(services)
        self._has_enough = has_enough
        self.reader = reader
        self._log = log
        self._refusals = services.folder.refusals
        self._known = services.folder.history

    def offer(self, url: CrawlUrl) -> bool:
        return self._admission.offer(url, any_extension=True)  # a listing may have any name

    def late_refusal(self, url: CrawlUrl) -> str:
        return super().late_refusal(url) or (f"{url.kind}/too_many" if self._has_enough(url) else "")

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
        with self._frontier.batch():
            self.steps.follow(found.page)
            for further in found.further:
                self.offer(further)
            self.read(url, reply, found, fetch)
            self._admission.update()
            self._frontier.done(url.key, fetch.rests_from, fetch.seconds)
        return None

    def read(self, url: CrawlUrl, reply: Reply, found: Listing, fetch: Fetch) -> None:
        """Hook for subclasses, called for the first reading of a listing, in the batch that ends its lease."""

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, kind=visit.kind)
        entries: Sequence[Sequence[str]] = self._log.stored(visit.url)
        return self.reader.page(url, [tuple(entry) for entry in entries])
