"""What an ordering is asked and given for each fetch that ended, live and on replay alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from crawlproject.deep_web.result_page import is_view
from crawlproject.inspection.examiner import honest
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import QUERY, CrawlUrl, FetchEvent, Page


class OrderingFeed:
    """A learner: turns events into the calls of an ordering.

    The ordering sees each page discounted by its spam score. It learns nothing from a page that repeats another, or whose
    file is gone, but that the URL no longer waits. Of a sitemap, and of a page that needs a browser, it learns the links.
    """

    def __init__(self, ordering: BaseOrdering) -> None:
        self._ordering = ordering
        self._latest: tuple[Page, Page] | None = None  # orderings recognise a page that they have just observed

    def apply(self, event: FetchEvent) -> None:
        visit = event.visit
        if visit.redirect:
            self._ordering.redirected(visit.url, visit.redirect)
        elif not visit.leads_on or visit.repeats:
            self._ordering.failed(visit.url)
        elif (page := event.page()) is None:
            self._ordering.refused(visit.url)
        elif not visit.is_page:
            self._ordering.listed(page)
        else:
            self.observe(page)

    def observe(self, page: Page) -> None:
        """The ordering learns from a page."""
        self._ordering.observe(self._discounted(page))

    def follow(self, page: Page) -> Iterator[CrawlUrl | None]:
        """The links of ``page`` as records with their scores; None for each link that the ordering does not follow.

        A result page of a search form leads to its items. Its other views are fetched as queries, or not at all.
        """
        if QUERY in page.signs:
            page = replace(page, links=tuple(link for link in page.links if not is_view(link.url, page.url)))
        page, inherited = self._discounted(page), self.inherited(page)
        for link in page.links:
            score = self._ordering.score(page, link)
            if score is None:
                yield None
            else:
                depth, context_score = page.depth + 1, link.context_score
                yield CrawlUrl(link.url, score, depth, page.url, link.anchor, context_score, 0.0, inherited)

    def inherited(self, page: Page) -> tuple[float, ...]:
        """What the links of ``page`` carry down the path."""
        return self._ordering.inherited_for_links(self._discounted(page))

    def _discounted(self, page: Page) -> Page:
        if self._latest is None or self._latest[0] is not page:
            self._latest = page, honest(page)
        return self._latest[1]
