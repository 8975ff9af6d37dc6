"""The steps of a page that has come through, one a pipeline."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlproject.core.history_writer import HistoryWriter
from crawlproject.core.inspectors import Inspection
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.outlinks import Outlinks
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.options import Options
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge, with_context_score
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.records import CrawlUrl, Fetch, Page, Visit

if TYPE_CHECKING:
    from crawlproject.parts.forms.forms import Forms


class PageSteps:
    """Bytes to page to history to links."""

    def __init__(
        self,
        *,
        feed: OrderingFeed,
        frontier: Frontier,
        history: HistoryWriter,
        inspection: Inspection,
        judge: TopicJudge,
        options: Options,
        outlinks: Outlinks,
        reader: Reader,
        revisits: Revisits | None = None,
        forms: Forms | None = None,
    ) -> None:
        self.content_types = options.page_content_types
        self.max_bytes = options.page_max_bytes
        self._relevant = options.page_relevant
        self._examiner = inspection.examiner
        self._feed = feed
        self._forms = forms
        self._frontier = frontier
        self._shared = frontier if isinstance(frontier, SharedFrontier) else None
        self._history = history
        self._judge = judge
        self._outlinks = outlinks
        self._probes = inspection.probes
        self._reader = reader
        self._revisits = revisits

    def uncounted(self) -> PageSteps:
        """The same steps for pages that were read before: the counters of the crawl do not change."""
        steps = copy(self)
        steps._reader = self._reader.twin()
        return steps

    def read(
        self, url: CrawlUrl, body: bytes, *, content_type: str = "", robots_tag: str = "", now: float = 0.0
    ) -> Page:
        """Bytes to page; relevance and context scores are still 0."""
        return self._reader.read(
            url.url,
            body[: self.max_bytes],
            content_type=content_type,
            robots_tag=robots_tag,
            now=now,
            depth=url.depth,
            parent=url.parent,
            score=url.score,
            inherited=url.inherited,
        )

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """The page with what the inspectors found: its ``page_type`` when it has no content, a duplicate, spam."""
        return self._examiner.examine(page, fetch)

    def score_page(self, page: Page) -> Page:
        """The page with its relevance to the topic (000 eq. 1).

        What needs a browser cannot be judged: it counts as the mean of the latest pages, for the sake of its links.
        """
        if page.needs_browser:
            return self._judge.presumed(page, self._history.recent_relevance() or self._relevant)
        return self._judge.with_relevance(page)

    def score_links(self, page: Page) -> Page:
        """The page whose links carry their context scores (003 section 4.4)."""
        scores = self._judge.context_scores(page.terms, [link.context_span for link in page.links])
        links = tuple(with_context_score(link, score) for link, score in zip(page.links, scores, strict=True))
        return replace(page, links=links)

    def visit(self, url: CrawlUrl, page: Page, body: bytes, fetch: Fetch) -> Visit:
        """The history line of the page; stores the page file unless the page asks not to be kept."""
        return self._history.visit(url, page, body, fetch)

    def keep(self, page: Page, visit: Visit) -> None:
        """Add the page to the link graph, the items and, last, the history."""
        if not self._history.keep(page, visit) and not page.repeats:
            self._feed.observe(page)  # the crawl was killed before its links were offered: now they may be others

    def offer(self, page: Page, fetch: Fetch) -> None:
        """Put the page's links into the frontier, and end its lease. The links of a duplicate were followed elsewhere."""
        with self._outlinks.ending(page.url, fetch):
            if self._forms is not None:
                self._forms.ask()  # first: what a result page links to may be its next page
            if not page.repeats:
                self._outlinks.follow(page)
            self._frontier.put_many(self._probes.wanted(page))
            if self._revisits is not None:
                self._frontier.put_many(self._revisits.after_first_visit(page.url, fetch.at, page.text))
            if self._shared is not None and page.is_kept:
                self._shared.count_page(page.url)
        if self._revisits is not None:
            self._retire_surplus(self._revisits, fetch.at)

    def lead_on(self, page: Page) -> None:
        """Offer the links of a page that was fetched before, as they are worth now."""
        with self._frontier.batch():
            self._outlinks.follow(page)

    def _retire_surplus(self, revisits: Revisits, now: float) -> None:
        """The collection keeps its size: the pages that are worth least leave it."""
        for page in revisits.surplus():
            self._history.retired(page, now)
            revisits.retire(page, now)
