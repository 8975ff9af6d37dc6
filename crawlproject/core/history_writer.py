"""Finished fetches enter the crawl folder; then everything that learns in the crawl learns from them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crawlproject.core.learner import Learner
from crawlproject.orderings.base import BaseOrdering
from crawlproject.parts.listings.listing import Listing
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.records import (
    AGENT,
    CRAWL_DELAY,
    NEEDS_BROWSER,
    NOT_KEPT,
    QUERY,
    RETRY_AFTER,
    CrawlUrl,
    Fetch,
    FetchEvent,
    Page,
    Visit,
)
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.logs import RETIRED
from crawlproject.urls.hosts import host_of
from crawlproject.urls.post import POSTED, is_post

if TYPE_CHECKING:
    from crawlproject.parts.workers.shared_learning import SharedLearning


class HistoryWriter:
    """Writes the history of one crawl. A URL enters it once, and once more for each further visit.

    ``learners`` learn from each finished fetch, in this order, ``again`` from those of further visits. Methods raise
    ``StorageFailed`` when the disk refuses.
    """

    def __init__(
        self, folder: CrawlFolder, ordering: BaseOrdering, learners: Sequence[Learner], again: Sequence[Learner] = ()
    ) -> None:
        self._folder = folder
        self._ordering = ordering
        self._learners = learners
        self._learners_again = again
        self.told: SharedLearning | None = None  # tells other workers
        self._crawl_delays: dict[str, float] = {}  # hosts whose robots.txt asks for one; asked again after a resume

    def crawl_delay(self, host: str, seconds: float) -> None:
        """The robots.txt of ``host`` asks for this long between visits; 0 takes it back."""
        if seconds > 0:
            self._crawl_delays[host] = seconds
        else:
            self._crawl_delays.pop(host, None)

    def visit(self, url: CrawlUrl, page: Page, body: bytes, fetch: Fetch) -> Visit:
        """The history line of a fetched page; stores the page file if the page is kept."""
        return self.line(
            url,
            fetch,
            page.signs,
            relevance=page.relevance,
            md5=self._folder.store(page.url, body) if page.is_kept else "",
            digest=hashlib.md5(body, usedforsecurity=False).hexdigest(),
            size=len(body),
            title=page.title,
            links=len(page.links),
            error="" if page.is_kept else NEEDS_BROWSER if page.needs_browser else NOT_KEPT,
            parts=self._ordering.explain(url),
            duplicate_of=page.duplicate_of,
            spam=page.spam,
            topics=page.topics,
        )

    def recent_relevance(self) -> float:
        """The mean relevance of the latest pages, 0 before the first."""
        return self._folder.history.recent_relevance()

    def keep(self, page: Page, visit: Visit) -> bool:
        """Add a page to the link graph, the items and, last, the history. False: it is there already."""
        if page.url in self._folder.history:
            return False
        self._folder.keep(page, visit)
        self._apply(visit, page)
        return True

    def end(
        self, url: CrawlUrl, fetch: Fetch, *, error: str = "", redirect: str = "", listed: Listing | None = None
    ) -> None:
        """Add a fetch that brought no page to the history."""
        if listed is not None:
            for reason, count in ((f"{error}/foreign", listed.foreign), (f"{error}/surplus", listed.surplus)):
                if count:
                    self._folder.refusals.count(reason, count)
        if url.url in self._folder.history:
            return
        links = len(listed.entries) if listed else 0
        visit = self.line(url, fetch, {}, error=error, redirect=redirect, links=links)
        if listed is None:
            self._folder.note(visit)
        else:
            self._folder.note_sitemap(visit, listed.entries)
        self._apply(visit, listed.page if listed else None)

    def store(self, url: str, body: bytes, version: int) -> str:
        """Store another text of a page whose version ``version`` is stored; returns the name of the page file."""
        return self._folder.store(url, body, version)

    def load(self, url: str) -> bytes:
        """The stored body of a page. Raises ``FileNotFoundError``."""
        return self._folder.pages.load(url)

    def again(self, visit: Visit, page: Page | None = None) -> None:
        """Add a further visit of a page to the history; with another text also its item and its new links."""
        self._folder.keep_again(visit, page)
        event = FetchEvent(visit, [link.url for link in page.links] if page else (), lambda: page)
        for learner in self._learners_again:
            learner.apply(event)
        if self.told is not None:
            self.told.fetched(event)

    def retired(self, page: CollectedPage, now: float) -> None:
        """Say to readers of the items that a page is no part of the collection any more."""
        self._folder.withdraw(page.url, now, page.version, RETIRED)

    def refused(self, url: CrawlUrl, reason: str) -> None:
        """Count a URL that was not fetched."""
        self._folder.refusals.add(reason, url.url, url.parent)
        if self.told is not None:
            self.told.refused(url.url)

    def _apply(self, visit: Visit, page: Page | None = None) -> None:
        """All that learns in this crawl learns from a fetch that has just entered the history."""
        links = [link.url for link in page.links] if page and visit.is_page else ()
        event = FetchEvent(visit, links, lambda: page)
        for learner in self._learners:
            learner.apply(event)
        if self.told is not None:
            self.told.fetched(event)

    def line(self, url: CrawlUrl, fetch: Fetch, signs: Mapping[str, float], **fields: Any) -> Visit:
        """A line of the history: what the frontier and the fetch say, and ``fields`` of ``Visit``."""
        return Visit(
            url=url.url,
            status=fetch.status,
            at=fetch.at,
            seconds=fetch.seconds,
            score=url.score,
            depth=url.depth,
            parent=url.parent,
            anchor=url.anchor,
            context_score=url.context_score,
            signs=self._signs(url, fetch, signs),
            content_type=fetch.content_type,
            etag=fetch.etag,
            last_modified=fetch.last_modified,
            lifetime=fetch.lifetime,
            **fields,
        )

    def _signs(self, url: CrawlUrl, fetch: Fetch, signs: Mapping[str, float]) -> Mapping[str, float]:
        """The signs of a visit: those of its page, the rest that its host asks for, the agent that fetched it, and
        that it was a query, and a POST."""
        delay = self._crawl_delays.get(host_of(url.url)) if self._crawl_delays else None
        agent = self._ordering.agent(url)
        query = 1.0 if url.kind == QUERY else None
        post = query if query and is_post(url.url) else None
        own = (
            (CRAWL_DELAY, delay),
            (RETRY_AFTER, fetch.asked_rest or None),
            (AGENT, agent),
            (QUERY, query),
            (POSTED, post),
        )
        found = {name: float(value) for name, value in own if value is not None}
        return {**signs, **found} if found else signs
