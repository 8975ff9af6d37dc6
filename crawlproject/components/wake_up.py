"""A timer that wakes the engine when the next host is due; Scrapy alone would sleep up to 5 seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class WakeUp:
    """Sets at most one timer, for the earliest time requested."""

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
        slot = self._crawler.engine._slot if self._crawler.engine else None
        if slot is not None:
            slot.nextcall.schedule()
