"""One crawl: the parts, and the steps of the life of a URL.

Scrapy's scheduler, spider and pipelines call these steps one by one; a rehearsal calls the same steps in a loop without
Scrapy. Whatever happens to a URL happens here, so that both are the same crawl.

    plant ─► take ─► read ─► judge ─► keep ─► offer ─► end          refuse / fail / redirect on the way out
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crawlproject.errors import InvalidUrl
from crawlproject.frontier.base import CountingFrontier, Frontier
from crawlproject.frontier.shared import FULL, HOST_FULL, SharedFrontier
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.reading import Reader
from crawlproject.records import CrawlUrl, Link, Page, Topic, Visit
from crawlproject.repository.folder import CrawlFolder
from crawlproject.text.judge import TopicJudge, with_context_score
from crawlproject.urls.hosts import host_of
from crawlproject.urls.traps import TrapFilter

UNREACHABLE = "robots/unreachable"
NOT_KEPT = "noindex"  # what the history says of a page that was read and asked not to be kept
TOO_DEEP = "trap/too_deep"  # the one refusal that a URL may escape on another path


@dataclass(frozen=True, slots=True)
class Fetch:
    """How a fetch went: HTTP status, end (seconds since the epoch), duration in seconds.

    ``asked_rest`` is for how many seconds the server asked to be left alone (``Retry-After``).
    """

    status: int
    at: float
    seconds: float
    asked_rest: float = 0.0

    @property
    def rests_from(self) -> float:
        """When the host's rest begins: what it asked for comes on top."""
        return self.at + self.asked_rest


class Crawl:
    """The crawl of one topic. Not thread-safe; every method is quick enough for an event loop.

    Methods that write raise ``StorageFailed`` when the disk refuses.
    """

    def __init__(
        self,
        *,
        topic: Topic,
        options: Options,
        ordering: BaseOrdering,
        judge: TopicJudge,
        reader: Reader,
        canonicalize: Callable[..., str],
        traps: TrapFilter,
        frontier: Frontier,
        folder: CrawlFolder,
    ) -> None:
        self.topic = topic
        self.options = options
        self.ordering = ordering
        self.judge = judge
        self.reader = reader
        self.canonicalize = canonicalize
        self.traps = traps
        self.frontier = frontier
        self.folder = folder
        self.shared = frontier if isinstance(frontier, SharedFrontier) else None  # with other workers of the same crawl
        if self.shared is not None:
            self.shared.when_turned_away(self._turned_away)
        self._domains = tuple(domain.lower().lstrip(".") for domain in options.crawl_allowed_domains)
        self._planted: set[str] = set()  # seeds, and where seeds redirect to

    # ------------------------------------------------------------ the way in

    def plant(self) -> None:
        """Put the seeds into the frontier. Seeds pass the scope and trap rules like every URL."""
        for seed in self.topic.seeds:
            self._offer_one(CrawlUrl(url=seed, score=self.ordering.seed_score(seed)))

    def seed(self, text: str, score: float | None = None) -> CrawlUrl | None:
        """The record of a seed that is brought while the crawl runs; None when it is refused, which is counted."""
        url = canonical_or_none(self.canonicalize, text)
        reason = self.refusal(url, 0) if url else "seed/no_url"
        if url is None or reason:
            self.folder.refusals.add(reason or "", url or text)
            return None
        self._planted.add(url)
        return CrawlUrl(url, self.ordering.seed_score(url) if score is None else score)

    def recount(self) -> None:
        """After a resume: tell the trap rules how many URLs of each host were admitted before, and find the seeds again.

        Not with a frontier that counts the hosts' URLs itself: it is not asked for all that waits in it.
        """
        self._planted.update(self.folder.history.seeds_led_to)
        if self.shared is not None or isinstance(self.frontier, CountingFrontier):
            return
        for url in self.folder.history:
            self.traps.admitted(url)
        for waiting in self.frontier.waiting():
            if waiting.url not in self.folder.history:  # one that was killed between its history line and its links
                self.traps.admitted(waiting.url)

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the next URL, or None: nobody is eligible, or the budget of pages is spent or in flight."""
        if self.budget_in_flight():
            return None
        if self.shared is not None and self.ordering.puts_aside and not self.shared.pending():
            self.ordering.resumed(())  # others have fetched what it thinks is waiting: it may recall the rest
        with self.frontier.batch():
            self._recall()
            return self.frontier.take(now)

    def budget_in_flight(self) -> bool:
        """Whether the open leases may already fill ``CRAWL_MAX_PAGES``; a shared frontier sees to that itself."""
        if self.shared is not None:
            return self.spent
        budget = self.options.crawl_max_pages
        return bool(budget) and self.pages + self.frontier.leases() >= budget

    @property
    def spent(self) -> bool:
        """Whether the budget of pages is spent, by all workers together."""
        pages = self.shared.pages() if self.shared is not None else self.pages
        return 0 < self.options.crawl_max_pages <= pages

    def refusal(self, url: str, depth: int) -> str | None:
        """Why a canonical URL may not enter, as ``component/rule``; None: it may."""
        if self._domains and not self._in_scope(host_of(url)):
            return "scope/domain"
        rule = self.traps.refusal(url, depth)
        return f"trap/{rule}" if rule else None

    def is_barred(self, url: str, depth: int) -> bool:
        """Whether a canonical URL may not enter, and on no other path either."""
        return self.refusal(url, depth) not in (None, TOO_DEEP)

    # ------------------------------------------------------------ a page arrives

    def read(self, url: CrawlUrl, body: bytes, *, content_type: str = "", robots_tag: str = "") -> Page:
        """Bytes to page; relevance and context scores are still 0."""
        return self.reader.read(
            url.url,
            body[: self.options.page_max_bytes],
            content_type=content_type,
            robots_tag=robots_tag,
            depth=url.depth,
            parent=url.parent,
            score=url.score,
            inherited=url.inherited,
        )

    def weigh(self, page: Page) -> Page:
        """The page with its relevance to the topic (000 eq. 1)."""
        return replace(page, relevance=self.judge.relevance(page.counts))

    def weigh_links(self, page: Page) -> Page:
        """The page whose links carry their context scores (003 section 4.4)."""
        scores = self.judge.context_scores(page.terms, [link.context_span for link in page.links])
        links = tuple(with_context_score(link, score) for link, score in zip(page.links, scores, strict=True))
        return replace(page, links=links)

    def visit(self, url: CrawlUrl, page: Page, body: bytes, fetch: Fetch) -> Visit:
        """The history line of a fetched page; stores the page file unless the page asks not to be kept."""
        return Visit(
            url=page.url,
            status=fetch.status,
            at=fetch.at,
            seconds=fetch.seconds,
            relevance=page.relevance,
            score=url.score,
            depth=url.depth,
            parent=url.parent,
            anchor=url.anchor,
            context_score=url.context_score,
            md5=self.folder.store(page.url, body) if page.indexable else "",
            digest=hashlib.md5(body, usedforsecurity=False).hexdigest(),
            size=len(body),
            title=page.title,
            links=len(page.links),
            error="" if page.indexable else NOT_KEPT,
            parts=self.ordering.explain(url),
        )

    def keep(self, page: Page, visit: Visit) -> None:
        """Add the page to the link graph, the items and, last, the history. A URL enters each of them once."""
        if page.url not in self.folder.history:
            self.folder.keep(page, visit)

    def offer(self, page: Page, fetch: Fetch) -> None:
        """Score the page's links, put them into the frontier, and end the page's lease: one atomic step."""
        self.ordering.observe(page)
        inherited = self.ordering.bequeath(page)
        with self.frontier.batch():
            for link in page.links:
                score = self.ordering.score(page, link)
                if score is not None:
                    self._offer_link(page, link, score, inherited)
                elif not self.ordering.puts_aside:
                    self.folder.refusals.count("ordering/not_followed")
            self.rescore(self.ordering.revise())
            self._put_aside()
            self._recall()
            if self.shared is not None and page.indexable:
                self.shared.count_page(page.url)
            self.frontier.done(page.url, fetch.rests_from, fetch.seconds)

    def rescore(self, revised: Iterable[tuple[str, float]]) -> None:
        """Pass new scores on to the frontier. Seeds keep theirs, whatever an ordering makes of the links to them."""
        for url, score in revised:
            if url not in self._planted:
                self.frontier.rescore(url, score)

    # ------------------------------------------------------------ the ways out

    def refuse(self, url: str, reason: str, parent: str | None = None) -> None:
        """End a lease without a fetch (robots.txt, a trap found late). ``reason`` reads ``component/rule``.

        An unreachable host was tried: its pick counts under the k rule, as it would for a page that is not there.
        """
        self.folder.refusals.add(reason, url, parent)
        if reason == UNREACHABLE:
            self.ordering.failed(url)
        else:
            self.ordering.refused(url)
        self.frontier.drop(url, picked=reason == UNREACHABLE)

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """End a lease whose fetch brought no page: an HTTP error, a broken connection, an unwanted content type."""
        self._record_end(url, fetch, error=error)
        self.ordering.failed(url.url)
        self.frontier.done(url.url, fetch.rests_from, fetch.seconds)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """End a lease that was answered with a redirect, and offer the canonical ``target`` in its place.

        The target inherits score, depth and parent. False: it was refused or is known.
        """
        self._record_end(url, fetch, redirect=target)
        self.ordering.redirected(url.url, target)
        with self.frontier.batch():
            offered = self._offer_one(replace(url, url=target, request=None))
            self.frontier.done(url.url, fetch.rests_from, fetch.seconds)
        return offered

    def _record_end(self, url: CrawlUrl, fetch: Fetch, *, error: str = "", redirect: str = "") -> None:
        visit = Visit(
            url=url.url,
            status=fetch.status,
            at=fetch.at,
            seconds=fetch.seconds,
            score=url.score,
            depth=url.depth,
            parent=url.parent,
            anchor=url.anchor,
            context_score=url.context_score,
            redirect=redirect,
            error=error,
        )
        if url.url not in self.folder.history:
            self.folder.note(visit)

    # ------------------------------------------------------------ the door of the frontier

    def _put_aside(self) -> None:
        for url in self.ordering.put_aside():
            if url not in self._planted and self.frontier.withdraw(url):
                self.traps.withdrawn(url)

    def _recall(self) -> None:
        """Ask again while all that was called back is refused: others may wait behind it."""
        while urls := list(self.ordering.recall()):
            entered = [self._offer_one(url) for url in urls]
            if any(entered):
                return

    def _offer_link(self, page: Page, link: Link, score: float, inherited: tuple[float, ...]) -> None:
        self._offer_one(
            CrawlUrl(link.url, score, page.depth + 1, page.url, link.anchor, link.context_score, 0.0, inherited)
        )

    def _offer_one(self, url: CrawlUrl) -> bool:
        if url.depth == 0:
            self._planted.add(url.url)
        if url.url in self.frontier:
            return self.frontier.put(url)  # may raise the score of a URL that waits
        reason = self.refusal(url.url, url.depth)
        if reason:
            self.folder.refusals.add(reason, url.url, url.parent)
            if reason == TOO_DEEP:
                self.ordering.too_deep(url.url)
            else:
                self.ordering.refused(url.url)
            return False
        if self.frontier.put(url):
            self.traps.admitted(url.url)
            return True
        self.folder.refusals.count("frontier/full")
        return False

    def _turned_away(self, url: CrawlUrl, why: int) -> None:
        """What a shared frontier answered later."""
        if why == FULL:
            self.folder.refusals.count("frontier/full")
        elif why == HOST_FULL:
            self.folder.refusals.add("trap/host_full", url.url, url.parent)
            self.ordering.refused(url.url)
        elif url.url not in self.folder.history and not self.frontier.leased(url.url):
            self.ordering.refused(url.url)  # another worker fetches it, or has

    def _in_scope(self, host: str) -> bool:
        return any(host == domain or host.endswith("." + domain) for domain in self._domains)

    # ------------------------------------------------------------ what the progress display asks

    @property
    def pages(self) -> int:
        """Pages stored, over all resumes."""
        return self.folder.history.pages

    @property
    def fetches(self) -> int:
        """Fetches finished, over all resumes."""
        return len(self.folder.history)

    @property
    def errors(self) -> int:
        return self.folder.history.errors

    @property
    def refused(self) -> int:
        return self.folder.refusals.counts.total()

    @property
    def frontier_size(self) -> int:
        return len(self.frontier)

    @property
    def hosts_waiting(self) -> int:
        return self.frontier.hosts()

    @property
    def best_waiting(self) -> float | None:
        return self.frontier.best()

    @property
    def report_path(self) -> Path | None:
        return self.folder.path / "report.html"

    def recent_relevance(self) -> float:
        return self.folder.history.recent_relevance()

    # ------------------------------------------------------------ begin and end

    def stats(self) -> dict[str, Any]:
        """Counters of the whole crawl, as ``component/event/reason``."""
        refused = {f"refused/{reason}": n for reason, n in self.folder.refusals.counts.items()}
        read = {f"reader/{event}": n for event, n in self.reader.counters.items()}
        return {
            "frontier/waiting": len(self.frontier),
            "frontier/hosts": self.frontier.hosts(),
            "frontier/leases": self.frontier.leases(),
            "frontier/evicted": self.frontier.evicted(),
            "history/pages": self.pages,
            "history/fetches": self.fetches,
            "history/errors": self.errors,
            **refused,
            **read,
        }

    def close(self, reason: str, now: float, stats: Mapping[str, Any] | None = None) -> None:
        """Save everything; ``reason`` is why the crawl ended. A crawl that is not over can be resumed."""
        try:
            self.frontier.close()
        finally:
            self.folder.close(reason, now, {**(stats or {}), **self.stats()})


def canonical_or_none(canonicalize: Callable[..., str], url: str, base: str | None = None) -> str | None:
    """The canonical spelling of ``url``, relative to ``base`` when there is one, or None for what is no URL."""
    try:
        return canonicalize(url, base)
    except InvalidUrl:
        return None
