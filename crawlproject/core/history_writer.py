"""Writes finished fetches to the crawl folder; then everything that learns in the crawl learns from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crawlproject.core.peers import Peers
from crawlproject.frontier.base import DurableFrontier, Frontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import AGENT, CRAWL_DELAY, RETRY_AFTER, CrawlUrl, Fetch, FetchEvent, Page, Visit
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.urls.hosts import host_of


class HistoryWriter:
    """Writes the history of one crawl. A URL enters it once, and once more for each further visit.

    First the learners ``own`` of the core, then those of the ``parts``, are called with each finished fetch; for further visits,
    only those of the parts. Methods raise ``StorageFailed`` when the disk refuses.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        ordering: BaseOrdering,
        own: Sequence[Callable[[FetchEvent], None]],
        parts: Sequence[Callable[[FetchEvent], None]],
        peers: Peers,
        frontier: Frontier,
    ) -> None:
        self._folder = folder
        self._record_lines = frontier.record_lines if isinstance(frontier, DurableFrontier) else None
        self._ordering = ordering
        self._learning = (*own, *parts)
        self._learning_again = parts
        self._peers = peers
        self._crawl_delays: dict[str, float] = {}  # hosts whose robots.txt asks for one; learned anew after a resume

    def crawl_delay(self, host: str, seconds: float) -> None:
        """The robots.txt of ``host`` asks for this many seconds between visits; 0: for none any more."""
        if seconds > 0:
            self._crawl_delays[host] = seconds
        else:
            self._crawl_delays.pop(host, None)

    def keep(self, page: Page, visit: Visit) -> bool:
        """Add a page to the link graph, the items and, last, the history. False: the history contains it already."""
        if page.url in self._folder.history:
            return False
        self._folder.keep(page, visit)
        self._apply(visit, page)
        return True

    def end(
        self, url: CrawlUrl, fetch: Fetch, *, error: str = "", redirect: str = "", page: Page | None = None
    ) -> None:
        """Add a fetch that returned no page to the history; ``page`` is set for a listing, which only has links."""
        if url.url in self._folder.history:
            return
        visit = self.line(url, fetch, {}, error=error, redirect=redirect, links=len(page.links) if page else 0)
        self._folder.note(visit)
        self._apply(visit, page)

    def again(self, visit: Visit, page: Page | None = None) -> None:
        """Add a further visit of a page to the history; if the text has changed, also its item and its new links."""
        self._folder.keep_again(visit, page)
        self._tell_frontier()
        event = FetchEvent(visit, [link.url for link in page.links] if page else (), lambda: page)
        for learn in self._learning_again:
            learn(event)
        self._peers.fetched(event)

    def refused(self, url: CrawlUrl, reason: str) -> None:
        """Count a URL that was not fetched."""
        self._folder.refusals.add(reason, url.url, url.parent)
        self._peers.refused(url.url)

    def _apply(self, visit: Visit, page: Page | None = None) -> None:
        """Let everything in this crawl learn from a fetch that has just entered the history."""
        self._tell_frontier()
        links = [link.url for link in page.links] if page and visit.is_page else ()
        event = FetchEvent(visit, links, lambda: page)
        for learn in self._learning:
            learn(event)
        self._peers.fetched(event)

    def _tell_frontier(self) -> None:
        """Tell the frontier the number of history lines before it marks the URL of the last line as done."""
        if self._record_lines:
            self._record_lines(self._folder.history.lines)

    def line(self, url: CrawlUrl, fetch: Fetch, signs: Mapping[str, float], **fields: Any) -> Visit:
        """Make a line of the history from the URL, the fetch, and other ``fields`` of ``Visit``.

        The rest that the host asks for, and the agent that fetched the page, are added to its ``signs``.
        """
        own: dict[str, float] = {}
        if self._crawl_delays and (delay := self._crawl_delays.get(host_of(url.url))) is not None:
            own[CRAWL_DELAY] = delay
        if fetch.asked_rest:
            own[RETRY_AFTER] = fetch.asked_rest
        if (agent := self._ordering.agent(url)) is not None:
            own[AGENT] = float(agent)
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
            kind=url.kind,
            signs={**signs, **own} if own else signs,
            content_type=fetch.content_type,
            etag=fetch.etag,
            last_modified=fetch.last_modified,
            lifetime=fetch.lifetime,
            **fields,
        )
