"""What both schedulers share: the calls of Scrapy's engine, none of which may raise."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later

from crawlproject.adapters.clock import time
from crawlproject.adapters.running import count, frontier_closing, stopped, stopping, wake

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


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
    """When a subclass raises ``StorageFailed``, the crawl stops. Scrapy would only log an exception, and lose the request.

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
        """The next request; None when there is none yet, after setting the timer."""

    @abstractmethod
    def _end_leases(self, now: float) -> None:
        """End the leases of requests that have left the engine."""

    @abstractmethod
    def _close_frontier(self, reason: str) -> None: ...

    def enqueue_request(self, request: Request) -> bool:
        accepted = False
        if not stopped(self.crawler):
            with stopping(self.crawler):
                accepted = self._enqueue(request, time())
                count(self.crawler, "scheduler/enqueued" if accepted else "scheduler/refused/known")
        return accepted

    def next_request(self) -> Request | None:
        if not stopped(self.crawler):
            with stopping(self.crawler):
                now = time()
                self._end_leases(now)
                return self._next(now)
        return None

    def close(self, reason: str) -> None:
        self._wake_up.cancel()
        if not stopped(self.crawler):
            with stopping(self.crawler):
                self._end_leases(time())
        self.crawler.signals.send_catch_log(frontier_closing)
        with stopping(self.crawler):
            self._close_frontier(reason)
