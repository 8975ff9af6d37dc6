"""Sitemaps and feeds as sources of links, fetched and read like pages that list their links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from crawlproject.core.kinds.handler import Handler
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Services
from crawlproject.options import Options
from crawlproject.parts.listings.feeds import Feeds
from crawlproject.parts.listings.handler import ListingHandler
from crawlproject.parts.listings.listing import ListingReader
from crawlproject.parts.listings.options import ListingOptions
from crawlproject.parts.listings.sitemap_log import NAME, ListingLog
from crawlproject.parts.listings.sitemaps import Sitemaps
from crawlproject.records import FEED, LISTINGS, SITEMAP, CrawlUrl, Page
from crawlproject.storage.read import read_visits


class Listings(Part):
    """There where ``CRAWL_SITEMAPS`` or ``CRAWL_FEEDS`` asks for it, or did before."""

    name = "listings"

    def __init__(self, setup: Setup) -> None:
        options, folder = setup.options.of(ListingOptions), setup.folder
        most = options.crawl_sitemap_urls
        self.sitemaps = Sitemaps(setup.canonicalize, setup.judge, per_host=options.crawl_sitemaps, most=most)
        self.feeds = Feeds(setup.canonicalize, setup.judge, per_host=options.crawl_feeds, most=most)
        self.log = ListingLog(folder.path, folder.history, keeps=folder.bodies)
        folder.beside.append(self.log)
        self._folder = folder
        self.idle = [] if options.crawl_feeds else ["links"]

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        return ["related"] if options.of(ListingOptions).crawl_feeds else []

    @classmethod
    def make(cls, setup: Setup) -> Listings | None:
        options = setup.options.of(ListingOptions)
        wanted = options.crawl_sitemaps or options.crawl_feeds or (setup.folder.path / NAME).exists()
        return cls(setup) if wanted else None

    @property
    def readers(self) -> Mapping[str, ListingReader]:
        """By the kind of listing."""
        return {SITEMAP: self.sitemaps, FEED: self.feeds}

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        return {kind: ListingHandler(services, reader, self.log) for kind, reader in self.readers.items()}

    def replayed(self) -> None:
        folder = self._folder
        lost = folder.bodies and not (folder.path / NAME).exists()
        if lost and any(visit.kind in LISTINGS and visit.is_listing for visit in read_visits(folder.path)):
            folder.warnings.append(f"{folder.path / NAME} is missing: what the sitemaps listed is not learned again")

    def robots_read(self, sitemaps: Sequence[str], found: CrawlUrl) -> Iterable[CrawlUrl]:
        return self.sitemaps.named(sitemaps, found)

    def links(self, page: Page) -> Iterable[CrawlUrl]:
        return self.feeds.named(page)
