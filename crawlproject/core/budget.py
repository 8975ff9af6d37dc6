"""The budget of pages of a crawl, ``CRAWL_MAX_PAGES``."""

from __future__ import annotations

from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.storage.history import History


class PageBudget:
    """At most ``most`` pages, of all workers together; 0: no limit."""

    def __init__(self, most: int, history: History, frontier: Frontier) -> None:
        self._most = most
        self._history = history
        self._frontier = frontier
        self._shared = frontier if isinstance(frontier, SharedFrontier) else None

    @property
    def is_spent(self) -> bool:
        """Whether so many pages count."""
        return self.share_spent() >= 1.0

    def share_spent(self) -> float:
        """The share of the budget that is spent, at least 1 when all is; 0 without a limit."""
        pages = self._shared.pages() if self._shared is not None else self._history.pages
        return pages / self._most if self._most else 0.0

    @property
    def is_in_flight(self) -> bool:
        """Whether the open leases may already fill the budget; a shared frontier sees to that itself."""
        if self._shared is not None:
            return self.is_spent
        return bool(self._most) and self._history.pages + self._frontier.leases() >= self._most
