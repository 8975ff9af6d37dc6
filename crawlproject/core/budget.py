"""What ends a crawl: a budget of pages, ``CRAWL_MAX_PAGES``, or that of a part."""

from __future__ import annotations

from typing import Protocol

from crawlproject.core.peers import Peers
from crawlproject.core.stopping import PAGE_BUDGET
from crawlproject.frontier.base import Frontier
from crawlproject.storage.history import History


class Budget(Protocol):
    """How much may be fetched."""

    def is_in_flight(self) -> bool:
        """Whether the open leases may already fill it."""
        ...

    def end_reason(self, now: float) -> str:
        """Why the crawl ends, as one of the reasons of ``stopping.py``; empty while there is some left."""
        ...


class PageBudget:
    """At most ``most`` pages, of all workers together; 0: no limit."""

    def __init__(self, most: int, history: History, frontier: Frontier, peers: Peers) -> None:
        self._most = most
        self._history = history
        self._frontier = frontier
        self._peers = peers

    def share_spent(self) -> float:
        """The share of the budget that is spent, at least 1 when all is; 0 without a limit."""
        return self._peers.pages(self._history.pages) / self._most if self._most else 0.0

    def end_reason(self, now: float) -> str:
        return PAGE_BUDGET if self.share_spent() >= 1.0 else ""

    def is_in_flight(self) -> bool:
        """A server sees to that itself."""
        if self._peers.has_server:
            return self.share_spent() >= 1.0
        return bool(self._most) and self._history.pages + self._frontier.leases() >= self._most
