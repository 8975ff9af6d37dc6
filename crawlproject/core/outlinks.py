"""What a page or a sitemap links to enters the frontier, and its lease ends: one atomic step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crawlproject.core.admission import Admission
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.frontier.base import Frontier
from crawlproject.orderings.base import SEEDS_FIRST, BaseOrdering
from crawlproject.parts.listings.feeds import Feeds
from crawlproject.parts.verticals.series import next_page
from crawlproject.parts.verticals.site_template import SiteTemplates
from crawlproject.records import CrawlUrl, Fetch, Page
from crawlproject.storage.logs import Refusals


class Outlinks:
    """Scores the links of one crawl and offers them.

    ``feeds`` are offered, too, if they are read; of a series of ``relevant`` pages, ``longest_series`` are fetched in
    order, before all else (0: as others). ``templates`` say which page is next on sites of which a person knows better.
    """

    def __init__(
        self,
        admission: Admission,
        frontier: Frontier,
        ordering: BaseOrdering,
        feed: OrderingFeed,
        refusals: Refusals,
        feeds: Feeds | None = None,
        longest_series: int = 0,
        relevant: float = 0.0,
        templates: SiteTemplates | None = None,
    ) -> None:
        self._admission = admission
        self._frontier = frontier
        self._ordering = ordering
        self._feed = feed
        self._refusals = refusals
        self._feeds = feeds  # that pages name; None: nobody reads them
        self._longest_series = longest_series
        self._relevant = relevant
        self._templates = templates or SiteTemplates()
        self._positions: dict[str, int] = {}  # of pages that follow another in a series

    @contextmanager
    def ending(self, key: str, fetch: Fetch) -> Iterator[None]:
        """What is offered inside, the revision of what waits, and the end of the lease of ``key`` are one atomic step."""
        with self._frontier.batch():
            yield
            self._admission.update()
            self._frontier.done(key, fetch.rests_from, fetch.seconds)

    def follow(self, page: Page) -> None:
        """Offer the links of ``page`` that the ordering follows, the next page of its series, and its feeds."""
        for url in self._feed.follow(page):
            if url is not None:
                self._admission.offer(url)
            else:
                self._refusals.count("ordering/not_followed")
        if self._longest_series and page.relevance >= self._relevant:
            self._follow_series(page)
        for found in self._feeds.named(page) if self._feeds else ():
            self._admission.offer(found, any_extension=True)

    def _follow_series(self, page: Page) -> None:
        """Offer the next page of a series before all other links, and let no ordering revise that: so it is read in order."""
        links = ((link.url, link.anchor) for link in page.links)
        own = self._templates.of(page.url)
        following = (own.next if own else next_page)(page.url, links, page.related)
        position = self._positions.get(page.url, 1) + 1
        if following and position <= self._longest_series:
            self._positions.setdefault(following, position)
            self._admission.planted.add(following)
            depth = max(1, page.depth)
            self._admission.offer(CrawlUrl(following, SEEDS_FIRST / 2, depth, page.url, "", page.relevance))
