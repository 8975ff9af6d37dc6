"""The contract of the frontier of one worker of several, each of which has its own hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.base import Frontier, UrlState
from crawlproject.records import CrawlUrl

FULL = -1  # why a shared frontier rejected a URL: it is full of better ones
HOST_FULL = -2  # its host has as many URLs as it may have
DONE = -3  # it was fetched, here or by another worker
KNOWN = -4  # it waited already, or is leased, although it was new to this process
GONE = 0  # it was to have a new score, but no longer waits


class CallerLoop(NamedTuple):
    """The event loop of whoever takes from a ``SharedFrontier``.

    ``call_soon`` runs a function in the caller's thread, soon, and may be called from any thread. ``wake`` and ``failed`` are
    only called in the caller's: when there is something to take, and when the server stays away, or
    the disk fails.
    """

    call_soon: Callable[[Callable[[], None]], object]
    wake: Callable[[], None]
    failed: Callable[[StorageFailed | BadCrawlDir], None]


@runtime_checkable
class SharedFrontier(Frontier, Protocol):
    """A ``Frontier`` of which this process has the URLs of its own hosts. It waits for a server until ``start``, not afterwards.

    What it is told of the URLs of others' hosts reaches their owners: ``rescore``, ``hold`` and ``set_precedence`` answer True
    for these, ``put`` whether it is new to this process, as ``in`` does. After ``start``, ``take`` gives what a server has
    allowed, and asks for more; the loop is woken when there is something. The numbers are of all workers, of the others as they
    said last.

    The floor, the ceiling, the k rule, the limit of URLs and the classes of hosts are each worker's own. But what is above the
    ceiling waits while any worker has a host of a lower class that is awake.
    """

    def start(self, limit: int, loop: CallerLoop) -> None:
        """Wait for nothing from now on. At most ``limit`` leases are asked for."""
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

    def states(self, urls: Iterable[str]) -> Mapping[str, UrlState]:
        """What is known of each URL here; of others' hosts, what this process has found waits."""
        ...

    def is_own(self, host: str) -> bool:
        """Whether the host is this worker's."""
        ...

    def workers(self) -> list[str]:
        """The names of all workers, this one included."""
        ...

    def inherited(self) -> Callable[[str], bool] | None:
        """Whether a host was a lost worker's, and is this worker's now; None: nobody was lost since this was asked."""
        ...

    def kept_messages(self) -> Iterator[tuple[bytes, bytes]]:
        """What workers have published, as far as the server keeps it, each behind its worker. Waits for the answers."""
        ...

    @property
    def has_left(self) -> bool:
        """Whether this worker was told to leave, and has given all its hosts to others."""
        ...

    @property
    def was_forgotten(self) -> bool:
        """Whether the server knew nothing of this worker when it began."""
        ...

    @property
    def shares(self) -> bool:
        """Whether workers learn from each other: ``publish`` reaches them. False: it does nothing."""
        ...

    def publish(self, url: str, message: bytes, number: int = 0) -> None:
        """Tell the other workers something about ``url``.

        The messages of a worker that have a ``number`` have rising ones, also after a restart: what the server has already
        it drops. It keeps the latest messages, so that a worker that joins late has them too.
        """
        ...

    def last_published(self) -> int:
        """The highest number of a message of this worker, 0 without one. Not to be asked after ``start``."""
        ...

    def when_published(self, receive: Callable[[Sequence[bytes]], None]) -> None:
        """Call ``receive`` with what other workers publish, in the order of the server."""
        ...

    def catch_up(self) -> None:
        """Receive all that the server keeps, own messages included. Waits for the answers; not to be asked after ``start``."""
        ...

    def attach(self, url: str, message: bytes, number: float) -> None:
        """Whoever leases ``url`` receives ``message`` before, as by ``publish``; an empty one takes it back.

        Of several the one with the highest number counts; one with the same number, or a lower one, changes nothing.
        """
        ...

    def attached(self) -> Iterator[bytes]:
        """All attached messages. Waits for the answers; not to be asked after ``start``."""
        ...

    def set_pace(self, rate: float) -> None:
        """All workers together lease at most ``rate`` URLs a second from now on, some at once after a pause; 0: any number.

        It holds for what is taken after ``start``.
        """
        ...

    def last_due(self) -> float | None:
        """When a take may succeed here; None: at no time that is known. 0.0 while a URL is being fetched, or asked for."""
        ...

    def note(self, url: str) -> None:
        """Another worker knows ``url``: of another's host, it is known from now on."""
        ...

    def when_rejected(self, rejected: Callable[[CrawlUrl, int], None]) -> None:
        """Call ``rejected`` with each URL that was answered with ``FULL``, ``HOST_FULL``, ``DONE``, ``KNOWN`` or ``GONE``."""
        ...
