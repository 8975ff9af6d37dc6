"""The ``SCHEDULER`` of this project. A topical crawl gets a ``CrawlScheduler``, a thin adapter between the engine and the crawl's
frontier; any other spider gets a ``RequestScheduler``.

The engine calls ``next_request`` and gets the best URL of a host that has rested, as a ``Request`` made at that moment. When no
host is due, the engine is woken exactly when one will be. Links of pages never pass through ``enqueue_request``: the last
pipeline puts them into the frontier as records. These requests do:

- a retry, or a page that had to wait for robots.txt: its lease is released, and it waits again;
- a redirect: the lease of its source ends, and the target enters the frontier in its place;
- a redirect back to the same canonical URL: it is fetched without canonicalization, within the same lease;
- a request that a spider or an extension made itself: it is kept as text with a default score.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider

from crawlproject.adapters.feeds import SafeFeeds
from crawlproject.adapters.leases import SLOW_BESIDE, GuardedScheduler, Leases
from crawlproject.adapters.request_json import canonical_identity, lease_key, post_key
from crawlproject.adapters.request_scheduler import RequestScheduler
from crawlproject.adapters.running import LEASE, HeartbeatWatch, count, crawl_of, fetch_of, stopping, time, torn
from crawlproject.adapters.spider_requests import SpiderRequests
from crawlproject.configuration import read_options
from crawlproject.core.services import TOO_MANY_REDIRECTS
from crawlproject.core.stopping import NO_NETWORK
from crawlproject.urls.canonical import canonical_or_none, make_canonicalizer
from crawlproject.urls.post import is_post

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl
    from crawlproject.records import CrawlUrl

logger = logging.getLogger(__name__)


class FrontierScheduler(BaseScheduler):
    """``SCHEDULER = "crawlproject.adapters.scheduler.FrontierScheduler"``.

    ``CrawlScheduler`` serves a topical crawl. ``RequestScheduler`` serves any other spider; here it reads all settings of the
    project, and requests with the same canonical URL count as the same.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        """Make the scheduler. Scrapy calls this after the spider, and with it the crawl, was made."""
        crawl = crawl_of(crawler)
        if crawl is not None:
            return CrawlScheduler(crawler, crawl)
        options = read_options(crawler.settings)
        identity = partial(canonical_identity, canonicalize=make_canonicalizer(options))
        return RequestScheduler(crawler, options, identity)


class RequestMaker(Protocol):
    """What the spider of a topical crawl provides in addition to ``scrapy.Spider``."""

    def page_request(self, url: CrawlUrl) -> Request:
        """The request for a leased URL."""
        ...


class CrawlScheduler(GuardedScheduler):
    """Serves ``crawl``, whose spider makes the request for a URL: ``page_request(url)``.

    At most ``CONCURRENT_REQUESTS`` leases are open, including pages in the pipelines, so with one request at a time every
    take knows all links of the pages before. With several, slow fetches do not count, up to ``SLOW_BESIDE`` times as many:
    otherwise that many slow servers would keep all others waiting.
    """

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        super().__init__(crawler)
        HeartbeatWatch(crawler)
        self.crawl = crawl
        self.frontier = crawl.frontier
        self._limit = crawler.settings.getint("CONCURRENT_REQUESTS") or float("inf")
        self._slow_beside = SLOW_BESIDE * self._limit if 1 < self._limit < float("inf") else 0
        self._leases = Leases(crawler, crawl.frontier, crawl.peers, crawl.options.politeness_max_crawl_delay)
        self._outage: float | None = None  # beginning of the outage that was last reported

    def open(self, spider: Spider) -> None:
        self._spider = cast("RequestMaker", spider)
        self._own = SpiderRequests(
            self.crawler,
            spider,
            self._leases,
            partial(canonical_identity, canonicalize=self.crawl.canonicalize),
            default_score=self.crawl.options.frontier_request_score,
        )
        if self.crawl.folder.manifest.resumed:
            self.crawler.signals.connect(self._mend_feeds, signals.spider_opened)
        self.crawler.signals.connect(self._close_when_over, signals.spider_idle)
        self._leases.start(self._wake_up.wake)
        if self.crawler.engine is not None:
            # The downloader counts a page that waits for its robots.txt twice, so that a quarter of the connections were unused
            # on a slow web. The number of leases, with one fetch each, is the limit instead.
            self.crawler.engine.downloader.total_concurrency *= 2 * (1 + SLOW_BESIDE)

    def _mend_feeds(self) -> None:
        with stopping(self.crawler):
            SafeFeeds(self.crawler).mend()

    def _close_frontier(self, reason: str) -> None:
        end = self.crawl.leave if torn(self.crawler) else self.crawl.close
        end(reason, time(), self.crawler.stats.get_stats() if self.crawler.stats else {})

    def _has_pending(self) -> bool:
        return not self.crawl.end_reason(time()) and self._leases.pending()

    # ------------------------------------------------------------ out

    def _next(self, now: float) -> Request | None:
        if self.crawl.connections.began != self._outage:
            self._tell_of_outage(now)
        while self._has_room(now):
            taken = self.crawl.take(now)
            if taken is None:
                self._wake_when_due(now)
                return None
            if taken.request is not None:
                request = self._own.load(taken)
            else:
                request = self._leases.kept.pop(taken.key, None) or self._spider.page_request(taken)
            if request is not None:
                return self._leases.issue(taken.key, request, now)
        return None

    def _has_room(self, now: float) -> bool:
        """Whether one more lease may be open. If not, the engine calls again when a lease ends or a fetch becomes slow."""
        leases = self.frontier.leases()
        if leases < self._limit or not self._slow_beside:
            return leases < self._limit
        slow, due = self._leases.slow(now)
        if slow < self._slow_beside:
            self._wake_up.set(due, now)
        return leases < self._limit + min(slow, self._slow_beside)

    def _wake_when_due(self, now: float) -> None:
        if self.crawl.budget_in_flight():
            return  # the engine calls again when a lease ends
        self._wake_up.set(self.crawl.next_due(now), now)

    def _tell_of_outage(self, now: float) -> None:
        connections = self.crawl.connections
        self._outage = connections.began
        if self._outage is None:
            logger.warning("The network is back after %.0f s: the crawl continues.", connections.latest)
            return
        deadline = connections.deadline()
        logger.warning(
            "No host answers: the crawl pauses until one does%s. Nothing is lost: failed fetches are repeated later. "
            "The latest failure: %s",
            f", for {deadline - now:.0f} s at most" if deadline else "",
            connections.failure,
        )

    # ------------------------------------------------------------ in

    def _enqueue(self, request: Request, now: float) -> bool:
        key = lease_key(request, self.crawl.canonicalize)
        if key is not None and self._continues(request, key):
            lease = self.frontier.leased(key)
            if lease is not None and _goes_in_circles(request):
                self._leases.forget(key)
                self.crawl.fail(lease, TOO_MANY_REDIRECTS, fetch_of(request, _redirect_status(request), now))
                return False
            self._leases.wait_again(key, request, now)
            return True
        source = self._redirected_from(request)
        return self._own.put(request) if source is None else self._redirect(source, request, now)

    def _continues(self, request: Request, key: str) -> bool:
        """Whether a middleware made this request from the one that was issued for ``key``."""
        issued = self._leases.issued(key, request)
        if issued is None or request.method != issued.method:
            return False
        return not is_post(key) or _redirects(request) == _redirects(issued)

    def _redirected_from(self, request: Request) -> CrawlUrl | None:
        """The open lease whose redirect led to this request, or None."""
        passed = request.meta.get("redirect_urls")
        if passed and is_post(key := request.meta.get(LEASE, "")):  # the redirect may be a GET
            return self.frontier.leased(key) if self._leases.issued(key, request) else None
        source = canonical_or_none(self.crawl.canonicalize, passed[-1]) if passed else None
        return self.frontier.leased(source) if source and self._continues(request, source) else None

    def _redirect(self, source: CrawlUrl, request: Request, now: float) -> bool:
        fetch = fetch_of(request, _redirect_status(request), now)
        self._leases.forget(source.key)
        if source.request is not None:
            with self.frontier.batch():
                accepted = self._own.put(request)
                self.frontier.done(source.key, fetch.rests_from, fetch.seconds)
            return accepted
        target = canonical_or_none(self.crawl.canonicalize, request.url)
        if target is None:
            self.crawl.fail(source, "redirect to no URL", fetch)
            return False
        request = request.replace(url=target)
        if post := post_key(request, self.crawl.canonicalize):
            request.meta[LEASE] = post
        else:
            request.meta.pop(LEASE, None)
        key = post or target
        is_new = key not in self.frontier
        accepted = self.crawl.redirect(source, target, fetch)
        if (accepted or is_new) and key in self.frontier:  # also if its host waits in a later class
            self._leases.keep(key, request)  # preserves the number of redirects so far
        return accepted

    # ------------------------------------------------------------ ends

    def _end_leases(self, now: float) -> None:
        """End the leases that no pipeline ends: those of requests that a spider made itself, and of lost pages."""
        for lease, request in self._leases.left():
            if lease.request is not None:
                self._leases.finish(lease.key, request, now)
            else:
                count(self.crawler, "scheduler/lost")
                self.crawl.fail(lease, "lost", fetch_of(request, 0, now))

    def _close_when_over(self) -> None:
        """Close the spider with the crawl's reason, if it has one: nothing is in flight and nothing may be taken."""
        if reason := self.crawl.end_reason(time()):
            if reason == NO_NETWORK:
                logger.error(
                    "No host answers: the crawl stops. Run the same command to resume and to repeat failed fetches. "
                    "The latest failure: %s",
                    self.crawl.connections.failure,
                )
            raise CloseSpider(reason)


def _redirect_status(request: Request) -> int:
    """The status of the response that redirected here; 200 if a page did."""
    reason = request.meta.get("redirect_reasons", [0])[-1]
    return reason if isinstance(reason, int) else 200


def _goes_in_circles(request: Request) -> bool:
    """Whether this would be the third request for exactly this URL: the second one may have been sent with a new cookie."""
    return request.meta.get("redirect_urls", []).count(request.url) > 1


def _redirects(request: Request) -> int:
    return request.meta.get("redirect_times", 0)
