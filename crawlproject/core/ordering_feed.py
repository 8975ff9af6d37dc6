"""Calls an ordering for each finished fetch, both live and in a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from crawlproject.core.parts import Parts
from crawlproject.orderings.base import BaseOrdering
from crawlproject.pages.text.relevance import with_context_score
from crawlproject.records import JUDGED, UNINFORMATIVE, CrawlUrl, FetchEvent, Link, Page
from crawlproject.storage.logs import write_agents

AGENTS_KEPT = 1_000
IMPLIED_KEPT = 100_000
NO_PARTS = Parts()


class OrderingFeed:
    """Turns events into calls of an ordering.

    The ordering sees each page discounted by its spam score; a page that a person has judged (``judgments``, by URL) has a
    relevance of 1 or 0 instead. From a page that repeats another, or whose file is gone, it learns only that the URL no longer
    waits. From a listing, and from a page that needs a browser, it learns the links.
    The parts decide which links of a page are followed (``Part.followed``), and add others (``Part.implied``).
    """

    def __init__(self, ordering: BaseOrdering, judgments: Mapping[str, bool], parts: Parts = NO_PARTS) -> None:
        self.ordering = ordering
        self.judgments = judgments
        self._followed = parts.bound("followed")
        self._implied = parts.bound("implied")
        self._offered: set[str] = set()  # URLs of implied links
        self._latest: tuple[Page, Page] | None = None  # orderings recognise a page object just observed

    def replace(self, ordering: BaseOrdering, judgments: Mapping[str, bool]) -> None:
        """Give the ordering what ``ordering``, of the same class, has learned with these judgments."""
        self.ordering.become(ordering)
        self.judgments = judgments
        self._latest = None

    def save_agents(self, folder: Path) -> None:
        """Write the life records of the ordering's agents, if it has any. Raises ``StorageFailed``."""
        lives = self.ordering.family(AGENTS_KEPT)
        if lives:
            write_agents(folder, [asdict(life) for life in lives])

    def learn(self, event: FetchEvent) -> None:
        """Let the ordering learn from a finished fetch."""
        visit = event.visit
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
        """Let the ordering learn from a page."""
        self.ordering.observe(self._discounted(page))

    def follow(self, page: Page) -> Iterator[CrawlUrl | None]:
        """Yield the links of ``page`` as records with their scores; None for each link that the ordering does not follow."""
        for followed in self._followed:
            page = followed(page)
        page = self._discounted(page)
        yield from self._scored(page)
        if implied := tuple(self._implied_by(page)):
            page = replace(page, links=implied)
            self.ordering.implied(page)
            yield from filter(None, self._scored(page))

    def _scored(self, page: Page) -> Iterator[CrawlUrl | None]:
        inherited = self.ordering.inherited_for_links(page)
        for link in page.links:
            score = self.ordering.score(page, link)
            if score is None:
                yield None
            else:
                depth, context_score = page.depth + 1, link.context_score
                yield CrawlUrl(link.url, score, depth, page.url, link.anchor, context_score, 0.0, inherited)

    def _implied_by(self, page: Page) -> Iterator[Link]:
        """Yield links that no earlier page has implied. When very many are remembered, all are forgotten, which is harmless."""
        for implied in self._implied:
            for link in implied(page):
                if link.url not in self._offered:
                    if len(self._offered) >= IMPLIED_KEPT:
                        self._offered.clear()
                    self._offered.add(link.url)
                    yield link

    def copied(self, page: Page) -> Iterator[CrawlUrl]:
        """Yield the links of a duplicate. They wait behind all others, with its score: the ordering has not seen the page."""
        for followed in self._followed:
            page = followed(page)
        for link in page.links:
            found = CrawlUrl(link.url, page.score, page.depth + 1, page.url, link.anchor, link.context_score)
            yield replace(found, precedence=UNINFORMATIVE)

    def _discounted(self, page: Page) -> Page:
        if self._latest is None or self._latest[0] is not page:
            seen = _honest(page) if page.spam else page
            if page.url in self.judgments:
                worth = float(self.judgments[page.url])
                seen = replace(seen, relevance=worth, signs={**page.signs, JUDGED: worth})
            self._latest = page, seen
        return self._latest[1]


def _honest(page: Page) -> Page:
    """Discount a page that looks like spam: reduce its relevance and the context scores of its links."""
    trust = 1.0 - page.spam
    links = tuple(with_context_score(link, link.context_score * trust) for link in page.links)
    return replace(page, relevance=page.relevance * trust, links=links)
