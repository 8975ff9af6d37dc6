"""What a frontier offers besides when several processes take from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, runtime_checkable

from crawlproject.errors import StorageFailed
from crawlproject.frontier.base import Frontier
from crawlproject.records import CrawlUrl

FULL = -1  # why a URL was turned away: the frontier is full of better ones
HOST_FULL = -2  # its host has as many URLs as it may have
DONE = -3  # it was fetched, here or by another worker
GONE = 0  # it was to have a new score, but does not wait any more


@runtime_checkable
class SharedFrontier(Frontier, Protocol):
    """A ``Frontier`` in a server. It waits for answers until ``start``, and for none afterwards.

    After ``start``: ``take`` gives what has arrived, and asks for more; ``put``, ``rescore`` and ``withdraw`` answer True
    before the server was asked; ``in`` knows what this process has put lately; the numbers are those of the last answer.
    ``next_due`` is None: ``wake`` is called when there is something to take.
    """

    def start(
        self,
        *,
        limit: int,
        call_soon: Callable[[Callable[[], None]], object],
        wake: Callable[[], None],
        failed: Callable[[StorageFailed], None],
    ) -> None:
        """Wait for nothing from now on. At most ``limit`` leases are asked for.

        ``call_soon`` runs a function in the caller's thread, soon, and may be called from any thread; ``wake`` and
        ``failed`` are only called in the caller's.
        """
        ...

    def pending(self) -> bool:
        """Whether anything waits or is leased, here or by another worker, or is on its way to the server."""
        ...

    def pages(self) -> int:
        """Pages that count, of all workers."""
        ...

    def count_page(self, url: str) -> None:
        """The page behind the open lease of ``url`` counts; called before ``done``."""
        ...

    def states(self, urls: Iterable[str]) -> Mapping[str, str]:
        """``waiting``, ``leased``, ``done`` or nothing for each URL. Waits for the answer; not to be asked after ``start``."""
        ...

    def when_turned_away(self, hear: Callable[[CrawlUrl, int], None]) -> None:
        """Call ``hear`` with what was answered with ``FULL``, ``HOST_FULL``, ``DONE`` or ``GONE``."""
        ...
