"""The steps of a fetched page, one per pipeline. In the last step, its links enter the frontier and its lease ends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from crawlproject.pages.page_types import with_page_type
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import with_context_score
from crawlproject.records import NEEDS_BROWSER, NOT_KEPT, UNFOLLOWED, CrawlUrl, Fetch, Page, Visit
from crawlproject.storage.logs import NOFOLLOW
from crawlproject.urls.hosts import page_name

if TYPE_CHECKING:
    from crawlproject.core.services import Services


class PageSteps:
    """From bytes to page, history line and links. ``hook`` names the hook of the parts that examines the page."""

    hook: ClassVar[str] = "examine"

    def __init__(self, services: Services, reader: Reader) -> None:
        parts = services.parts
        self.content_types = services.options.page_content_types
        self.max_bytes = services.options.page_max_bytes
        self._relevant = services.options.page_relevant
        self._admission = services.admission
        self._checkpoints = services.checkpoints
        self._feed = services.feed
        self._folder = services.folder
        self._frontier = services.frontier
        self._history = services.history
        self._judge = services.judge
        self._offer = services.kinds.offer
        self._ordering = services.ordering
        self._peers = services.peers
        self.reader = reader
        self._examine = parts.bound(self.hook)
        self._before_links = parts.bound("before_links")
        self._links = parts.bound("links")
        self._kept = parts.bound("kept")
        self._offered = parts.bound("offered")
        self._judge_stored = parts.bound("judge_stored")

    def uncounted(self) -> PageSteps:
        """The same steps without an effect on the counters of the crawl, for pages that were read before."""
        steps = copy(self)
        steps.reader = self.reader.twin()
        return steps

    def read(
        self,
        url: CrawlUrl,
        body: bytes,
        *,
        content_type: str = "",
        robots_tag: str = "",
        tdm_reservation: str = "",
        now: float = 0.0,
    ) -> Page:
        """Parse the bytes of a page; its relevance and its context scores are still 0."""
        return self.reader.read(
            url.url,
            body[: self.max_bytes],
            content_type=content_type,
            robots_tag=robots_tag,
            tdm_reservation=tdm_reservation,
            now=now,
            depth=url.depth,
            parent=url.parent,
            score=url.score,
            inherited=url.inherited,
        )

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """Return the page with the findings of the parts, up to the one that finds no content, or none without a browser.

        The empty shells of a site that is made by scripts all look alike: they must neither count as duplicates nor teach
        rules about its URLs.
        """
        page = with_page_type(page)
        for examine in self._examine:
            if page.page_type or page.needs_browser:
                break
            page = examine(page, fetch)
        return page

    def score_page(self, page: Page) -> Page:
        """Return the page with its relevance to the topic (000 eq. 1).

        A page that needs a browser cannot be judged: it gets the mean relevance of the latest pages, for the sake of its links.
        """
        if page.needs_browser:
            return self._judge.presumed(page, self._folder.history.recent_relevance() or self._relevant)
        return self._judge.with_relevance(page)

    def score_links(self, page: Page) -> Page:
        """Return the page with the context scores of its links (003 section 4.4)."""
        scores = self._judge.context_scores(page.terms, [link.context_span for link in page.links])
        return replace(page, links=tuple(map(with_context_score, page.links, scores)))

    def visit(self, url: CrawlUrl, page: Page, body: bytes, fetch: Fetch) -> Visit:
        """Return the history line of the page. Store the page file, unless the page is not to be kept."""
        return self._history.line(
            url,
            fetch,
            page.signs,
            relevance=page.relevance,
            md5=self._store(page.url, body) if page.is_kept else "",
            digest=hashlib.md5(body, usedforsecurity=False).hexdigest(),
            size=len(body),
            title=page.title,
            links=len(page.links),
            error="" if page.is_kept else NEEDS_BROWSER if page.needs_browser else NOT_KEPT,
            parts=self._ordering.explain(url),
            duplicate_of=page.duplicate_of,
            replaces=page.replaces,
            spam=page.spam,
            topics=page.topics,
        )

    def _store(self, url: str, body: bytes) -> str:
        """Write the page file and return its name. If the crawl was killed before the links of a page were offered, the page is
        fetched again and may have changed: its first file stays, because its line and its item describe that one.
        """
        if url in self._folder.history and url in self._folder.pages:
            return page_name(url)
        return self._folder.store(url, body)

    def keep(self, page: Page, visit: Visit) -> None:
        """Add the page to the link graph, the items and, last, the history."""
        if not self._history.keep(page, visit) and not page.repeats:
            self._feed.observe(page)  # the crawl was killed before its links were offered: they may have changed

    def offer(self, page: Page, fetch: Fetch) -> None:
        """Put the page's links into the frontier, and end its lease, in one atomic step."""
        with self._frontier.batch():
            for before_links in self._before_links:
                for url in before_links(page):
                    self._offer(url)
            if page.repeats:
                self._follow_copy(page)
            else:
                self.follow(page)
            if UNFOLLOWED in page.signs:
                self._folder.refusals.add(NOFOLLOW, page.url, page.parent)
                self._folder.refusals.count(NOFOLLOW, int(page.signs[UNFOLLOWED]) - 1)
            for kept in self._kept:
                for url in kept(page, fetch):
                    self._offer(url)
            if page.is_kept:
                self._peers.count_page(page.url)
            self._admission.update()
            self._frontier.done(page.url, fetch.rests_from, fetch.seconds)
        for offered in self._offered:
            offered(page, fetch)
        self._checkpoints.pass_time(fetch.at)

    def follow(self, page: Page) -> None:
        """Offer the links of ``page`` that the ordering follows, and further URLs that the parts find."""
        for url in self._feed.follow(page):
            if url is not None:
                self._admission.offer(url)
            else:
                self._folder.refusals.count("ordering/not_followed")
        for links in self._links:
            for url in links(page):
                self._offer(url)

    def _follow_copy(self, page: Page) -> None:
        """Offer the new links of a duplicate: most have the same targets as those of the first page."""
        for url in self._feed.copied(page):
            if url.url not in self._frontier:
                self._admission.offer(url)

    def stored(self, visit: Visit, inherited: tuple[float, ...], load: Callable[[str], bytes]) -> Page | None:
        """Read and judge the page of a visit again; None when ``load`` raises ``FileNotFoundError``."""
        try:
            body = load(visit.url)
        except FileNotFoundError:
            return None
        url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, inherited=inherited)
        unfollowed = "" if visit.links else "nofollow"  # the headers of its response may have asked for that
        page = self.read(url, body, content_type=visit.content_type, robots_tag=unfollowed, now=visit.at)
        page = replace(
            page,
            relevance=visit.relevance,
            spam=visit.spam,
            duplicate_of=visit.duplicate_of,
            replaces=visit.replaces,
            signs=visit.signs,
        )
        for judge_stored in self._judge_stored:
            page = judge_stored(page, self.score_page)
        return self.score_links(page)
