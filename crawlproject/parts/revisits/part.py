"""Revisits: each page waits for its next visit, planned by a policy that learns from all visits (paper 004 section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Handler, Services
from crawlproject.core.stopping import Budget
from crawlproject.errors import BadSetting
from crawlproject.options import Options
from crawlproject.parts.listings.part import Listings
from crawlproject.parts.revisits.handlers import FirstReading, RereadHandler, RevisitHandler
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import revisit_policy
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.parts.revisits.shared_records import COLLECTED, LISTED, NAME, UNLISTED, SharedListing, SharedPage
from crawlproject.records import REREAD, REVISIT, CrawlUrl, Fetch, FetchEvent, Page
from crawlproject.storage.logs import RETIRED
from crawlproject.urls.hosts import host_of


class RevisitPart(Part):
    """Present where ``CRAWL_REVISIT`` names a policy."""

    name = NAME
    _services: Services

    def __init__(self, setup: Setup) -> None:
        self.revisits = Revisits(setup, revisit_policy(setup.options.of(RevisitOptions)))
        self.next_time = self.revisits.pace.next_time  # type: ignore[method-assign]
        self.taken = self.revisits.taken  # type: ignore[method-assign]
        self._peers = setup.peers
        self._is_replayed_by_all = setup.peers.has_server  # then ``replayed`` learns from this worker's history, too

    @classmethod
    def is_endless(cls, options: Options) -> bool:
        return bool(options.of(RevisitOptions).crawl_revisit)

    @classmethod
    def make(cls, setup: Setup) -> RevisitPart | None:
        if setup.rehearsal or not setup.options.of(RevisitOptions).crawl_revisit:
            return None  # a rehearsal ends with its harvest
        if setup.peers.has_server and not setup.peers.publishes:
            wish = "expected more than 0: with CRAWL_REVISIT, workers share the results of their visits"
            raise BadSetting("setting FRONTIER_REDIS_MESSAGES", wish)
        return cls(setup)

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        revisits, listings = self.revisits, services.parts.find(Listings)
        kinds: dict[str, Handler] = {REVISIT: RevisitHandler(services, revisits)}
        if listings is not None:
            readers = listings.readers
            kinds[REREAD] = RereadHandler(services, revisits, readers)
            kinds |= {kind: FirstReading(services, reader, listings, revisits) for kind, reader in readers.items()}
        return kinds

    def budget(self) -> Budget:
        return self.revisits

    # ------------------------------------------------------------ a run

    def learn(self, event: FetchEvent) -> None:
        if not self._is_replayed_by_all:
            self.revisits.learn(event)

    def replayed(self) -> None:
        """Learn from all workers' visits, in the order of time."""
        if self._peers.has_server:
            self.revisits.replay_workers()
        self._is_replayed_by_all = False

    def begin(self, now: float) -> None:
        self.revisits.begin(now)

    def kept(self, page: Page, fetch: Fetch) -> Iterable[CrawlUrl]:
        return self.revisits.after_first_visit(page.url, fetch.at, page.text)

    def offered(self, page: Page, fetch: Fetch) -> None:
        """Keep the size of the collection: the pages that are worth least leave it."""
        for surplus in self.revisits.surplus():
            self._services.folder.withdraw(surplus.url, fetch.at, surplus.version, RETIRED)
            self.revisits.retire(surplus, fetch.at)

    def close(self, reason: str, *, over: bool) -> None:
        self.revisits.end()

    def counters(self) -> Mapping[str, int]:
        return self.revisits.tally.counters()

    # ------------------------------------------------------------ other workers

    def _is_fetched(self, url: str) -> None:
        """Drop the URL of a page of an own host: the worker that had the host before may have fetched it."""
        frontier = self._services.frontier
        if self._peers.is_own(host_of(url)) and frontier.leased(url) is None:
            frontier.drop(url)

    def inherited(self) -> None:
        for page in self.revisits.collection.pages():
            self._is_fetched(page.url)
        self.revisits.put_missing()

    def receive(self, event: FetchEvent, published: Any) -> None:
        self.revisits.heard(event.visit)

    def hear(self, message: Any) -> None:
        kind, *values = message
        if kind == COLLECTED:
            page = SharedPage.checked(*values)
            self.revisits.adopt(page)
            self.revisits.shared.was_attached(page)
            self._is_fetched(page.page.url)
        elif kind == LISTED:
            self.revisits.rereads.adopt(SharedListing.checked(*values))
        elif kind == UNLISTED:
            self.revisits.rereads.leave(str(values[0]))
        elif kind == RETIRED and (gone := self.revisits.collection.find(str(values[0]))) is not None:
            self.revisits.collection.retire(gone.row)
