"""What a page or a sitemap links to enters the frontier, and its lease ends: one atomic step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crawlproject.crawl.admission import Admission
from crawlproject.crawl.feeds import Feeds
from crawlproject.crawl.ordering_feed import OrderingFeed
from crawlproject.frontier.base import Frontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import Fetch, Page
from crawlproject.storage.refusals import Refusals


class Outlinks:
    """Scores the links of one crawl and offers them."""

    def __init__(
        self,
        admission: Admission,
        frontier: Frontier,
        ordering: BaseOrdering,
        feed: OrderingFeed,
        refusals: Refusals,
        feeds: Feeds | None = None,
    ) -> None:
        self._admission = admission
        self._frontier = frontier
        self._ordering = ordering
        self._feed = feed
        self._refusals = refusals
        self._feeds = feeds  # that pages name; None: nobody reads them

    @contextmanager
    def ending(self, key: str, fetch: Fetch) -> Iterator[None]:
        """What is offered inside, the revision of what waits, and the end of the lease of ``key`` are one atomic step."""
        with self._frontier.batch():
            yield
            self._admission.update()
            self._frontier.done(key, fetch.rests_from, fetch.seconds)

    def follow(self, page: Page) -> None:
        """Offer the links of ``page`` that the ordering follows, and its feeds."""
        for url in self._feed.follow(page):
            if url is not None:
                self._admission.offer(url)
            else:
                self._refusals.count("ordering/not_followed")
        for found in self._feeds.named(page) if self._feeds else ():
            self._admission.offer(found, any_extension=True)
