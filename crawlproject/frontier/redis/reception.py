"""What a worker does with the replies and letters that it gets from Redis."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.correspondence import Correspondence
from crawlproject.frontier.redis.crew import Heard, Id
from crawlproject.frontier.redis.exchange import DENIED, Arrival, RedisExchange
from crawlproject.frontier.redis.handover import Handover
from crawlproject.frontier.redis.members import Shares
from crawlproject.frontier.redis.report import Colleagues, Report
from crawlproject.frontier.redis.steps import Steps
from crawlproject.frontier.redis.visits import Visits
from crawlproject.records import CrawlUrl

_REPORT_EVERY = 0.5  # seconds between reports while there is work: the server gets one a second
_AHEAD = 20  # groups of letters that may wait before the handover pauses, each with at most a thousand URLs
BUSY_LOOK = 0.25  # seconds until the next look at a host that another worker visits


class Reception:
    """``arrived``: URLs that may be fetched now, each until a time. ``report``: this worker's last report about itself.
    ``is_over``: no worker has anything left. ``no_pages_until``: until that time, the pages in flight may use up the page limit.
    ``wake`` is called when there is news.
    """

    def __init__(
        self,
        own: FrontierCore,
        shares: Shares,
        handover: Handover,
        steps: Steps,
        visits: Visits,
        letters: Correspondence,
        colleagues: Colleagues,
        *,
        clock: Callable[[], float],
        wake: Callable[[], None],
    ) -> None:
        self._own = own
        self._shares = shares
        self._handover = handover
        self._steps = steps
        self._visits = visits
        self._letters = letters
        self._colleagues = colleagues
        self._clock = clock
        self._wake = wake
        self._call_soon: Callable[[Callable[[], None]], object] | None = None
        self._sent: dict[str, Id] = {}  # the last letters to each worker
        self.applied: Id = (0, 0)  # the last entry of the own inbox that was applied
        self._is_closed = False
        self._has_failed = False  # the disk failed: what arrives is left to the next process
        self._is_ahead = False  # whether the handover waits for the outbox
        self._is_first = True  # whether this process has not completed a handover yet
        self._left_by_before: set[str] = set()  # hosts whose visits by an earlier process were reported as ended
        self._report_due = 0.0
        self.receive: Callable[[Sequence[bytes]], None] | None = None
        self.arrived: deque[tuple[CrawlUrl, float]] = deque()
        self.report = b""
        self.is_over = False
        self._is_quiet = False  # whether the last reports said that no worker had anything left
        self.no_pages_until = 0.0
        self._lost: list[str] = []
        self._awaits_news = True  # whether other workers may still write to the lost ones
        self._unread = 0  # inboxes of lost workers still to be read

    def start(
        self, call_soon: Callable[[Callable[[], None]], object], failed: Callable[[StorageFailed | BadCrawlDir], object]
    ) -> None:
        """From now on, replies arrive."""
        self._call_soon = call_soon
        self._failed = failed
        self.make_report()

    def settle(self, arrival: Arrival, exchange: RedisExchange) -> None:
        """Handle the result of a step of the exchange."""
        if self._is_closed:
            return  # the next process reads again what was not applied
        try:
            self._settle(arrival, exchange)
        except (StorageFailed, BadCrawlDir) as failure:
            self._has_failed = True
            self._failed(failure)

    def _settle(self, arrival: Arrival, exchange: RedisExchange) -> None:
        answer = arrival.answer
        self._sent.update(answer.sent)
        self._visits.end_unanswered()
        if self._is_ahead and arrival.letters_sent and self._call_soon is not None:
            self._is_ahead = False
            self._call_soon(self._go_on_handing_over)
        before = self._what_matters()
        if answer.heard is not None:
            self.hear(answer.heard, arrival.at)
            if self._awaits_news and self._handover.all_know(self._shares.members.epoch, self._colleagues.away()):
                self._awaits_news = False
                self._unread += len(self._lost)
                with exchange as work:
                    work.lost.extend((worker, (0, 0)) for worker in self._lost)
        # Not earlier: letters to a worker that was just reported lost have been readdressed by now.
        self._steps.outbox.arrived(arrival.letters_sent)
        if answer.inbox and not self._has_failed:  # applying later ones would trim those that failed
            self._letters.read(answer.inbox)
            self._handover.save()
            self.applied = answer.inbox[-1][0]
            with exchange as work:
                work.applied = self.applied
        elif not self._handover.has_saved and not self._handover.is_scanning:
            self._handover.save()  # what it could not save before it had inherited
        if answer.inbox_of and not self._has_failed:
            self._letters.read(answer.inbox_of, is_of_lost=True)
        if arrival.has_read_lost:
            self._unread -= 1
            if not self._unread:
                self._letters.all_of_lost_read()
        if self.receive is not None and (messages := [*answer.messages, *arrival.attached]):
            self.receive(messages)  # before the caller can take the URLs that they are about
        if arrival.candidates:
            with self._steps.step():
                begun = self._grant(arrival)
            with exchange:
                exchange.granted -= begun
        is_idle = not self.has_work()
        if is_idle or arrival.at >= self._report_due:
            self.make_report()
            self._report_due = arrival.at + _REPORT_EVERY
        if answer.heard is not None:
            # Twice: letters of a worker that has left since the inbox was read arrive with the next step.
            was_quiet, self._is_quiet = self._is_quiet, is_idle and self._colleagues.are_over(self._own_report())
            self.is_over = was_quiet and self._is_quiet
        if arrival.candidates or answer.inbox or before != self._what_matters():
            self._wake()

    def _what_matters(self) -> tuple[Any, ...]:
        """The facts that let a waiting worker continue when they change."""
        return self._handover.is_open, self.is_over, self._colleagues.pages, self._colleagues.lowest

    def close(self) -> None:
        """Ignore everything that arrives from now on."""
        self._is_closed = True
        self._wake = lambda: None

    def _grant(self, arrival: Arrival) -> int:
        """Make the candidates whose visits have begun available; the others wait on. Return how many have begun."""
        now, begun = self._clock(), 0
        for candidate, opens in arrival.candidates:
            self._visits.asked.pop(candidate.url, None)
            url = self._own.leased(candidate.url)
            if not opens:
                self._visits.begun[candidate.url] = candidate.visit
                begun += 1
            if url is None:  # a letter has ended it
                self._visits.end(candidate.url, 0.0)
            elif not opens and not self._handover.is_open:
                self.arrived.append((url, candidate.until))
            elif opens and opens != DENIED:
                self.refuse(url, now, opens)
            else:
                self.no_pages_until = now + BUSY_LOOK if opens else 0.0
                self._own.hold(url.key, url.not_before)
                self._visits.end(url.key, 0.0)
            if url is not None and not self._shares.is_own(queue_of(url.url)) and self._own.record(url.key):
                self._letters.give(url.key, False)  # it waits again, and its host now belongs to another worker
        return begun

    def refuse(self, url: CrawlUrl, now: float, opens: float) -> None:
        """The host of a URL may not be visited for ``opens`` seconds; infinity: another visit is under way."""
        self._own.hold(url.key, url.not_before)
        self._own.rest_host(queue_of(url.url), now + (BUSY_LOOK if opens == inf else opens))

    # ------------------------------------------------------------ the other workers

    def hear(self, heard: Heard, at: float) -> None:
        """Learn from the server what the others do, when this worker's clock showed ``at``."""
        self._letters.offset = heard.time - at
        self._colleagues.hear(heard)
        self._own.set_awake_elsewhere(self._colleagues.lowest)
        self._lost = heard.lost
        if self._handover.meet(heard.members, self._colleagues.away(), heard.time):
            self._awaits_news = True
            self._letters.forget_sent()
            if self._call_soon is not None:
                self._letters.readdress()
                self.hand_over()

    def hand_over(self) -> None:
        """Send some of the URLs whose hosts now belong to another worker, and schedule the rest."""
        assert self._call_soon is not None
        if self._is_closed:
            return
        with self._steps.step():
            if self._handover.hand_over(self._give):
                self._is_first = False
                self._left_by_before.clear()
                for worker in self._shares.others():
                    self._steps.post(worker, [mail.HANDED, self._handover.epoch])
        if self._handover.is_scanning:
            self._is_ahead = len(self._steps.outbox) > _AHEAD
            if not self._is_ahead:
                self._call_soon(self._go_on_handing_over)
        else:
            self._handover.save()
            self._wake()

    def _go_on_handing_over(self) -> None:
        try:
            self.hand_over()
        except (StorageFailed, BadCrawlDir) as failure:
            self._failed(failure)

    def _give(self, key: str, is_done: bool) -> None:
        self._letters.give(key, is_done)
        if self._is_first:
            self._end_of_before([key])  # the URL may be done without the end of its visit having been reported

    def end_visits_of_before(self) -> None:
        """End visits of an earlier process of this worker that could not send their last letters, and so did not end them."""
        about = {mail.PAGE: slice(1), mail.WAIT: slice(1), mail.DONE: slice(None)}
        letters = (letter for _, some in self._steps.outbox.waiting() for letter in some)
        self._end_of_before(str(key) for kind, *rest in letters if kind in about for key in rest[about[kind]])

    def _end_of_before(self, urls: Iterable[str]) -> None:
        now = self._clock()
        for host in {queue_of(url) for url in urls} - self._left_by_before:
            self._left_by_before.add(host)
            self._visits.end_of_before(host, self._own.next_visit(host, now, 0.0) - now)

    def has_work(self) -> bool:
        """Whether this worker has anything left, or may get work from a worker that is not ready yet."""
        visits, outbox = self._visits, self._steps.outbox
        inherits = self.receive is not None and self._handover.inherits
        waits = self._handover.is_open or self._waits_for_letters()
        return bool(visits.begun or visits.asked or outbox or len(self._own) or waits or inherits)

    def _waits_for_letters(self) -> bool:
        """Whether lost workers were sent letters that may concern this worker."""
        return self._unread > 0 or (self._awaits_news and bool(self._lost))

    def make_report(self, *, is_away: bool = False) -> None:
        """Prepare the report for the next beat."""
        self.report = self._own_report(is_away=is_away).dump()

    def _own_report(self, *, is_away: bool = False) -> Report:
        own, visits = self._own, self._visits
        return Report(
            waiting=len(own) + (self._handover.is_open or self._waits_for_letters()),
            leases=len(visits.begun) + len(visits.asked),
            hosts=own.hosts(),
            evicted=own.evicted(),
            lowest=own.lowest_awake(),
            unsent=len(self._steps.outbox),
            applied=self.applied,
            sent=dict(self._sent),
            is_away=is_away,
        )
