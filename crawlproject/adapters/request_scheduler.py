"""The scheduler for any spider: it keeps the promises of Scrapy's own, uses our frontier, and survives ``kill -9``.

The lease of a request ends when its response has passed callbacks and item pipelines, and all requests that these
made are in the frontier. So a killed crawl resumes with exactly the requests that were not finished. A request that reached no
server (refused by a middleware, answered by a cache) costs its host no rest. ``Crawl-delay`` is obeyed even if the crawl reads
robots.txt with Scrapy's own middleware, which ignores it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scrapy import signals
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.project import data_path

from crawlproject.adapters.earlier_scrapy import crawl_delay, hear_of_robots, is_asyncio_available
from crawlproject.adapters.feeds import SafeFeeds
from crawlproject.adapters.leases import GuardedScheduler, Leases
from crawlproject.adapters.request_json import fingerprint_identity
from crawlproject.adapters.running import LEASE, count, robots_agent, time
from crawlproject.adapters.spider_requests import SpiderRequests
from crawlproject.configuration import read_options
from crawlproject.core.peers import ALONE
from crawlproject.frontier.factory import join_frontier, make_frontier, open_frontier
from crawlproject.frontier.host_queue import queue_of
from crawlproject.options import Options
from crawlproject.parts.registry import part_module
from crawlproject.storage.crawl_files import FolderLock
from crawlproject.urls.canonical import make_canonicalizer

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

# Another project may have unrelated settings with our other prefixes.
_READ = ("FRONTIER", "POLITENESS_", "REDIS_", "CRAWL_WORKER")


def frontier_options(settings: BaseSettings) -> Options:
    """Read our settings in another project, whose ``DOWNLOAD_DELAY`` becomes ``POLITENESS_MIN_DELAY``. Raises ``BadSetting``."""
    chosen = {name: settings[name] for name in settings if name.startswith(_READ)}
    if (settings.getpriority("DOWNLOAD_DELAY") or 0) > 0:  # not Scrapy's default
        chosen.setdefault("POLITENESS_MIN_DELAY", settings.getfloat("DOWNLOAD_DELAY"))
    return read_options(chosen)


class RequestScheduler(GuardedScheduler):
    """``SCHEDULER = "crawlproject.adapters.request_scheduler.RequestScheduler"``, which the add-on sets.

    The frontier is in ``JOBDIR`` if that is set, else in memory; with ``FRONTIER = "redis"``, which distributes the hosts among
    several processes, it is in a folder of ``.scrapy`` unless ``JOBDIR`` is set. One request per host is in flight, whatever its
    ``download_slot``. ``identity`` decides which requests are the same, unless the project sets a ``DUPEFILTER_CLASS``; a
    request with ``dont_filter`` is always new.
    """

    def __init__(self, crawler: Crawler, options: Options, identity: Callable[[Request], str]) -> None:
        super().__init__(crawler)
        self.options = options
        self._identity = identity
        self._peers = ALONE
        self._dupefilter: Any = None
        jobdir = crawler.settings.get("JOBDIR")
        self._folder = Path(jobdir) / "frontier" if jobdir else None
        self._lock: FolderLock | None = None
        self._feeds = SafeFeeds(crawler) if jobdir else None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        options = frontier_options(crawler.settings)
        identity = partial(fingerprint_identity, canonicalize=make_canonicalizer(options), crawler=crawler)
        return cls(crawler, options, identity)

    def open(self, spider: Spider) -> None:
        self._spider = spider
        self.frontier = self._open_frontier(spider.name)
        self._leases = Leases(self.crawler, self.frontier, self._peers, self.options.politeness_max_crawl_delay)
        self._requests = SpiderRequests(
            self.crawler,
            spider,
            self._leases,
            self._identity,
            default_score=self.options.frontier_request_score,
            as_text=self._folder is not None,
        )
        self._fetches = FetchTracker(self.crawler, self._leases)
        self._robots = RobotsRest(self.crawler, self._leases, self.options)
        if self._feeds:
            self.crawler.signals.connect(self._feeds.mend, signals.spider_opened)
        dupefilter = load_object(self.crawler.settings["DUPEFILTER_CLASS"])
        if dupefilter is not RFPDupeFilter:
            self._dupefilter = build_from_crawler(dupefilter, self.crawler)
            self._dupefilter.open()
        self._leases.start(self._wake_up.wake)

    def close(self, reason: str) -> None:
        super().close(reason)
        if self._dupefilter:
            self._dupefilter.close(reason)
        if self._lock:
            self._lock.close()

    def _close_frontier(self, reason: str) -> None:
        self.frontier.close()

    def _has_pending(self) -> bool:
        return self._leases.pending()

    def _next(self, now: float) -> Request | None:
        while taken := self.frontier.take(now):
            request = self._requests.load(taken)
            if request is not None:
                self._fetches.begin(taken.key, request)
                return self._leases.issue(taken.key, request, now)
        self._wake_up.set(self.frontier.next_due(now), now)
        return None

    def _open_frontier(self, name: str) -> Frontier:
        """Open the frontier. Raises ``BadCrawlDir`` for a ``JOBDIR`` that is in use or damaged."""
        if self._folder is not None:
            self._lock = FolderLock(self._folder)
            if any(self._folder.parent.glob("requests.queue/*")):
                logger.warning("%s holds requests of another scheduler, which are ignored", self._folder.parent)
        if self.options.frontier == "redis":
            folder = self._folder or Path(data_path(f"frontier/{name}/{self.options.worker}"))
            self._lock = self._lock or FolderLock(folder)
            frontier = join_frontier(self.options, self.options.frontier_redis_name or name, folder, clock=time)
            if (workers := part_module("workers", "shared_peers")) is not None:
                self._peers = workers.ServerPeers(frontier)
            return frontier
        return open_frontier(self.options, self._folder, clock=time) if self._folder else make_frontier(self.options)

    def _enqueue(self, request: Request, now: float) -> bool:
        key = str(request.meta.get(LEASE))
        issued = self._leases.issued(key, request)
        if issued is None or not self._is_made_of(request, issued):
            return self._put(request)
        if self._identity(request) == self._identity(issued):
            self._leases.wait_again(key, request, now)
            return True
        with self.frontier.batch():  # a redirect, or another request in place of the one that was issued
            accepted = self._put(request)
            self._leases.forget(key)
            self._end(key, issued, now)
        return accepted

    def _is_made_of(self, request: Request, issued: Request) -> bool:
        """Whether a middleware made ``request`` from the issued one, rather than a spider that passed ``meta`` on.

        A request that a spider's errback sends again without ``dont_filter`` is known, as with Scrapy's own scheduler.
        """
        if request is issued:
            return True
        if self._fetches.answered(issued):
            return False
        redirected = request.meta.get("redirect_urls") != issued.meta.get("redirect_urls")
        return request.dont_filter or redirected or self._identity(request) != self._identity(issued)

    def _put(self, request: Request) -> bool:
        if self._dupefilter and not request.dont_filter and self._dupefilter.request_seen(request):
            self._dupefilter.log(request, self._spider)
            return False
        accepted = self._requests.put(request, unfiltered=bool(self._dupefilter))
        if not accepted:
            count(self.crawler, "dupefilter/filtered")
        return accepted

    def _end_leases(self, now: float) -> None:
        for lease, request in self._leases.left():
            self._end(lease.key, request, now)

    def _end(self, key: str, request: Request, now: float) -> None:
        if self._feeds:
            self._feeds.flush()
        if self._fetches.reached(request):
            self._leases.finish(key, request, now)
        else:
            self.frontier.drop(key)


class FetchTracker:
    """Tracks which requests reached a server or were answered. Requests carry the key of their lease in ``meta``."""

    def __init__(self, crawler: Crawler, leases: Leases) -> None:
        self._leases = leases
        self._reached: WeakSet[Request] = WeakSet()
        self._answered: WeakSet[Request] = WeakSet()
        crawler.signals.connect(self._note_reached, signals.request_reached_downloader)
        crawler.signals.connect(self._note_answer, signals.response_received)

    def begin(self, key: str, request: Request) -> None:
        """The engine gets this request for the lease ``key``."""
        request.meta[LEASE] = key
        self._answered.discard(request)

    def reached(self, request: Request) -> bool:
        """Whether the request was sent to a server."""
        return request in self._reached

    def answered(self, issued: Request) -> bool:
        """Whether the response to the request was passed to the spider."""
        return issued in self._answered

    def _note_reached(self, request: Request) -> None:
        self._reached.add(request)

    def _note_answer(self, response: Response, request: Request) -> None:
        issued = self._leases.issued(str(request.meta.get(LEASE)), request)
        if issued is not None:
            self._answered.add(issued)


class RobotsRest:
    """Passes the ``Crawl-delay`` to the frontier, and makes a page wait for the rest of its host after robots.txt."""

    def __init__(self, crawler: Crawler, leases: Leases, options: Options) -> None:
        self._leases = leases
        self._agent = robots_agent(crawler.settings)
        self._longest = options.politeness_max_crawl_delay
        self._shortest = options.politeness_min_delay
        hear_of_robots(crawler, self._robots_parsed)

    async def _robots_parsed(self, robotparser: Any, request: Request) -> None:
        asked = min(crawl_delay(robotparser, self._agent), self._longest)
        lease = request.meta.get(LEASE)
        self._leases.frontier.crawl_delay(queue_of(lease if isinstance(lease, str) else request.url), asked)
        if self._leases.issued(str(lease), request) and is_asyncio_available():
            await asyncio.sleep(max(asked, self._shortest))
