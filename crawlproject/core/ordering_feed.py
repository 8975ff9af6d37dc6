"""What an ordering is asked and given for each fetch that ended, live and on replay alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from crawlproject.core.examiner import honest
from crawlproject.orderings.base import BaseOrdering
from crawlproject.parts.forms.result_page import is_view
from crawlproject.records import JUDGED, QUERY, CrawlUrl, FetchEvent, Page
from crawlproject.storage.logs import write_agents

AGENTS_KEPT = 1_000


class OrderingFeed:
    """A learner: turns events into the calls of an ordering.

    The ordering sees each page discounted by its spam score; one that a person has judged (``judgments``, by URL) with a
    relevance of 1 or 0 instead. It learns nothing from a page that repeats another, or whose
    file is gone, but that the URL no longer waits. Of a sitemap, and of a page that needs a browser, it learns the links.
    """

    def __init__(self, ordering: BaseOrdering) -> None:
        self.ordering = ordering
        self.judgments: Mapping[str, bool] = {}
        self.told: Callable[[FetchEvent], None] | None = None  # hears of each event, too
        self._latest: tuple[Page, Page] | None = None  # orderings recognise a page that they have just observed

    def replace(self, ordering: BaseOrdering, judgments: Mapping[str, bool]) -> None:
        """The ordering knows what ``ordering``, of the same class, has learned with these judgments."""
        self.ordering.become(ordering)
        self.judgments = judgments
        self._latest = None

    def save_agents(self, folder: Path) -> None:
        """Write the lives of the ordering's agents, if it has any. Raises ``StorageFailed``."""
        lives = self.ordering.family(AGENTS_KEPT)
        if lives:
            write_agents(folder, [asdict(life) for life in lives])

    def apply(self, event: FetchEvent) -> None:
        visit = event.visit
        if self.told is not None:
            self.told(event)
        if visit.redirect:
            self.ordering.redirected(visit.url, visit.redirect)
        elif not visit.leads_on or visit.repeats:
            self.ordering.failed(visit.url)
        elif (page := event.page()) is None:
            self.ordering.refused(visit.url)
        elif not visit.is_page:
            self.ordering.listed(page)
        else:
            self.observe(page)

    def observe(self, page: Page) -> None:
        """The ordering learns from a page."""
        self.ordering.observe(self._discounted(page))

    def follow(self, page: Page) -> Iterator[CrawlUrl | None]:
        """The links of ``page`` as records with their scores; None for each link that the ordering does not follow.

        A result page of a search form leads to its items. Its other views are fetched as queries, or not at all.
        """
        if QUERY in page.signs:
            page = replace(page, links=tuple(link for link in page.links if not is_view(link.url, page.url)))
        page, inherited = self._discounted(page), self.inherited(page)
        for link in page.links:
            score = self.ordering.score(page, link)
            if score is None:
                yield None
            else:
                depth, context_score = page.depth + 1, link.context_score
                yield CrawlUrl(link.url, score, depth, page.url, link.anchor, context_score, 0.0, inherited)

    def inherited(self, page: Page) -> tuple[float, ...]:
        """What the links of ``page`` carry down the path."""
        return self.ordering.inherited_for_links(self._discounted(page))

    def _discounted(self, page: Page) -> Page:
        if self._latest is None or self._latest[0] is not page:
            self._latest = page, self._judged(honest(page))
        return self._latest[1]

    def _judged(self, page: Page) -> Page:
        if page.url not in self.judgments:
            return page
        worth = float(self.judgments[page.url])
        return replace(page, relevance=worth, signs={**page.signs, JUDGED: worth})
