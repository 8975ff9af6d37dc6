"""One crawl: the parts, and the steps of the life of a URL.

Scrapy's scheduler, spider and pipelines call these steps one by one; a rehearsal calls the same steps in a loop without
Scrapy. Whatever happens to a URL happens here, so that both are the same crawl.

    add_seeds ─► take ─► read ─► examine ─► score ─► keep ─► offer      refuse / fail / discard_page / redirect on the way out

Every fetch that ends is one line of the history and one event, which all learners apply.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from crawlproject.crawl.admission import Admission
from crawlproject.crawl.ordering_feed import OrderingFeed
from crawlproject.crawl.sitemaps import SITEMAP, SitemapListing, Sitemaps
from crawlproject.crawl.stats import CrawlStats
from crawlproject.crawl.stopping import PAGE_BUDGET, Stopping
from crawlproject.frontier.base import Frontier, SharedFrontier
from crawlproject.inspection.examiner import Examiner
from crawlproject.inspection.learner import Learner
from crawlproject.inspection.probes.probe_key import is_probe
from crawlproject.inspection.probes.probe_response import ProbeResponse
from crawlproject.inspection.probes.probes import Probes
from crawlproject.inspection.sites.tracker import SiteTracker
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.pages.page_types import SOFT_404
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge, with_context_score
from crawlproject.records import (
    AGENT,
    CRAWL_DELAY,
    NOT_KEPT,
    OWN_LINKS,
    RETRY_AFTER,
    CrawlUrl,
    Fetch,
    FetchEvent,
    Page,
    Topic,
    Visit,
)
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.urls.hosts import host_of

UNREACHABLE = "robots/unreachable"


class Crawl(CrawlStats):
    """The crawl of one topic. Not thread-safe; every method is quick enough for an event loop.

    ``learners`` learn from each finished fetch, in this order, before ``conduct``, ``stopping`` and the ordering.
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
        frontier: Frontier,
        admission: Admission,
        examiner: Examiner,
        conduct: SiteTracker,
        folder: CrawlFolder,
        stopping: Stopping,
        probes: Probes | None = None,
        learners: Sequence[Learner] = (),
    ) -> None:
        self.topic = topic
        self.options = options
        self.ordering = ordering
        self.judge = judge
        self.reader = reader
        self.canonicalize = canonicalize
        self.frontier = frontier
        self.admission = admission
        self.sitemaps = Sitemaps(canonicalize, judge, per_host=options.crawl_sitemaps, most=options.crawl_sitemap_urls)
        self.examiner = examiner
        self.conduct = conduct
        self.folder = folder
        self.stopping = stopping
        self.probes = probes or Probes()
        self.ordering_feed = OrderingFeed(ordering)
        self.learners: Sequence[Learner] = (*learners, conduct, stopping, self.ordering_feed)
        self._kept: set[str] = set()  # pages whose links are yet to be offered
        self._crawl_delays: dict[str, float] = {}  # hosts whose robots.txt asks for one; asked again after a resume
        self.shared = frontier if isinstance(frontier, SharedFrontier) else None  # with other workers of the same crawl

    # ------------------------------------------------------------ the way in

    def add_seeds(self) -> None:
        """Put the seeds into the frontier. Seeds pass the scope and trap rules like every URL."""
        for seed in self.topic.seeds:
            self.admission.offer(CrawlUrl(url=seed, score=self.ordering.seed_score(seed)))

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the next URL, or None: nobody is eligible, or the budget of pages is spent or in flight."""
        if self.budget_in_flight() or self.end_reason(now):
            return None
        if self.shared is not None and self.ordering.puts_aside and not self.shared.pending():
            self.ordering.resumed(())  # others have fetched what it thinks is waiting: it may recall the rest
        with self.frontier.batch():
            self.admission.recall()
            return self.admission.take(now)

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

    def end_reason(self, now: float) -> str:
        """Why no more URLs are to be taken, as one of the reasons of ``stopping.py``; "" while there is no reason."""
        return PAGE_BUDGET if self.spent else self.stopping.reason(now, self.frontier.best)

    # ------------------------------------------------------------ a page arrives

    def read(
        self, url: CrawlUrl, body: bytes, *, content_type: str = "", robots_tag: str = "", now: float = 0.0
    ) -> Page:
        """Bytes to page; relevance and context scores are still 0."""
        return self.reader.read(
            url.url,
            body[: self.options.page_max_bytes],
            content_type=content_type,
            robots_tag=robots_tag,
            now=now,
            depth=url.depth,
            parent=url.parent,
            score=url.score,
            inherited=url.inherited,
        )

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """The page with what the inspectors found: its ``page_type`` when it is no content, a copy, spam."""
        return self.examiner.examine(page, fetch)

    def score_page(self, page: Page) -> Page:
        """The page with its relevance to the topic (000 eq. 1)."""
        return replace(page, relevance=self.judge.relevance(page.counts))

    def score_links(self, page: Page) -> Page:
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
            duplicate_of=page.duplicate_of,
            spam=page.spam,
            signs=self._signs(url, fetch, page.signs),
            content_type=fetch.content_type,
        )

    def keep(self, page: Page, visit: Visit) -> None:
        """Add the page to the link graph, the items and, last, the history; then all learn from it.

        A URL enters each of them once.
        """
        if page.url not in self.folder.history:
            self.folder.keep(page, visit)
            self._apply(visit, page)
            self._kept.add(page.url)

    def _apply(self, visit: Visit, page: Page | None = None) -> None:
        """All that learns in this crawl learns from a fetch that has just entered the history."""
        links = [link.url for link in page.links] if page and visit.is_page else ()
        event = FetchEvent(visit, links, lambda: page)
        for learner in self.learners:
            learner.apply(event)

    def offer(self, page: Page, fetch: Fetch) -> None:
        """Score the page's links, put them into the frontier, and end the page's lease: one atomic step.

        The links of a page that repeats another were followed there.
        """
        repeats = bool(page.duplicate_of) and OWN_LINKS not in page.signs
        if page.url in self._kept:
            self._kept.remove(page.url)
        elif not repeats:  # the crawl was killed before the links were offered: now they may be others
            self.ordering_feed.observe(page)
        with self.frontier.batch():
            if not repeats:
                self._offer_links(page)
            self.frontier.put_many(self.probes.wanted(page))
            self._revise()
            if self.shared is not None and page.indexable:
                self.shared.count_page(page.url)
            self.frontier.done(page.url, fetch.rests_from, fetch.seconds)

    def _offer_links(self, page: Page) -> None:
        for url in self.ordering_feed.follow(page):
            if url is not None:
                self.admission.offer(url)
            elif not self.ordering.puts_aside:
                self.folder.refusals.count("ordering/not_followed")

    def _revise(self) -> None:
        self.admission.rescore(self.ordering.revise())
        self.admission.put_aside()
        self.admission.recall()

    def name_sitemaps(self, hrefs: Sequence[str], found: CrawlUrl) -> None:
        """The robots.txt that was fetched for ``found`` names sitemaps: ``CRAWL_SITEMAPS`` of them are to be fetched."""
        for sitemap in self.sitemaps.named(hrefs, found):
            self.admission.offer(sitemap)

    def add_sitemap_links(self, url: CrawlUrl, body: bytes, fetch: Fetch) -> None:
        """End a lease that brought a sitemap: its links are offered like those of a page, which it is not."""
        found = self.sitemaps.listing(url, body)
        for reason, count in (("sitemap/foreign", found.foreign), ("sitemap/surplus", found.surplus)):
            if count:
                self.folder.refusals.count(reason, count)
        self._record_end(url, fetch, error=SITEMAP, listed=found)
        with self.frontier.batch():
            self._offer_links(found.page)
            for sitemap in found.sitemaps:
                self.admission.offer(sitemap)
            self._revise()
            self.frontier.done(url.url, fetch.rests_from, fetch.seconds)

    def probe(self, probe: CrawlUrl, answer: ProbeResponse) -> None:
        """End the lease of a probe. What it found goes into a log of its own, and what has to follow waits."""
        following = self.probes.answered(probe, answer)
        rests_from = answer.fetch.rests_from + (self.options.crawl_blocked_rest if answer.blocks else 0.0)
        with self.frontier.batch():
            self.frontier.put_many(following)
            self.frontier.done(probe.url, rests_from, answer.fetch.seconds)

    def crawl_delay(self, host: str, seconds: float) -> None:
        """The robots.txt of ``host`` asks for this long between visits; 0 takes it back."""
        self.frontier.crawl_delay(host, seconds)
        if seconds > 0:
            self._crawl_delays[host] = seconds
        else:
            self._crawl_delays.pop(host, None)

    # ------------------------------------------------------------ the ways out

    def refuse(self, url: str, reason: str, parent: str | None = None) -> None:
        """End a lease without a fetch (robots.txt, a trap found late). ``reason`` reads ``component/rule``.

        An unreachable host was tried: its pick counts under the k rule, as it would for a page that is not there.
        """
        if is_probe(url):
            self.probes.refused(url, reason, parent)
            self.frontier.drop(url, picked=reason == UNREACHABLE)
            return
        self.folder.refusals.add(reason, url, parent)
        self.conduct.holds.ended(url)
        if reason == UNREACHABLE:
            self.ordering.failed(url)
        else:
            self.ordering.refused(url)
        self.frontier.drop(url, picked=reason == UNREACHABLE)

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """End a lease whose fetch brought no page: an HTTP error, a broken connection, an unwanted content type."""
        if is_probe(url.url):
            self.probe(url, ProbeResponse(fetch, error=error))
            return
        self._record_end(url, fetch, error=error)
        rests_from = fetch.rests_from
        if self.shared is not None:  # other workers ask the host's clock, not our admission
            rests_from = max(rests_from, self.conduct.hosts.host_blocked_until(url.url))
        self.frontier.done(url.url, rests_from, fetch.seconds)

    def discard_page(self, url: CrawlUrl, page: Page, fetch: Fetch) -> None:
        """End a lease whose page has no content, such as a captcha or a soft 404: its type is the error in the history."""
        self.fail(url, page.page_type, fetch)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """End a lease that was answered with a redirect, and offer the canonical ``target`` in its place.

        The target inherits score, depth and parent. False: it was refused or is known.
        """
        if self.probes.is_soft_404(url, target) and target in self.frontier:
            self.discard_page(url, Page(url.url, page_type=SOFT_404), fetch)
            return False
        self._record_end(url, fetch, redirect=target)
        with self.frontier.batch():
            offered = self.admission.offer(replace(url, url=target, request=None))
            self.frontier.done(url.url, fetch.rests_from, fetch.seconds)
        return offered

    def _record_end(
        self, url: CrawlUrl, fetch: Fetch, *, error: str = "", redirect: str = "", listed: SitemapListing | None = None
    ) -> None:
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
            signs=self._signs(url, fetch, {}),
            content_type=fetch.content_type,
            links=len(listed.entries) if listed else 0,
        )
        if url.url in self.folder.history:
            return
        if listed is None:
            self.folder.note(visit)
        else:
            self.folder.note_sitemap(visit, listed.entries)
        self._apply(visit, listed.page if listed else None)

    def _signs(self, url: CrawlUrl, fetch: Fetch, signs: Mapping[str, float]) -> Mapping[str, float]:
        """The signs of a visit: those of its page, the rest that its host asks for, and the agent that fetched it."""
        delay = self._crawl_delays.get(host_of(url.url)) if self._crawl_delays else None
        agent = self.ordering.agent(url)
        own = ((CRAWL_DELAY, delay), (RETRY_AFTER, fetch.asked_rest or None), (AGENT, agent))
        found = {name: float(value) for name, value in own if value is not None}
        return {**signs, **found} if found else signs

    # ------------------------------------------------------------ the end

    def close(self, reason: str, now: float, stats: Mapping[str, Any] | None = None) -> None:
        """Save everything; ``reason`` is why the crawl ended. A crawl that is not over can be resumed."""
        try:
            self.frontier.close()
        finally:
            self.folder.close(reason, now, {**(stats or {}), **self.stats()})
