"""Scrapy's scheduler, replaced: a thin adapter between the engine and a frontier.

The engine asks ``next_request`` and is answered with the best URL of a polite host, as a ``Request`` made that moment. When
no host is due the engine is woken exactly when one will be. Requests come in by ``enqueue_request`` from four sides:

- a retry, or a page that had to wait for robots.txt: its URL is leased, so the lease is released and it waits again;
- a redirect: the lease of its source ends, the target enters the frontier in its place;
- a redirect that leads back to the same canonical URL: fetched as spelled, inside the lease;
- a spider's own ``Request``, with callback, headers, body: kept as text with a default score.

Links of topical pages never come this way; the last pipeline puts them into the frontier as records.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path
from time import time, time_ns
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import call_later

from crawlproject.components.meta import AS_SPELLED, ASKED_REST, AWAITED_ROBOTS, ENDED_AT, TAKEN_AT, fetch_of
from crawlproject.components.request_json import dump_request, frontier_key, lease_key, load_request
from crawlproject.components.retry_after import asked_rest
from crawlproject.components.running import crawl_of, frontier_closing, stop, stopped, stopping
from crawlproject.crawl.reading import make_canonicalizer
from crawlproject.errors import StorageFailed
from crawlproject.frontier.base import SharedFrontier
from crawlproject.frontier.factory import join_frontier, make_frontier, open_frontier
from crawlproject.options import Options, read_options
from crawlproject.records import CrawlUrl
from crawlproject.urls.canonical import canonical_or_none

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

_KEPT = 10_000  # request objects that a worker of a shared frontier keeps for retries and redirects
_UNLIMITED = 1000  # leases of a worker whose CONCURRENT_REQUESTS is 0


class FrontierScheduler(BaseScheduler):
    """``SCHEDULER = "crawlproject.components.scheduler.FrontierScheduler"``.

    With the topical spider it serves that spider's crawl. With any other spider it keeps a frontier of its own, in
    ``JOBDIR`` when that is set. At most ``CONCURRENT_REQUESTS`` leases are open, pages in the pipelines included, so with one
    request at a time every take knows all links of the pages before.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.options = self._read_options()
        self.default_score = self.options.frontier_request_score
        self.limit = crawler.settings.getint("CONCURRENT_REQUESTS") or float("inf")
        self._issued: dict[str, Request] = {}  # frontier key -> what the engine was given
        self._kept: dict[str, Request] = {}  # frontier key -> a request object to use again (retries, redirects)
        self._serial = time_ns()  # of unfiltered requests; those of earlier runs are known to a resumed frontier
        self._timer: Any = None
        self._timer_due = 0.0
        self.shared: SharedFrontier | None = None  # the frontier, when other processes take from it, too

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _read_options(self) -> Options:
        return read_options(self.crawler.settings)

    # ------------------------------------------------------------ Scrapy's five calls

    def open(self, spider: Spider) -> None:
        self.spider = spider
        self.crawler.signals.connect(self._note_end, signals.response_downloaded)
        self.crawler.signals.connect(self._name_the_end, signals.spider_idle)
        self.crawl = crawl_of(self.crawler)
        self.canonicalize = self.crawl.canonicalize if self.crawl else make_canonicalizer(self.options)
        self.frontier: Frontier = self.crawl.frontier if self.crawl else self._own_frontier()
        if isinstance(self.frontier, SharedFrontier):
            self.shared = self.frontier
            self.shared.start(
                limit=self.crawler.settings.getint("CONCURRENT_REQUESTS") or _UNLIMITED,
                call_soon=asyncio.get_running_loop().call_soon_threadsafe,
                wake=self._wake,
                failed=partial(stop, self.crawler),
            )

    def close(self, reason: str) -> None:
        if self._timer:
            self._timer.cancel()
        if not stopped(self.crawler):
            with stopping(self.crawler):
                self._end_what_left(time())
        self.crawler.signals.send_catch_log(frontier_closing)
        try:
            if self.crawl:
                self.crawl.close(reason, time(), self.crawler.stats.get_stats() if self.crawler.stats else {})
            else:
                self.frontier.close()
        except StorageFailed as failure:
            stop(self.crawler, failure)

    def has_pending_requests(self) -> bool:
        if self.crawl and self.crawl.end_reason(time()):
            return False
        return self.shared.pending() if self.shared is not None else len(self.frontier) > 0

    def enqueue_request(self, request: Request) -> bool:
        if stopped(self.crawler):
            return False
        try:
            accepted = self._enqueue(request, time())
        except StorageFailed as failure:
            stop(self.crawler, failure)
            return False
        self._count("scheduler/enqueued" if accepted else "scheduler/refused/known")
        return accepted

    def next_request(self) -> Request | None:
        if stopped(self.crawler):
            return None
        now = time()
        try:
            self._end_what_left(now)
            return self._next(now)
        except StorageFailed as failure:
            stop(self.crawler, failure)
            return None

    # ------------------------------------------------------------ out

    def _next(self, now: float) -> Request | None:
        while self.frontier.leases() < self.limit:  # at the limit the engine calls again when a lease ends
            taken = self.crawl.take(now) if self.crawl else self.frontier.take(now)
            if taken is None:
                self._wake_when_due(now)
                return None
            request = self._request_for(taken)
            if request is not None:
                request.meta[TAKEN_AT] = now
                for stale in (ENDED_AT, ASKED_REST, "download_latency"):  # of a fetch before: a retry, a redirect
                    request.meta.pop(stale, None)
                self._issued[taken.key] = request
                self._count("scheduler/dequeued")
                return request
        return None

    def _request_for(self, taken: CrawlUrl) -> Request | None:
        """The request for a leased URL; None when it cannot be made again, and the lease is ended."""
        kept = self._kept.pop(taken.key, None)
        if kept is not None:
            return kept
        if taken.request is None:
            return self.spider.page_request(taken)  # type: ignore[attr-defined]
        try:
            return load_request(taken.request, self.spider)
        except ValueError as cause:  # it was kept in memory only, or the spider has lost the callback since
            logger.error("a request to %s is lost: it cannot be made again (%s)", taken.url, cause)
            self._count("scheduler/unserializable/lost")
            self.frontier.drop(taken.key)
            return None

    def _wake_when_due(self, now: float) -> None:
        """Wake the engine when the next host is due; Scrapy alone would sleep up to 5 seconds."""
        if self.crawl and self.crawl.budget_in_flight():
            return  # the engine calls again when a lease ends
        due = self.frontier.next_due(now)
        if due is not None and self.crawl and (deadline := self.crawl.stopping.deadline()):
            due = min(due, deadline)
        if due is None or (self._timer and self._timer_due <= due):
            return
        if self._timer:
            self._timer.cancel()
        self._timer_due = due
        self._timer = call_later(max(due - now, 0.001), self._wake)

    def _wake(self) -> None:
        self._timer = None
        slot = self.crawler.engine._slot if self.crawler.engine else None
        if slot is not None:
            slot.nextcall.schedule()

    # ------------------------------------------------------------ in

    def _enqueue(self, request: Request, now: float) -> bool:
        key = lease_key(request, self.canonicalize)
        if key is not None and self._continues(request, key):
            return self._wait_again(key, request, now)
        source = self._redirected_from(request)
        if source is not None:
            return self._redirect(source, key, request, now)
        return self._put_foreign(request)

    def _continues(self, request: Request, key: str) -> bool:
        """Whether a middleware made this request of the one that was issued for ``key``.

        Middlewares copy ``meta``, and with it the moment of the take; a spider's new request to the same URL has none.
        """
        issued = self._issued.get(key)
        taken_at = request.meta.get(TAKEN_AT)
        return issued is not None and taken_at == issued.meta[TAKEN_AT] and request.method == issued.method

    def _wait_again(self, key: str, request: Request, now: float) -> bool:
        """A retry, a page behind robots.txt, or a redirect to another spelling of the same URL."""
        if request.meta.get("redirect_urls"):
            request.meta[AS_SPELLED] = True
        picked = not request.meta.pop(AWAITED_ROBOTS, False)
        fetch = fetch_of(request, 0, now)
        self.frontier.release(key, fetch.rests_from, fetch.seconds, picked=picked)
        del self._issued[key]
        self._keep(key, request)
        return True

    def _keep(self, key: str, request: Request) -> None:
        self._kept[key] = request
        if self.shared is not None and len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]  # other workers may have fetched the oldest: it can be made again

    def _redirected_from(self, request: Request) -> CrawlUrl | None:
        """The open lease that this request is the redirect of."""
        passed = request.meta.get("redirect_urls")
        source = canonical_or_none(self.canonicalize, passed[-1]) if passed else None
        return self.frontier.leased(source) if source and self._continues(request, source) else None

    def _redirect(self, source: CrawlUrl, target: str | None, request: Request, now: float) -> bool:
        reason = request.meta.get("redirect_reasons", [0])[-1]
        fetch = fetch_of(request, reason if isinstance(reason, int) else 200, now)
        del self._issued[source.key]
        if self.crawl is None or source.request is not None:
            with self.frontier.batch():
                accepted = self._put_foreign(request)
                self.frontier.done(source.key, fetch.rests_from, fetch.seconds)
            return accepted
        if target is None:
            self.crawl.fail(source, "redirect to no URL", fetch)
            return False
        accepted = self.crawl.redirect(source, target, fetch)
        if accepted:
            self._keep(target, request.replace(url=target))  # keeps count of the redirects so far
        return accepted

    def _put_foreign(self, request: Request) -> bool:
        """A spider's own request."""
        self._serial += 1
        key = self._key(request)
        text = self._text_of(request)
        if not text and self.shared is not None:
            return False
        depth = request.meta.get("depth", 0)
        url = CrawlUrl(key, self.default_score + request.priority, depth if type(depth) is int else 0, request=text)
        accepted = self.frontier.put(url)
        if accepted and not text:
            self._kept[key] = request
        return accepted

    def _text_of(self, request: Request) -> str:
        """The request as the frontier keeps it; empty when it can only be kept as an object."""
        try:
            return dump_request(request, self.spider)
        except (TypeError, ValueError) as cause:
            self._count("scheduler/unserializable")
            if self.shared is not None:
                logger.error("%s is dropped: other workers could not make it (%s)", request, cause)
            else:
                logger.debug("kept in memory only: %s (%s)", request, cause)
            return ""

    def _key(self, request: Request) -> str:
        return frontier_key(request, self.canonicalize, self._serial)

    # ------------------------------------------------------------ ends

    def _note_end(self, request: Request, response: Response) -> None:
        """The politeness clock starts when the response has come, not when its turn in the pipelines comes."""
        request.meta[ENDED_AT] = now = time()
        value = (response.headers.get(b"Retry-After") or b"").decode("latin-1")
        rest = asked_rest(response.status, value, now, self.options.politeness_max_crawl_delay)
        if rest:
            request.meta[ASKED_REST] = rest
            self._count("scheduler/retry_after")

    def _end_what_left(self, now: float) -> None:
        """End leases that nobody else ends: foreign requests whose response went through the spider, and lost pages."""
        engine = self.crawler.engine
        if engine is None or engine._slot is None:
            return
        active, in_progress = engine.downloader.active, engine._slot.inprogress
        left = [key for key, request in self._issued.items() if request not in active]
        for key in left:
            lease = self.frontier.leased(key)
            if lease is None:
                del self._issued[key]  # ended by the last pipeline or by the spider's errback
            elif self._issued[key] in in_progress:
                continue  # with the spider or in the item pipelines: what it leads to is not in the frontier yet
            elif self.crawl is None or lease.request is not None:
                self._end(key, self._issued.pop(key), now)
            else:
                self._count("scheduler/lost")
                self.crawl.fail(lease, "lost", fetch_of(self._issued.pop(key), 0, now))

    def _end(self, key: str, request: Request, now: float) -> None:
        """A foreign request is finished."""
        fetch = fetch_of(request, 0, now)
        self.frontier.done(key, fetch.rests_from, fetch.seconds)

    def _name_the_end(self) -> None:
        """Nothing is in flight and nothing may be taken: when the crawl has had enough, the finish reason says so."""
        if self.crawl and (reason := self.crawl.end_reason(time())):
            raise CloseSpider(reason)

    def _own_frontier(self) -> Frontier:
        jobdir = self.crawler.settings.get("JOBDIR")
        if self.options.frontier == "redis":
            return join_frontier(self.options, self.options.frontier_redis_name or self.spider.name, clock=time)
        if not jobdir:
            return make_frontier(self.options)
        return open_frontier(self.options, Path(jobdir) / "frontier", clock=time)

    def _count(self, key: str) -> None:
        if self.crawler.stats:
            self.crawler.stats.inc_value(key)
