"""The contract of a frontier shared by several workers, each of which owns some of the hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.base import Frontier, UrlState
from crawlproject.records import CrawlUrl

FULL = -1  # why a shared frontier rejected a URL: it is full of better ones
HOST_FULL = -2  # its host already has as many URLs as allowed
DONE = -3  # it was fetched, here or by another worker
KNOWN = -4  # it was waiting or leased already, although it was new to this process
GONE = 0  # it was due to get a new score, but no longer waits


class CallerLoop(NamedTuple):
    """The event loop of the caller of a ``SharedFrontier``.

    ``call_soon`` runs a function in the caller's thread soon, and may be called from any thread. ``wake`` and ``failed`` are
    only called in the caller's thread: ``wake`` when there is something to take, ``failed`` when the server stays away or the
    disk fails.
    """

    call_soon: Callable[[Callable[[], None]], object]
    wake: Callable[[], None]
    failed: Callable[[StorageFailed | BadCrawlDir], None]


@runtime_checkable
class SharedFrontier(Frontier, Protocol):
    """A ``Frontier`` that holds the URLs of this worker's own hosts. It waits for a server until ``start``, but not afterwards.

    Changes to URLs of others' hosts are sent to their owners. For these URLs, ``rescore``, ``hold`` and ``set_precedence``
    return True, and ``put`` and ``in`` say whether the URL is new to this process. After ``start``, ``take`` returns what the
    server has allowed and asks for more; the loop is woken when there is something to take. All counts are totals over all
    workers, with the others as of their last reports.

    Each worker has its own floor, ceiling, k rule, URL limit and host classes. But URLs above the ceiling wait while any worker
    has an awake host of a lower class.
    """

    def start(self, limit: int, loop: CallerLoop) -> None:
        """Never wait for the server from now on. Asks for at most ``limit`` leases."""
        ...

    def pending(self) -> bool:
        """Whether anything waits or is leased, here or by another worker, or is on its way to the server."""
        ...

    def pages(self) -> int:
        """Pages that count, over all workers."""
        ...

    def count_page(self, url: str) -> None:
        """Count the page behind the open lease of ``url``. Call it before ``done``."""
        ...

    def states(self, urls: Iterable[str]) -> Mapping[str, UrlState]:
        """The state of each URL here. A URL of another's host is waiting if this process has found it."""
        ...

    def is_own(self, host: str) -> bool:
        """Whether the host belongs to this worker."""
        ...

    def workers(self) -> list[str]:
        """The names of all workers, this one included."""
        ...

    def inherited(self) -> Callable[[str], bool] | None:
        """A test whether a host moved to this worker from a lost one; None if no worker was lost since the last call."""
        ...

    def inherit_later(self, gained: Callable[[str], bool]) -> None:
        """Take back what ``inherited`` returned: the next call returns it again, and until then the crawl is not over."""
        ...

    def kept_messages(self) -> Iterator[tuple[bytes, bytes]]:
        """The published messages that the server still keeps, each after the name of its worker. Waits for the replies."""
        ...

    @property
    def has_left(self) -> bool:
        """Whether this worker was asked to leave, and has given all its hosts to others."""
        ...

    @property
    def was_forgotten(self) -> bool:
        """Whether the server knew nothing of this worker when it started."""
        ...

    @property
    def shares(self) -> bool:
        """Whether workers learn from each other through ``publish``. If False, ``publish`` does nothing."""
        ...

    def publish(self, url: str, message: bytes, number: int = 0) -> None:
        """Send the other workers a message about ``url``.

        If a worker numbers its messages, the numbers rise, also across restarts; the server drops messages that it already has.
        It keeps the latest messages for workers that join late.
        """
        ...

    def last_published(self) -> int:
        """The highest number among this worker's messages, 0 if none. Must not be called after ``start``."""
        ...

    def when_published(self, receive: Callable[[Sequence[bytes]], None]) -> None:
        """Call ``receive`` with what other workers publish, in the server's order."""
        ...

    def catch_up(self) -> None:
        """Receive everything that the server keeps, own messages included. Waits for the replies; not allowed after ``start``."""
        ...

    def attach(self, url: str, message: bytes, number: float) -> None:
        """Deliver ``message`` to the worker that leases ``url``, before the lease, as by ``publish``; an empty one withdraws it.

        The message with the highest number wins; one with the same or a lower number changes nothing.
        """
        ...

    def attached(self) -> Iterator[bytes]:
        """All attached messages. Waits for the replies; must not be called after ``start``."""
        ...

    def set_pace(self, rate: float) -> None:
        """Limit all workers together to ``rate`` leases a second, with a small burst after a pause; 0: no limit.

        Applies to URLs taken after ``start``.
        """
        ...

    def last_due(self) -> float | None:
        """When a take may succeed here; None if no such time is known. 0.0 while a URL is being fetched or asked for."""
        ...

    def note(self, url: str) -> None:
        """Another worker knows ``url``. If its host belongs to another worker, the URL is known here from now on."""
        ...

    def when_rejected(self, rejected: Callable[[CrawlUrl, int], None]) -> None:
        """Call ``rejected`` with each URL that an owner rejects, and ``FULL``, ``HOST_FULL``, ``DONE``, ``KNOWN`` or ``GONE``."""
        ...
