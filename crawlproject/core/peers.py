"""The other workers of a crawl, as the core and its parts see them. Most crawls have none: this is what holds then.

``parts/workers`` has the class for crawls whose frontier several workers share.
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
    """No other worker: this one makes all fetches, and has nobody to publish to.

    ``knows_all``: what this worker learns from are the fetches of the whole crawl. ``publishes``: others learn from its
    fetches, and it from theirs. ``has_server``: each host is one worker's, and a server sees to visits and the budget of pages.
    ``was_forgotten``: the server has lost what it knew of this worker.
    """

    knows_all = True
    publishes = False
    has_server = False
    was_forgotten = False

    def connect(self, services: Services) -> None:
        """The crawl is put together: from now on it may learn from others."""

    # ------------------------------------------------------------ one crawl, several workers

    def pages(self, own: int) -> int:
        """Stored pages of all workers; ``own`` are those of this one."""
        return own

    def count_page(self, url: str) -> None:
        """The page behind the open lease of ``url`` is stored."""

    def is_own(self, host: str) -> bool:
        """Whether the host is one of this worker's share."""
        return True

    def keeps(self, url: str) -> bool:
        """Whether this worker keeps the score of a waiting URL up to date."""
        return True

    def pass_time(self, now: float) -> None:
        """It is ``now``: who was heard of lately has a share of the hosts."""

    def known(self, frontier: Frontier, linked: Iterable[str]) -> tuple[Known, Known]:
        """What the frontier knows, and what waits in it: at least of the URLs that were ``linked``."""
        if isinstance(frontier, DurableFrontier):  # there may be many more that wait
            return frontier, {url for url in linked if frontier.state_of(url) == "waiting"}
        return frontier, {url.url for url in frontier.waiting() if not url.variant}

    def start(self, limit: int, loop: Any) -> None:
        """From now on no call waits for a server, which is asked for ``limit`` leases at most; ``loop`` is a ``CallerLoop``."""

    def pending(self, frontier: Frontier) -> bool:
        """Whether anything waits, or is leased by another worker."""
        return len(frontier) > 0

    # ------------------------------------------------------------ out

    def fetched(self, event: FetchEvent, number: int = 0) -> None:
        """A fetch has entered the history, as line ``number`` (0: the last one)."""

    def fetched_before(self, event: FetchEvent, number: int) -> None:
        """Line ``number`` of the history was read again."""

    def refused(self, url: str) -> None:
        """A URL is refused, whose turn had come."""

    def postponed(self, url: str) -> None:
        """A URL waits in a later class from now on."""

    def host_postponed(self, host: str) -> None:
        """All URLs of a host wait in a later class, or for the end of its rest."""

    def publish(self, part: str, url: str, message: Any) -> None:
        """The part of this name says something about ``url`` to the same part of others: a value for JSON."""

    def attach(self, key: str, part: str, message: Any, number: float) -> None:
        """Whoever leases the URL with this key receives ``message`` for the part before; None takes it back.

        Of several the one with the highest number counts.
        """

    # ------------------------------------------------------------ what a server knows

    def folders(self) -> list[Path]:
        """The crawl folders of the others that are on this machine."""
        return []

    def missing(self, keys: list[str]) -> set[str]:
        """Those of these keys that the server does not know. Not to be asked after the crawl has begun."""
        return set()

    def set_pace(self, rate: float) -> None:
        """So many fetches a second are for all workers together; 0: any number."""

    def workers(self, now: float) -> int:
        """Workers that were heard of lately, this one included."""
        return 1

    def nothing_due(self, until: float) -> bool:
        """Whether the server had nothing to give before ``until`` when it was asked last."""
        return True

    # ------------------------------------------------------------ in

    def catch_up(self) -> None:
        """Learn all that others have published. Called once, before the crawl goes on."""


ALONE = Peers()
