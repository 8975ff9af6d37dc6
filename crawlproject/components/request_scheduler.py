"""The scheduler for spiders of any project: what Scrapy's own promises, in our frontier, and safe against ``kill -9``.

A request is told from others as Scrapy does it, by its fingerprint; one with ``dont_filter`` is always new. Its lease ends
when its response has gone through callbacks and item pipelines and all requests that these made are in the frontier, so
that a killed crawl takes up exactly the requests again that were not finished. What reached no server (refused by a
middleware, answered by a cache) costs its host no rest.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scrapy import signals
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.misc import build_from_crawler, load_object

from crawlproject.components.feeds import SafeFeeds
from crawlproject.components.meta import LEASE, TAKEN_AT, fetch_of
from crawlproject.components.scheduler import FrontierScheduler
from crawlproject.frontier.host_queue import queue_of
from crawlproject.options import Options, read_options
from crawlproject.records import CrawlUrl
from crawlproject.storage.folder_lock import FolderLock
from crawlproject.urls.canonical import canonical_or_none

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

# A project may have settings of its own that start like our others do.
_READ = ("FRONTIER", "POLITENESS_", "REDIS_", "CRAWL_WORKER")


def frontier_options(settings: BaseSettings) -> Options:
    """Our settings in somebody else's project, whose ``DOWNLOAD_DELAY`` is our rest. Raises ``BadSetting``."""
    chosen = {name: settings[name] for name in settings if name.startswith(_READ)}
    if (settings.getpriority("DOWNLOAD_DELAY") or 0) > 0:  # it is not Scrapy's default
        chosen.setdefault("POLITENESS_MIN_DELAY", settings.getfloat("DOWNLOAD_DELAY"))
    return read_options(chosen)


class RequestScheduler(FrontierScheduler):
    """``SCHEDULER = "crawlproject.components.request_scheduler.RequestScheduler"``, which the add-on sets.

    The frontier is in ``JOBDIR`` when that is set, else in memory. One request a host is in flight, whatever its
    ``download_slot``. A ``DUPEFILTER_CLASS`` of the project's own decides in place of ours.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.limit = float("inf")  # the engine stops asking when the downloader or the item pipelines are full
        self._answered: set[str] = set()  # leases whose response is with the spider
        self._reached: WeakSet[Request] = WeakSet()  # requests that left for a server
        self._dupefilter: Any = None
        self._lock: FolderLock | None = None
        self._feeds = SafeFeeds(crawler) if crawler.settings.get("JOBDIR") else None

    def _read_options(self) -> Options:
        return frontier_options(self.crawler.settings)

    def open(self, spider: Spider) -> None:
        super().open(spider)
        self.crawler.signals.connect(self._note_reached, signals.request_reached_downloader)
        self.crawler.signals.connect(self._note_answer, signals.response_received)
        self.crawler.signals.connect(self._robots_parsed, signals.robots_parsed)
        if self._feeds:
            self.crawler.signals.connect(self._feeds.mend, signals.spider_opened)
        dupefilter = load_object(self.crawler.settings["DUPEFILTER_CLASS"])
        if dupefilter is not RFPDupeFilter:
            self._dupefilter = build_from_crawler(dupefilter, self.crawler)
            self._dupefilter.open()

    def close(self, reason: str) -> None:
        super().close(reason)
        if self._dupefilter:
            self._dupefilter.close(reason)
        if self._lock:
            self._lock.close()

    def _own_frontier(self) -> Frontier:
        jobdir = self.crawler.settings.get("JOBDIR")
        if jobdir:
            self._lock = FolderLock(Path(jobdir) / "frontier")
            if any(Path(jobdir).glob("requests.queue/*")):
                logger.warning("%s holds requests of another scheduler: these are not read", jobdir)
        return super()._own_frontier()

    # ------------------------------------------------------------ out

    def _request_for(self, taken: CrawlUrl) -> Request | None:
        request = super()._request_for(taken)
        if request is not None:
            request.meta[LEASE] = taken.url
            self._answered.discard(taken.url)
        return request

    # ------------------------------------------------------------ in

    def _enqueue(self, request: Request, now: float) -> bool:
        key = str(request.meta.get(LEASE))
        issued = self._issued.get(key)
        if issued is None or not self._is_made_of(request, issued, key):
            return self._put_foreign(request)
        if self._fingerprint(request) == self._fingerprint(issued):
            return self._wait_again(key, request, now)
        with self.frontier.batch():  # a redirect, or another request in place of the one that was issued
            accepted = self._put_foreign(request)
            self._end(key, self._issued.pop(key), now)
        return accepted

    def _is_made_of(self, request: Request, issued: Request, key: str) -> bool:
        """Whether a middleware made ``request`` of what was issued; spiders pass ``meta`` on, too.

        One that a spider's errback sends again without ``dont_filter`` is known, as with Scrapy's own scheduler.
        """
        if request is issued:
            return True
        if key in self._answered or request.meta.get(TAKEN_AT) != issued.meta[TAKEN_AT]:
            return False
        redirected = request.meta.get("redirect_urls") != issued.meta.get("redirect_urls")
        return request.dont_filter or redirected or self._fingerprint(request) != self._fingerprint(issued)

    def _key(self, request: Request) -> str:
        """What the frontier knows the request by: its URL, with the fingerprint behind a ``#`` that no canonical URL has."""
        url = canonical_or_none(self.canonicalize, request.url) or request.url.partition("#")[0]
        unfiltered = request.dont_filter or self._dupefilter
        return f"{url}#{self._serial if unfiltered else self._fingerprint(request)}"

    def _put_foreign(self, request: Request) -> bool:
        if self._dupefilter and not request.dont_filter and self._dupefilter.request_seen(request):
            self._dupefilter.log(request, self.spider)
            return False
        accepted = super()._put_foreign(request)
        if not accepted:
            self._count("dupefilter/filtered")
        return accepted

    def _text_of(self, request: Request) -> str:
        """Without ``JOBDIR`` the objects themselves wait, with all that they refer to, as in Scrapy's own scheduler."""
        in_memory = self.shared is None and not self.crawler.settings.get("JOBDIR")
        return "" if in_memory else super()._text_of(request)

    def _fingerprint(self, request: Request) -> str:
        fingerprinter = self.crawler.request_fingerprinter
        assert fingerprinter is not None, "the crawler makes it before the scheduler"
        return fingerprinter.fingerprint(request).hex()

    # ------------------------------------------------------------ ends

    def _end(self, key: str, request: Request, now: float) -> None:
        self._answered.discard(key)
        if self._feeds:
            self._feeds.flush()
        if request not in self._reached:
            self.frontier.drop(key)
            return
        fetch = fetch_of(request, 0, now)
        self.frontier.done(key, fetch.rests_from, fetch.seconds)

    def _note_reached(self, request: Request) -> None:
        self._reached.add(request)

    def _note_answer(self, response: Response, request: Request) -> None:
        key = request.meta.get(LEASE)
        if key in self._issued and request.meta.get(TAKEN_AT) == self._issued[key].meta[TAKEN_AT]:
            self._answered.add(key)

    # ------------------------------------------------------------ politeness

    async def _robots_parsed(self, robotparser: Any, request: Request) -> None:
        """Keep to ``Crawl-delay``, and let the host rest between robots.txt and the page that it was fetched for."""
        settings = self.crawler.settings
        agent = settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"]
        asked = min(robotparser.crawl_delay(agent) or 0.0, self.options.politeness_max_crawl_delay)
        lease = request.meta.get(LEASE)
        self.frontier.crawl_delay(queue_of(lease if isinstance(lease, str) else request.url), asked)
        if lease in self._issued and is_asyncio_available():
            await asyncio.sleep(max(asked, self.options.politeness_min_delay))
