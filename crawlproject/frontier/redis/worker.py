"""A frontier in Redis as a crawl uses it: no call waits for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf

from redis.exceptions import RedisError

from crawlproject.errors import ServerFailed
from crawlproject.frontier.base import BlockedHost
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis import operations
from crawlproject.frontier.redis.answers import Answers
from crawlproject.frontier.redis.client_thread import ClientThread, PendingCall, Replies
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.message_log import digest
from crawlproject.frontier.shared import DONE, FULL, GONE, HOST_FULL, KNOWN, CallerLoop
from crawlproject.records import CrawlUrl

REMEMBERED = 200_000  # URLs that ``in`` knows
STALENESS = 1.0  # seconds at most between two looks for what other workers have told
_PATIENCE = 30.0  # seconds that ``close`` waits for a server that is away


class RedisWorker:
    """A ``SharedFrontier`` around the strict one. Not thread-safe: it is used from one thread, and keeps one of its own.

    What a page leads to (a ``batch``) reaches the server in one atomic step, right after it happened here; what ends the
    page's lease is in it, so a crash at any moment loses nothing. ``heartbeat`` is for how many seconds at most the server
    receives nothing from an idle worker.
    """

    def __init__(self, frontier: RedisFrontier, *, clock: Callable[[], float], heartbeat: float) -> None:
        self._strict = frontier
        self.waiting = frontier.waiting  # these three wait for answers
        self.states = frontier.states
        self.attached = frontier.attached
        self._clock = clock
        self._heartbeat = heartbeat
        self._exchange: ClientThread | None = None
        self._held: dict[str, CrawlUrl] = {}
        self._answers = Answers()
        self._known: dict[str, None] = {}
        self._batch: list[PendingCall] | None = None
        self._limit = 0
        self._caught_up = False
        self._addresses: dict[str, str] = {}
        self._rate = 0.0
        self._rejected: Callable[[CrawlUrl, int], None] = lambda url, answer: None
        self._receive: Callable[[Sequence[bytes]], None] | None = None

    def start(self, limit: int, loop: CallerLoop) -> None:
        self._limit = limit
        self._wake = loop.wake
        self._exchange = ClientThread(
            self._strict,
            clock=self._clock,
            limit=limit,
            wanted=lambda: max(0, self._limit - len(self._held) - self._answers.to_take()),
            deliver=partial(self._deliver, loop.call_soon),
            failed=lambda failure: loop.call_soon(partial(loop.failed, failure)),
            heartbeat=min(self._heartbeat, STALENESS) if self._receive is not None else self._heartbeat,
            receives=self._receive is not None,
        )
        self._exchange.rate = self._rate
        self._exchange.start()

    def close(self) -> None:
        """Send what is left, and let the server know that this worker has gone. Nothing is deleted.

        Raises ``StorageFailed`` when the server stays away: what did not reach it is fetched again.
        """
        self._receive = None  # nobody learns any more from what still arrives
        if self._exchange is not None and not self._exchange.close(_PATIENCE):
            raise ServerFailed("Redis was away at the end: what did not reach it will be fetched again")
        self._strict.close()

    # ------------------------------------------------------------ the answers that came last

    def next_due(self, now: float) -> float | None:
        return self._strict.next_due(now) if self._exchange is None else None

    def __len__(self) -> int:
        return len(self._strict) if self._exchange is None else self._answers.counts.waiting

    def __contains__(self, url: str) -> bool:
        return url in self._strict if self._exchange is None else url in self._known or url in self._held

    def leased(self, url: str) -> CrawlUrl | None:
        return self._held.get(url)

    def leases(self) -> int:
        """Of this worker."""
        return len(self._held)

    def best(self) -> float | None:
        return self._strict.best() if self._exchange is None else self._answers.counts.best

    def hosts(self) -> int:
        return self._strict.hosts() if self._exchange is None else self._answers.counts.hosts

    def evicted(self) -> int:
        return self._strict.evicted() if self._exchange is None else self._answers.counts.evicted

    def blocked(self) -> Iterator[BlockedHost]:
        """As they were when nothing could be taken, without those that were released since."""
        return self._strict.blocked() if self._exchange is None else iter(self._answers.blocked.values())

    def pages(self) -> int:
        return self._strict.pages() if self._exchange is None else self._answers.counts.pages

    def pending(self) -> bool:
        if self._exchange is None:
            return len(self._strict) + self._strict.leases() > 0
        return bool(self._held) or self._answers.pending()

    def last_due(self) -> float | None:
        return self._answers.due

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

    # ------------------------------------------------------------ what changes something

    def put(self, url: CrawlUrl) -> bool:
        is_new = url.key not in self._known
        call = PendingCall(operations.put_of(url), queue_of(url.url), url, is_new)
        if self._exchange is None:
            answer = self._strict.call(self._strict.slot_of(call.host), [call.operation])[0]
            if answer == DONE:
                self._rejected(url, answer)
            return bool(answer == 1)
        self._remember(url.key)
        self._send(call)
        return True

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        if self._exchange is None:
            return self._strict.put_many(urls)
        if self._batch is not None:
            return sum(map(self.put, urls))
        with self.batch():
            return sum(map(self.put, urls))

    def take(self, now: float) -> CrawlUrl | None:
        if self._exchange is None:
            url = self._strict.take(now)
            if url is not None and self._receive is not None and self._strict.taken_with:
                self._receive(self._strict.taken_with)
        else:
            url = self._answers.arrived[0] if self._answers.arrived else None
        if url is not None:
            self._held[url.key] = url
        if self._exchange is not None:
            if self._answers.arrived:
                self._answers.arrived.popleft()  # last, so that the thread never counts it in neither place
            else:
                self._exchange.ask()
        return url

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        self._end(url, PendingCall(operations.done_of(url, now, seconds, refetch_at, score), queue_of(url), ends=True))

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        operation = operations.release_of(url, now, seconds, not_before)
        if url in self._held:
            self._end(url, PendingCall(operation, queue_of(url), unpick="" if picked else url, ends=True))

    def hold(self, url: str, until: float) -> bool:
        if url in self._held:
            self._end(url, PendingCall(operations.hold_of(url, until), queue_of(url), unpick=url, ends=True))
        else:  # it may be on its way here: then its lease goes on
            self._send(PendingCall(operations.hold_of(url, until, waits=True), queue_of(url)))
        return True

    def set_precedence(self, url: str, precedence: int) -> bool:
        waits = url not in self._held  # as for ``hold``
        call = PendingCall(operations.precedence_of(url, precedence, waits=waits), queue_of(url))
        if waits:
            self._send(call)
        else:
            call.unpick, call.ends = url, True
            self._end(url, call)
        return True

    def set_host_precedence(self, host: str, precedence: int) -> None:
        """For all workers, from the next take on: what has arrived stays."""
        self._send(PendingCall(operations.host_precedence_of(host, precedence), host))

    def block_host(self, host: str, until: float) -> None:
        self._answers.blocked.pop(host, None)
        self._send(PendingCall(operations.block_of(host, until), host))

    def visit(self, host: str, now: float, beside: str = "") -> float:
        """As the contract says. This waits for the answer, so it is called from a thread; infinity while Redis is away."""
        try:
            return self._strict.visit(host, now, beside)
        except RedisError:
            return inf

    def visited(self, host: str, now: float, seconds: float) -> None:
        self._send(PendingCall(("visited", host, now, seconds), host))

    def drop(self, url: str, *, picked: bool = False) -> None:
        waits = url not in self._held  # as for ``hold``
        unpick = "" if picked or waits else url
        self._end(url, PendingCall(operations.drop_of(url, waits=waits), queue_of(url), unpick=unpick, ends=True))

    def rescore(self, url: str, score: float) -> bool:
        self._send(PendingCall(operations.rescore_of(url, score), queue_of(url), CrawlUrl(url, score)))
        return True

    def crawl_delay(self, host: str, seconds: float) -> None:
        self._send(PendingCall(("delay", host, float(seconds)), host))

    def host_address(self, host: str, address: str) -> bool:
        """As the contract says, but from ``start`` on it knows only what this worker visits."""
        if self._exchange is None:
            return self._strict.host_address(host, address)
        known = self._addresses.get(host)
        if known != address:
            self._addresses[host] = address
            if len(self._addresses) > REMEMBERED:
                del self._addresses[next(iter(self._addresses))]
            self._send(PendingCall(self._strict.address_of(host, address), host))
        others = {queue_of(lease.url) for lease in self._held.values()} - {host}
        return not address or all(self._addresses.get(other) != address for other in others)

    def count_page(self, url: str) -> None:
        self._send(PendingCall(("page", digest(url)), queue_of(url), ends=True))

    def fetch_again(self, url: CrawlUrl, *, counted: bool) -> bool:
        calls = [("forget", digest(url.key), int(counted)), operations.put_of(url)]
        answers = self._strict.call(self._strict.slot_of(queue_of(url.url)), calls)
        return bool(answers[0])

    def publish(self, url: str, message: bytes, number: int = 0) -> None:
        host, log = queue_of(url), self._strict.messages
        if not number or number > log.published(self._strict.slot_of(host)):
            self._send(PendingCall(log.publishing(message, number), host))

    def attach(self, url: str, message: bytes, number: float) -> None:
        self._send(PendingCall(operations.attach_of(url, message, number), queue_of(url)))

    def set_pace(self, rate: float) -> None:
        self._rate = rate
        if self._exchange is not None:
            self._exchange.rate = rate

    def catch_up(self) -> None:
        while self._receive is not None and (messages := self._strict.messages.next(own=not self._caught_up)):
            self._receive(messages)
        self._caught_up = True

    def set_floor(self, floor: float, spare: float | None = None) -> None:
        """From the next take on: what has arrived stays."""
        self._strict.set_floor(floor, spare)

    def set_ceiling(self, precedence: int) -> None:
        """From the next take on, as the floor."""
        self._strict.set_ceiling(precedence)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """What happens inside reaches the server together, in one step if it is all of one slot."""
        self._batch = []
        try:
            yield
        finally:
            calls, self._batch = self._batch, None
            self._send(*calls)

    # ------------------------------------------------------------ inside

    def _remember(self, url: str) -> None:
        self._known[url] = None
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    def _end(self, url: str, call: PendingCall) -> None:
        self._held.pop(url, None)
        self._remember(url)
        self._send(call)

    def _send(self, *calls: PendingCall) -> None:
        if self._batch is not None:
            self._batch += calls
        elif self._exchange is None:
            for call in calls:
                answer = self._strict.call(self._strict.slot_of(call.host), [call.operation])[0]
                if call.unpick and answer == 1:
                    self._strict.give_back_pick(call.unpick)
        elif calls:
            self._answers.expect(len(calls))
            self._exchange.send(calls)

    def _deliver(self, call_soon: Callable[[Callable[[], None]], object], replies: Replies) -> None:
        """In the thread of the exchange."""
        self._answers.delivered += len(replies.taken)
        call_soon(partial(self._settle, replies))

    def _settle(self, replies: Replies) -> None:
        self._answers.arrive(replies)
        if self._receive is not None and (messages := [*replies.messages, *replies.taken_with]):
            self._receive(messages)  # before anybody can take what it is about
        is_news = self._answers.settle(replies)
        for call, answer in replies.answered:
            if call.url is not None and (why := _rejection(call, answer)) is not None:
                if why != KNOWN:
                    self._known.pop(call.url.key, None)
                self._rejected(call.url, why)
        if is_news:
            self._wake()


def _rejection(call: PendingCall, answer: int) -> int | None:
    """Why a URL was rejected, or None."""
    name = call.operation[0]
    if name == "put":
        if answer == 0 and call.is_new:
            return KNOWN
        return answer if answer in (FULL, HOST_FULL, DONE) else None
    return GONE if name == "rescore" and answer == GONE else None
