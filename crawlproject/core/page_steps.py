"""The steps of a page that has come through, one a pipeline; at the last its links enter the frontier, and its lease ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace

from crawlproject.core.admission import Admission
from crawlproject.core.history_writer import HistoryWriter
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.part import Parts
from crawlproject.core.peers import Peers
from crawlproject.frontier.base import Frontier
from crawlproject.options import Options
from crawlproject.pages.page_types import PageTypeInspector
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge, with_context_score
from crawlproject.records import CrawlUrl, Fetch, Page, Visit
from crawlproject.storage.logs import Refusals


class PageSteps:
    """Bytes to page to history to links. ``offer`` puts a URL by the rules of its kind."""

    def __init__(
        self,
        *,
        feed: OrderingFeed,
        frontier: Frontier,
        history: HistoryWriter,
        judge: TopicJudge,
        offer: Callable[[CrawlUrl], bool],
        options: Options,
        outlinks: Outlinks,
        parts: Parts,
        peers: Peers,
        reader: Reader,
    ) -> None:
        self.content_types = options.page_content_types
        self.max_bytes = options.page_max_bytes
        self._relevant = options.page_relevant
        self._feed = feed
        self._frontier = frontier
        self._history = history
        self._judge = judge
        self._offer = offer
        self._outlinks = outlinks
        self._parts = parts
        self._peers = peers
        self._reader = reader
        self._page_type = PageTypeInspector()
        self._examine = parts.bound("examine")
        self._before_links = parts.bound("before_links")
        self._kept = parts.bound("kept")
        self._offered = parts.bound("offered")
        self._judge_stored = parts.bound("judge_stored")

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
        """The page with what the parts found, until one finds that it has no content, or none that could be read.

        The shells of a site whose text scripts make are all alike: they are no duplicates, and teach no rules about its URLs.
        """
        page = self._page_type.inspect(page, fetch)
        for examine in self._examine:
            if page.page_type or page.needs_browser:
                break
            page = examine(page, fetch)
        return page

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
            for before_links in self._before_links:
                for url in before_links(page):
                    self._offer(url)
            if not page.repeats:
                self._outlinks.follow(page)
            for kept in self._kept:
                for url in kept(page, fetch):
                    self._offer(url)
            if page.is_kept:
                self._peers.count_page(page.url)
        for offered in self._offered:
            offered(page, fetch)

    def lead_on(self, page: Page) -> None:
        """Offer the links of a page that was fetched before, as they are worth now."""
        with self._frontier.batch():
            self._outlinks.follow(page)

    def stored(self, visit: Visit, inherited: tuple[float, ...], load: Callable[[str], bytes]) -> Page | None:
        """The page of a visit, read and judged again; None when ``load`` raises ``FileNotFoundError``."""
        try:
            body = load(visit.url)
        except FileNotFoundError:
            return None
        url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, inherited=inherited)
        unfollowed = "" if visit.links else "nofollow"  # as the headers of its response may have asked
        page = self.read(url, body, content_type=visit.content_type, robots_tag=unfollowed, now=visit.at)
        page = replace(
            page, relevance=visit.relevance, spam=visit.spam, duplicate_of=visit.duplicate_of, signs=visit.signs
        )
        for judge_stored in self._judge_stored:
            page = judge_stored(page, self.score_page)
        return self.score_links(page)


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
