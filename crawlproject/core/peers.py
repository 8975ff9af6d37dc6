"""The other workers of a crawl, as the core and its parts see them. Most crawls have none, and use the class of this module.

``parts/workers`` contains the class for crawls whose frontier is shared by several workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from crawlproject.frontier.base import DurableFrontier
from crawlproject.records import FetchEvent

if TYPE_CHECKING:
    from crawlproject.core.services import Services
    from crawlproject.frontier.base import Frontier


class Known(Protocol):
    """Some URLs."""

    def __contains__(self, url: str) -> bool: ...


class Peers:
    """No other workers: this one makes all fetches, and publishes nothing.

    ``knows_all``: this worker learns from all fetches of the crawl. ``publishes``: workers learn from each other's fetches.
    ``has_server``: each host belongs to one worker, and a server controls visits and the page budget.
    ``was_forgotten``: the server has lost its data about this worker.
    """

    knows_all = True
    publishes = False
    has_server = False
    was_forgotten = False

    def connect(self, services: Services) -> None:
        """The crawl is put together: from now on it may learn from other workers."""

    # ------------------------------------------------------------ one crawl, several workers

    def pages(self, own: int) -> int:
        """The number of stored pages of all workers; ``own`` is that of this worker."""
        return own

    def count_page(self, url: str) -> None:
        """Count the page of ``url``, whose lease is still open: it is stored."""

    def is_own(self, host: str) -> bool:
        """Whether the host belongs to this worker."""
        return True

    def keeps(self, url: str) -> bool:
        """Whether this worker keeps the score of a waiting URL up to date."""
        return True

    def pass_time(self, now: float) -> None:
        """Update the share of the hosts of each worker: only workers that gave a sign of life lately have one."""

    def known(self, frontier: Frontier, linked: Iterable[str]) -> tuple[Known, Known]:
        """The known URLs, and the waiting ones, of the frontier: complete at least for the ``linked`` URLs."""
        if isinstance(frontier, DurableFrontier):  # many more URLs may wait
            return frontier, {url for url in linked if frontier.state_of(url) == "waiting"}
        return frontier, {url.url for url in frontier.waiting() if not url.variant}

    def start(self, limit: int, loop: Any) -> None:
        """From now on, no call waits for the server, which gives at most ``limit`` leases; ``loop`` is a ``CallerLoop``."""

    def pending(self, frontier: Frontier) -> bool:
        """Whether any URL waits, or is leased by another worker."""
        return len(frontier) > 0

    # ------------------------------------------------------------ out

    def fetched(self, event: FetchEvent, number: int = 0) -> None:
        """A fetch has entered the history, as line ``number`` (0: the last one)."""

    def fetched_before(self, event: FetchEvent, number: int) -> None:
        """Line ``number`` of the history was replayed."""

    def refused(self, url: str) -> None:
        """A URL was refused when its turn had come."""

    def postponed(self, url: str) -> None:
        """A URL waits in a later class from now on."""

    def host_postponed(self, host: str) -> None:
        """All URLs of a host wait in a later class, or for the end of its rest."""

    def publish(self, part: str, url: str, message: Any) -> None:
        """Send a message about ``url``, a JSON value, from the part of this name to the same part of other workers."""

    def attach(self, key: str, part: str, message: Any, number: float) -> None:
        """Attach ``message`` for a part to the URL with this key: a worker receives it before it leases the URL. None removes it.

        Of several messages, the one with the highest ``number`` counts.
        """

    # ------------------------------------------------------------ what a server knows

    def folders(self) -> list[Path]:
        """The crawl folders of the other workers on this machine."""
        return []

    def missing(self, keys: list[str]) -> set[str]:
        """Those of ``keys`` that the server does not know. Must not be called after the crawl has begun."""
        return set()

    def set_pace(self, rate: float) -> None:
        """Limit the fetches per second of all workers together to ``rate``; 0: no limit."""

    def workers(self, now: float) -> int:
        """The number of workers that gave a sign of life lately, including this one."""
        return 1

    def nothing_due(self, until: float) -> bool:
        """Whether the server, when it was last asked, had nothing due before ``until``."""
        return True

    # ------------------------------------------------------------ in

    def catch_up(self) -> None:
        """Learn from all that other workers have published. Called once, before the crawl resumes."""


ALONE = Peers()
