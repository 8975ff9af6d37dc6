"""The frontier of one worker of several: it keeps the URLs of its own hosts, and reaches the other workers through Redis.

How a URL travels:

1. A worker finds it. If the worker owns its host (``members.py``), the URL enters the worker's frontier, as in any crawl.
2. Otherwise the worker sends it in a letter to the owner of the host. The owner puts it into its frontier, or answers that it
   knows it already (``correspondence.py``).
3. The owner's frontier selects the URL: it is now a *candidate*. The owner asks Redis for the visit: no other worker may be
   visiting the host or its address, nor any other crawl in this Redis. The reply brings the letters that were sent before; a
   candidate that they end is not fetched.
4. The URL is fetched. When its lease ends, everything that its page leads to is on disk, in this frontier or in the outbox
   (``steps.py``). What is for other workers reaches Redis before the visit ends there and the host rests.

So Redis stores the members, the visits under way and the messages in transit, but no waiting URL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from math import isfinite
from pathlib import Path

from crawlproject.errors import ServerFailed, StorageFailed
from crawlproject.frontier.base import UrlState
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.redis.connection import answering
from crawlproject.frontier.redis.correspondence import Correspondence
from crawlproject.frontier.redis.crew import Crew, Heard, Id, Step
from crawlproject.frontier.redis.exchange import RedisExchange
from crawlproject.frontier.redis.handover import Handover
from crawlproject.frontier.redis.mail import Outbox
from crawlproject.frontier.redis.members import Shares
from crawlproject.frontier.redis.open_leases import OpenLeases
from crawlproject.frontier.redis.reception import Reception
from crawlproject.frontier.redis.report import Colleagues
from crawlproject.frontier.redis.steps import Steps
from crawlproject.frontier.redis.visits import Visits
from crawlproject.frontier.shared import KNOWN, CallerLoop
from crawlproject.records import CrawlUrl

_PATIENCE = 30.0  # seconds that ``close`` waits for a server that is away


class RedisWorker:
    """A ``SharedFrontier`` around ``own``, which keeps the URLs of this worker's hosts. Not thread-safe: it is used from one
    thread, and runs another one.

    ``applied``: the last inbox entry that an earlier process of this worker applied. ``folder`` keeps the outbox, beside the
    files of ``own`` (None: in memory). ``pages``: stored by this worker so far. ``max_pages``: the limit for all workers. 0, also
    for ``max_urls_per_host``, means no limit.
    """

    def __init__(
        self,
        own: FrontierCore,
        crew: Crew,
        heard: Heard,
        *,
        clock: Callable[[], float],
        applied: Id = (0, 0),
        folder: Path | None = None,
        pages: int = 0,
        max_pages: int = 0,
        max_urls_per_host: int = 0,
    ) -> None:
        self._own = own
        self._crew = crew
        self._name = name = crew.worker
        self._clock = clock
        self._pages = pages
        self._max_pages = max_pages
        self._outbox = Outbox(folder)
        self._shares = shares = Shares(name)
        self._steps = steps = Steps(
            own, self._outbox, lambda work: _send_only(crew, work.step()), lambda: shares.members.epoch
        )
        self._handover = handover = Handover(name, shares, own, folder)
        self._visits = Visits(crew, steps, {blocked.host: blocked.until for blocked in own.blocked()})
        self._held: dict[str, CrawlUrl] = {}
        self._letters = letters = Correspondence(name, own, shares, handover, steps, self._held, max_urls_per_host)
        self._colleagues = colleagues = Colleagues(name)
        self._reception = Reception(
            own, shares, handover, steps, self._visits, letters, colleagues, clock=clock, wake=lambda: self._wake()
        )
        self._reception.applied = applied
        self._leases = leases = OpenLeases(
            self._held, own, shares, handover, steps, self._visits, letters, self._reception, clock
        )
        self._wake: Callable[[], None] = lambda: None
        self.was_forgotten = not heard.was_known  # the server knows nothing of this worker
        self._exchange: RedisExchange | None = None
        self._has_left = False
        if not handover.is_new and (self.was_forgotten or heard.members.epoch < shares.members.epoch):
            handover.begin_anew(heard.time + crew.lease)
        self._reception.hear(heard, clock())
        if handover.is_new and (heard.was_known or heard.lost):
            handover.inherit_all()

        self.take, self.done, self.release, self.drop = leases.take, leases.done, leases.release, leases.drop
        self.hold, self.set_precedence, self.visited = leases.hold, leases.set_precedence, leases.visited
        self.waiting, self.waiting_groups, self.finished = own.waiting, own.waiting_groups, own.finished
        self.record_lines, self.forget = own.record_lines, own.forget
        self.blocked, self.crawl_delay = own.blocked, own.crawl_delay
        self.best, self.set_floor, self.set_ceiling = own.best, own.set_floor, own.set_ceiling
        self.set_host_precedence, self.busiest = own.set_host_precedence, own.busiest
        self.attached, self.kept_messages, self.last_published = crew.attached, crew.kept_messages, crew.published
        self.is_own, self.note, self.inherited = shares.is_own, letters.note, handover.inherited
        self.inherit_later = handover.inherit_later

    # ------------------------------------------------------------ start and end

    def start(self, limit: int, loop: CallerLoop) -> None:
        self._leases.limit = limit
        self._wake = loop.wake
        reception = self._reception
        reception.start(loop.call_soon, loop.failed)

        def reserved() -> int:
            """Pages stored or being fetched. Called in the exchange's thread: a page in transition counts twice, not never."""
            return exchange.granted + len(self._visits.begun) + self._pages

        exchange = RedisExchange(
            self._crew,
            clock=self._clock,
            beat=lambda: ("end" if self._has_left else "beat", self._pages, reserved(), reception.report),
            reserve=lambda: (reserved(), self._max_pages),
            is_idle=lambda: not (self._visits.begun or self._visits.asked),
            deliver=lambda arrival: loop.call_soon(partial(reception.settle, arrival, exchange)),
            failed=lambda failure: loop.call_soon(partial(loop.failed, failure)),
            receives=reception.receive is not None,
        )
        exchange.rate = self._leases.rate
        self._exchange = self._leases.exchange = exchange
        self._steps.start(exchange)
        reception.end_visits_of_before()
        self._letters.readdress()
        reception.hand_over()
        exchange.start()

    def close(self) -> None:
        """Send what is left, and report this worker as away. Raises ``StorageFailed`` when the server stays away."""
        self._reception.receive = None  # the caller no longer learns from messages that still arrive
        ended = True
        try:
            self._leases.give_back()
        except ServerFailed:  # before ``start``, this waits for the server
            ended = False
        except StorageFailed:
            pass  # the disk is full: closing the own frontier reports that
        if self._exchange is not None:
            self._reception.make_report(is_away=True)
            self._has_left = self.has_left
            ended = self._exchange.close(_PATIENCE)
        self._reception.close()
        self._crew.close()
        try:
            self._own.close()
        finally:
            self._outbox.close()
        if not ended:
            raise ServerFailed("Redis did not answer at the end: unsent messages are kept until this worker is resumed")

    @property
    def has_left(self) -> bool:
        return self._handover.has_left(self._colleagues.away()) and not self._reception.has_work()

    # ------------------------------------------------------------ queries

    def workers(self) -> list[str]:
        return list(self._shares.members.joined)

    def __len__(self) -> int:
        away = len(self._visits.asked) + len(self._reception.arrived)
        return len(self._own) + away + sum(report.waiting + report.leases for report in self._colleagues)

    def __contains__(self, url: str) -> bool:
        if url in self._letters.sent or url in self._own:
            return True
        # Links of earlier pages were sent to their owners, unless the server has lost them.
        return self._exchange is None and not self.was_forgotten and not self._shares.has(url)

    def leased(self, url: str) -> CrawlUrl | None:
        return self._held.get(url)

    def leases(self) -> int:
        """The leases of this worker only."""
        return len(self._held)

    def hosts(self) -> int:
        return self._own.hosts() + sum(report.hosts for report in self._colleagues)

    def evicted(self) -> int:
        return self._own.evicted() + sum(report.evicted for report in self._colleagues)

    def urls_of_host(self, url: str) -> int:
        """As in ``CountingFrontier``, for own hosts."""
        return self._own.urls_of_host(url) if isinstance(self._own, DiskFrontier) else 0

    @property
    def history_lines(self) -> int:
        return self._own.history_lines

    def state_of(self, url: str) -> UrlState:
        return self._own.state_of(url) or ("waiting" if url in self else "")

    def states(self, urls: Iterable[str]) -> Mapping[str, UrlState]:
        return {url: self.state_of(url) for url in urls}

    def pages(self) -> int:
        return self._pages + self._colleagues.pages

    def pending(self) -> bool:
        return self._reception.has_work() or (len(self) > 0 if self._exchange is None else not self._reception.is_over)

    def next_due(self, now: float) -> float | None:
        if self._exchange is not None:
            is_busy = self._handover.is_open or self._visits.asked or self._reception.arrived
            if is_busy or len(self._held) >= self._leases.limit:
                return None  # the caller is woken
        due = self._own.next_due(now)
        return due if due is None else max(due, self._reception.no_pages_until)

    def last_due(self) -> float | None:
        if self._visits.begun or self._visits.asked:
            return 0.0
        return self._own.next_due(self._clock())

    # ------------------------------------------------------------ URLs come and change

    def put(self, url: CrawlUrl) -> bool:
        if not self._shares.has(url.url):
            return self._letters.send(url)
        is_new = self._own.put(url)
        if not is_new and self._letters.was_found_by_another(url.key):
            self._letters.rejected(url, KNOWN)
        return is_new

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        with self._steps.step():
            return sum(map(self.put, urls))

    def rescore(self, url: str, score: float) -> bool:
        if self._shares.has(url):
            return self._own.rescore(url, score)
        return self._letters.rescore(url, score)

    # ------------------------------------------------------------ leases and hosts

    def count_page(self, url: str) -> None:
        self._pages += 1

    def host_address(self, host: str, address: str) -> bool:
        """As the contract says. A host of another worker is known only if it was visited when its address was resolved."""
        self._visits.move(host, address)
        return self._own.host_address(host, address)

    def block_host(self, host: str, until: float) -> None:
        self._own.block_host(host, until)
        self._visits.block(host, until)

    def visit(self, host: str, now: float, beside: str = "") -> float:
        """As the contract says. Waits for the reply, so call it from another thread; infinity while Redis is away."""
        return self._visits.begin_by_script(host, now, beside)

    def batch(self) -> AbstractContextManager[None]:
        """Make the calls inside one step of this frontier and the outbox."""
        return self._steps.step()

    # ------------------------------------------------------------ messages

    @property
    def shares(self) -> bool:
        return self._crew.kept > 0

    def publish(self, url: str, message: bytes, number: int = 0) -> None:
        self._steps.tell(lambda work: work.messages.append((number, message)))

    def attach(self, url: str, message: bytes, number: float) -> None:
        if not isfinite(number):
            raise ValueError(f"the number of a message must be finite, got {number!r}: {url!r}")
        self._steps.tell(lambda work: work.attached.append((url, float(number), message)))

    def when_published(self, receive: Callable[[Sequence[bytes]], None]) -> None:
        self._reception.receive = receive

    def when_rejected(self, rejected: Callable[[CrawlUrl, int], None]) -> None:
        self._letters.rejected = rejected

    def catch_up(self) -> None:
        if (receive := self._reception.receive) is not None:
            for _, message in self._crew.kept_messages():
                receive([message])
            self._crew.skip_messages()

    def set_pace(self, rate: float) -> None:
        self._leases.rate = rate
        if self._exchange is not None:
            self._exchange.rate = rate


def _send_only(crew: Crew, step: Step) -> None:
    """Before ``start``: wait for the server, and receive nothing."""
    step.read_inbox = step.read_messages = False
    with answering():
        crew.take(step)
