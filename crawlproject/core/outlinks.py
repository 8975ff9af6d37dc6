"""What a page or a listing links to enters the frontier, and its lease ends: one atomic step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crawlproject.core.admission import Admission
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.part import Parts
from crawlproject.frontier.base import Frontier
from crawlproject.records import CrawlUrl, Fetch, Page
from crawlproject.storage.logs import Refusals


class Outlinks:
    """Scores the links of one crawl and offers them; ``offer`` puts what parts add by the rules of its kind."""

    def __init__(
        self,
        admission: Admission,
        frontier: Frontier,
        feed: OrderingFeed,
        refusals: Refusals,
        parts: Parts,
        offer: Callable[[CrawlUrl], bool],
    ) -> None:
        self._admission = admission
        self._frontier = frontier
        self._feed = feed
        self._refusals = refusals
        self._offer = offer
        self._links = parts.bound("links")
        self._followed = parts.followed

    @contextmanager
    def ending(self, key: str, fetch: Fetch) -> Iterator[None]:
        """What is offered inside, the revision of what waits, and the end of the lease of ``key`` are one atomic step."""
        with self._frontier.batch():
            yield
            self._admission.update()
            self._frontier.done(key, fetch.rests_from, fetch.seconds)

    def follow(self, page: Page) -> None:
        """Offer the links of ``page`` that the ordering follows, and what the parts find besides."""
        for url in self._feed.follow(self._followed(page)):
            if url is not None:
                self._admission.offer(url)
            else:
                self._refusals.count("ordering/not_followed")
        for links in self._links:
            for url in links(page):
                self._offer(url)
