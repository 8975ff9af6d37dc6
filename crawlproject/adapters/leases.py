"""What both schedulers share: the requests of the open leases (those given to the engine, and those kept to be given again);
how long a server asks to wait (``Retry-After``, RFC 9110 section 10.2.3); and the methods that Scrapy's engine calls, none of
which may raise.
"""

from __future__ import annotations

import asyncio
import logging
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler

from crawlproject.adapters.earlier_scrapy import call_later
from crawlproject.adapters.running import (
    AS_SPELLED,
    ASKED_REST,
    AWAITED_ADDRESS,
    AWAITED_ROBOTS,
    ENDED_AT,
    TAKEN_AT,
    breaking,
    count,
    fetch_of,
    frontier_closing,
    stop,
    stopped,
    stopping,
    time,
    wake,
)
from crawlproject.frontier.base import DurableFrontier
from crawlproject.frontier.shared import CallerLoop

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.core.peers import Peers
    from crawlproject.frontier.base import Frontier
    from crawlproject.records import CrawlUrl

logger = logging.getLogger(__name__)
SLOW = 3.0  # seconds after which a fetch does not count as concurrent: it costs a socket and hardly anything else
SLOW_BESIDE = 3  # times CONCURRENT_REQUESTS: the maximum number of slow fetches in addition to the others
ASKING = frozenset((429, 503))  # statuses whose Retry-After counts: too many requests, service unavailable

_KEPT = 10_000  # request objects kept to be used again: at most, with a shared frontier; else before they are looked through
_UNLIMITED = 1000  # leases of a worker whose CONCURRENT_REQUESTS is 0


class Leases:
    """Tracks what the engine does with the URLs that were taken from ``frontier``.

    ``longest_rest`` is the maximum of seconds that a ``Retry-After`` may ask for. Methods that end a lease raise
    ``StorageFailed``.
    """

    def __init__(self, crawler: Crawler, frontier: Frontier, peers: Peers, longest_rest: float) -> None:
        self.frontier = frontier
        self.is_shared = peers.has_server  # whether other processes also take from it
        self._peers = peers
        self._crawler = crawler
        self._longest_rest = longest_rest
        self._issued: dict[str, Request] = {}  # frontier key -> the request given to the engine
        self.kept: dict[str, Request] = {}  # frontier key -> a request object to use again
        self._most_kept = _KEPT
        crawler.signals.connect(self._note_end, signals.response_downloaded)

    def start(self, wake: Callable[[], None]) -> None:
        """From now on, do not wait for answers of a shared frontier: it calls ``wake`` when there is something to take."""
        if self.is_shared:
            call_soon = asyncio.get_running_loop().call_soon_threadsafe
            limit = self._crawler.settings.getint("CONCURRENT_REQUESTS") or _UNLIMITED
            self._peers.start(limit, CallerLoop(call_soon, wake, partial(stop, self._crawler)))

    def pending(self) -> bool:
        """Whether any URL waits, or is leased by another worker."""
        return self._peers.pending(self.frontier)

    def issue(self, key: str, request: Request, now: float) -> Request:
        """Return ``request``, marked as the one that the engine gets for the lease ``key``."""
        request.meta[TAKEN_AT] = now
        for stale in (ENDED_AT, ASKED_REST, "download_latency"):  # from an earlier fetch, before a retry or a redirect
            request.meta.pop(stale, None)
        self._issued[key] = request
        count(self._crawler, "scheduler/dequeued")
        return request

    def slow(self, now: float) -> tuple[int, float | None]:
        """The number of fetches that have taken ``SLOW`` seconds so far, and the time at which the next one will have."""
        active = self._crawler.engine.downloader.active if self._crawler.engine else ()
        number = 0
        for request in self._issued.values():  # in the order of their issue
            if ENDED_AT in request.meta or request not in active:
                continue
            if request.meta[TAKEN_AT] > now - SLOW:
                return number, request.meta[TAKEN_AT] + SLOW
            number += 1
        return number, None

    def issued(self, key: str, request: Request) -> Request | None:
        """The request that was issued for ``key``, if ``request`` carries its time of issue.

        Middlewares copy ``meta``, and with it that time; a spider's new request to the same URL has none.
        """
        issued = self._issued.get(key)
        return issued if issued is not None and request.meta.get(TAKEN_AT) == issued.meta[TAKEN_AT] else None

    def keep(self, key: str, request: Request) -> None:
        """Keep this request object for the next time that ``key`` is taken."""
        self.kept[key] = request
        if len(self.kept) <= self._most_kept:
            return
        if self.is_shared:
            del self.kept[next(iter(self.kept))]  # another worker may have fetched the oldest; it can be made again
        elif isinstance(self.frontier, DurableFrontier):
            state_of = self.frontier.state_of
            self.kept = {key: kept for key, kept in self.kept.items() if state_of(key) in ("waiting", "leased")}
            self._most_kept = max(_KEPT, 2 * len(self.kept))  # others were refused at their turn, or evicted

    def wait_again(self, key: str, request: Request, now: float) -> None:
        """Release the lease for a retry, a page that waits for robots.txt or another host's visit, or a redirect to a variant."""
        if request.meta.get("redirect_urls"):
            request.meta[AS_SPELLED] = True
        picked = not request.meta.pop(AWAITED_ROBOTS, False)
        if request.meta.pop(AWAITED_ADDRESS, False):
            self.frontier.hold(key, 0.0)  # no host was visited
        else:
            fetch = fetch_of(request, 0, now)
            self.frontier.release(key, fetch.rests_from, fetch.seconds, picked=picked)
        del self._issued[key]
        self.keep(key, request)

    def forget(self, key: str) -> None:
        """Forget the engine's request for ``key``, which was replaced; its lease ends."""
        self._issued.pop(key, None)

    def finish(self, key: str, request: Request, now: float) -> None:
        """End the lease of a spider's own request."""
        fetch = fetch_of(request, 0, now)
        self.frontier.done(key, fetch.rests_from, fetch.seconds)

    def left(self) -> Iterator[tuple[CrawlUrl, Request]]:
        """Yield the open leases whose requests have left the engine, each once.

        A request whose response is with the spider or in the item pipelines has not left: the URLs and requests that it leads
        to are not in the frontier yet.
        """
        engine = self._crawler.engine
        if engine is None or engine._slot is None:
            return
        active, in_progress = engine.downloader.active, engine._slot.inprogress
        for key, request in list(self._issued.items()):
            if request in active:
                continue
            lease = self.frontier.leased(key)
            if lease is None:
                del self._issued[key]  # the lease was ended by the last pipeline or by the spider's errback
            elif request not in in_progress:
                del self._issued[key]
                yield lease, request

    def _note_end(self, request: Request, response: Response) -> None:
        """Start the politeness clock when the response has come, not when the pipelines process it."""
        request.meta[ENDED_AT] = now = time()
        value = (response.headers.get(b"Retry-After") or b"").decode("latin-1")
        rest = asked_rest(response.status, value, now, self._longest_rest)
        if rest:
            request.meta[ASKED_REST] = rest
            count(self._crawler, "scheduler/retry_after")


def asked_rest(status: int, value: str, now: float, longest: float) -> float:
    """Seconds of rest that a response asks for, at most ``longest``; 0 if it asks for none or the header is invalid.

    ``value`` is the header: seconds, or an HTTP date, which is compared with ``now``, seconds since the epoch.
    """
    if status not in ASKING:
        return 0.0
    text = value.strip()
    try:
        seconds = float(text) if text.isdecimal() else parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0
    return min(max(0.0, seconds), longest) if math.isfinite(seconds) else 0.0


class WakeUp:
    """A timer that wakes the engine at the earliest time requested; Scrapy alone would sleep up to 5 seconds."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._timer: Any = None
        self._due = 0.0

    def set(self, due: float | None, now: float) -> None:
        """Wake the engine at ``due`` (seconds since the epoch; None: not at all), unless it is woken sooner."""
        if due is None or (self._timer and self._due <= due):
            return
        self.cancel()
        self._due = due
        self._timer = call_later(max(due - now, 0.001), self.wake)

    def cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None

    def wake(self) -> None:
        """Let the engine ask for requests now."""
        self._timer = None
        wake(self._crawler)


class GuardedScheduler(BaseScheduler):
    """A scheduler that stops the crawl when a method of a subclass raises. Scrapy would only log the exception and lose the
    request, or ask again every 5 seconds for ever.

    ``now`` is in seconds since the epoch.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._wake_up = WakeUp(crawler)

    @abstractmethod
    def _enqueue(self, request: Request, now: float) -> bool:
        """Put a request into the frontier, or release its lease. False: it is known or refused."""

    @abstractmethod
    def _next(self, now: float) -> Request | None:
        """The next request. If there is none yet, set the timer and return None."""

    @abstractmethod
    def _has_pending(self) -> bool:
        """Whether a request may come later."""

    @abstractmethod
    def _end_leases(self, now: float) -> None:
        """End the leases of requests that have left the engine."""

    @abstractmethod
    def _close_frontier(self, reason: str) -> None: ...

    def enqueue_request(self, request: Request) -> bool:
        accepted = False
        if not stopped(self.crawler):
            with self._guarded():
                accepted = self._enqueue(request, time())
                count(self.crawler, "scheduler/enqueued" if accepted else "scheduler/refused/known")
        return accepted

    def next_request(self) -> Request | None:
        if not stopped(self.crawler):
            with self._guarded():
                now = time()
                self._end_leases(now)
                return self._next(now)
        return None

    def has_pending_requests(self) -> bool:
        if not stopped(self.crawler):
            with self._guarded():
                return self._has_pending()
        return False

    def close(self, reason: str) -> None:
        self._wake_up.cancel()
        if not stopped(self.crawler):
            with stopping(self.crawler):
                self._end_leases(time())
        self.crawler.signals.send_catch_log(frontier_closing)
        with stopping(self.crawler):
            self._close_frontier(reason)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """A context in which any exception stops the crawl and is not raised."""
        with stopping(self.crawler), breaking():
            yield
