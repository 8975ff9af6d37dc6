"""What a worker knows of a frontier in Redis without waiting: the answers that came last."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from crawlproject.frontier.base import BlockedHost, UrlState
from crawlproject.frontier.redis.client_thread import ClientThread, PendingCall
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.operations import SlotCounts
from crawlproject.records import CrawlUrl

REMEMBERED = 200_000  # URLs that ``in`` knows


class WorkerAnswers:
    """The part of ``RedisWorker`` that changes nothing in the server: what that answered last."""

    def __init__(self, frontier: RedisFrontier, *, clock: Callable[[], float], heartbeat: float) -> None:
        self._strict = frontier
        self._clock = clock
        self._heartbeat = heartbeat
        self._exchange: ClientThread | None = None
        self._held: dict[str, CrawlUrl] = {}
        self._arrived: deque[CrawlUrl] = deque()
        self._known: dict[str, None] = {}
        self._batch: list[PendingCall] | None = None
        self._unanswered = 0  # calls without an answer yet
        self._delivered = 0  # URLs, counted by the thread of the exchange
        self._settled = 0  # those of them that have arrived here
        self._limit = 0
        self._blocked: dict[str, BlockedHost] = {}
        self._counts = SlotCounts()
        self._caught_up = False
        self._addresses: dict[str, str] = {}
        self._rate = 0.0
        self._due: float | None = 0.0
        self._quiet = False  # nothing waited and nothing was leased, twice in a row
        self._last: list[SlotCounts] = []
        self._rejected: Callable[[CrawlUrl, int], None] = lambda url, answer: None
        self._receive: Callable[[Sequence[bytes]], None] | None = None

    def next_due(self, now: float) -> float | None:
        return self._strict.next_due(now) if self._exchange is None else None

    def __len__(self) -> int:
        return len(self._strict) if self._exchange is None else self._counts.waiting

    def __contains__(self, url: str) -> bool:
        return url in self._strict if self._exchange is None else url in self._known or url in self._held

    def leased(self, url: str) -> CrawlUrl | None:
        return self._held.get(url)

    def leases(self) -> int:
        """Of this worker."""
        return len(self._held)

    def waiting(self) -> Iterator[CrawlUrl]:
        """Waits for answers."""
        return self._strict.waiting()

    def best(self) -> float | None:
        return self._strict.best() if self._exchange is None else self._counts.best

    def hosts(self) -> int:
        return self._strict.hosts() if self._exchange is None else self._counts.hosts

    def evicted(self) -> int:
        return self._strict.evicted() if self._exchange is None else self._counts.evicted

    def blocked(self) -> Iterator[BlockedHost]:
        """As they were when nothing could be taken, without those that were released since."""
        return self._strict.blocked() if self._exchange is None else iter(self._blocked.values())

    def pages(self) -> int:
        return self._strict.pages() if self._exchange is None else self._counts.pages

    def states(self, urls: Iterable[str]) -> Mapping[str, UrlState]:
        return self._strict.states(urls)

    def pending(self) -> bool:
        if self._exchange is None:
            return len(self._strict) + self._strict.leases() > 0
        return bool(self._unanswered or self._held or self._arrived or self._coming() or not self._quiet)

    def attached(self) -> Iterator[bytes]:
        return self._strict.attached()

    def last_due(self) -> float | None:
        return self._due

    @property
    def shares(self) -> bool:
        return self._strict.messages.kept > 0

    def last_published(self) -> int:
        return max(map(self._strict.messages.published, range(self._strict.slots)))

    def when_published(self, receive: Callable[[Sequence[bytes]], None]) -> None:
        self._receive = receive

    def note(self, url: str) -> None:
        self._remember(url)

    def when_rejected(self, rejected: Callable[[CrawlUrl, int], None]) -> None:
        self._rejected = rejected

    def _coming(self) -> int:
        return self._delivered - self._settled

    def _remember(self, url: str) -> None:
        self._known[url] = None
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
