"""The thread that speaks with Redis, so that nobody else waits for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

import redis

from crawlproject.errors import ServerFailed, StorageFailed
from crawlproject.frontier.base import BlockedHost
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.connection import LOST, will_pass
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.operations import (
    LAST,
    Head,
    SlotCounts,
    ask_due_of,
    by_head,
    counts_of,
    due_of,
    pace_of,
    slot_of,
    take_of,
    taken_of,
)
from crawlproject.frontier.redis.script import Operation
from crawlproject.records import CrawlUrl

logger = logging.getLogger(__name__)

POLL = 0.1  # seconds at most between two looks for something to take: other workers put URLs, too
BURST = 10  # fetches at once after a pause, where their rate is limited
LOOK_EVERY = 1.0  # seconds between two looks at what is blocked, while nothing can be taken
_AT_ONCE = 2000  # operations of one call: the server does nothing else meanwhile
_PAUSES = (
    0.05,
    0.1,
    0.2,
    0.5,
    1.0,
    2.0,
)  # seconds between tries while the server is away; the last one again and again
_REMIND = 30.0  # seconds between messages that the server is still away


@dataclass(slots=True)
class PendingCall:
    """An operation on its way. ``url`` is what a put was about, ``is_new``: which was new here; ``unpick``: a lease that ends
    gives its pick back.
    """

    operation: Operation
    host: str
    url: CrawlUrl | None = None
    is_new: bool = False
    unpick: str = ""
    ends: bool = False  # it ends a lease: other slots must have everything that came before


@dataclass(slots=True)
class Replies:
    """What an exchange brought."""

    taken: list[CrawlUrl] = field(default_factory=list)
    answered: list[tuple[PendingCall, Any]] = field(default_factory=list)
    counts: list[SlotCounts] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    taken_with: list[bytes] = field(default_factory=list)  # messages that are attached to what was taken
    blocked: list[BlockedHost] | None = None  # when nothing could be taken, and that will be so for a while
    asked: bool = False  # something was to be taken
    due: float | None = None


class ClientThread:
    """Carries calls to the server in the order given, takes what is wanted, and hands over the answers.

    ``wanted`` gives the number of URLs to take, and is asked right before; ``receives``: messages of other workers are fetched
    with each exchange. At most ``limit`` leases are open at once.
    ``deliver`` and ``failed`` are called in the thread of the exchange. ``clock`` gives seconds since the epoch. While the
    server is away, is loading or is full, the same call is tried again and again: nothing is lost, and the script answers
    a repeated call as it did the first time.
    """

    def __init__(
        self,
        frontier: RedisFrontier,
        *,
        clock: Callable[[], float],
        limit: int,
        wanted: Callable[[], int],
        deliver: Callable[[Replies], None],
        failed: Callable[[StorageFailed], object],
        heartbeat: float,
        receives: bool = False,
    ) -> None:
        self._frontier = frontier
        self._clock = clock
        self._limit = limit
        self._wanted = wanted
        self._deliver = deliver
        self._failed = failed
        self._heartbeat = heartbeat
        self._receives = receives
        self._condition = Condition()
        self._calls: list[PendingCall] = []
        self._asked = False
        self._closing = False
        self.rate = 0.0  # fetches a second of all workers; 0: any number
        self._give_up_at = float("inf")  # by the monotonic clock
        self._counts = [SlotCounts()] * frontier.slots
        self._questions = 0
        self._next_look = 0.0
        self._thread = Thread(target=self._run, name="redis-frontier", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, calls: Sequence[PendingCall]) -> None:
        """Carry these, all together and after all before them."""
        with self._condition:
            self._calls.extend(calls)
            self._condition.notify()

    def ask(self) -> None:
        """Something is wanted."""
        with self._condition:
            if not self._asked:
                self._asked = True
                self._condition.notify()

    def close(self, patience: float) -> bool:
        """Carry what is left, for ``patience`` seconds at most. False: the server was away for so long."""
        with self._condition:
            self._closing = True
            self._give_up_at = time.monotonic() + patience
            self._condition.notify()
        self._thread.join()
        return not self._calls

    # ------------------------------------------------------------ in the thread

    def _run(self) -> None:
        pause = 0.0
        try:
            while True:
                with self._condition:
                    if not self._calls and not self._closing and pause > 0:
                        self._condition.wait(pause)
                    elif not self._calls and not self._closing and not self._asked:
                        self._condition.wait(self._heartbeat)
                    if self._closing and not self._calls:
                        return
                    calls = self._calls[:_AT_ONCE]
                    asked = self._asked and not self._closing
                answers = self._paced_exchange(calls, self._wanted() if asked else 0)
                with self._condition:
                    del self._calls[: len(calls)]
                    if answers.taken:
                        self._asked = False
                self._deliver(answers)
                pause = 0.0 if answers.taken or not asked else self._until(answers.due)
        except StorageFailed as failure:
            self._failed(failure)
        except Exception as error:  # a wrong password, a wrong type of key: no retry would help
            self._failed(ServerFailed(f"Redis refused: {error}"))

    def _until(self, due: float | None) -> float:
        """How long to wait for the next take."""
        return POLL if due is None else min(POLL, max(0.001, due - self._clock()))

    def _paced_exchange(self, calls: Sequence[PendingCall], wanted: int) -> Replies:
        """An exchange that takes no more than the rate of all workers allows."""
        rate = self.rate
        if not rate or wanted <= 0:
            return self._exchange(calls, wanted)
        granted = self._ask_pace(wanted, rate)
        answers = self._exchange(calls, granted)
        if granted > len(answers.taken):
            self._ask_pace(len(answers.taken) - granted, rate)
        return answers

    def _ask_pace(self, n: int, rate: float) -> int:
        self._questions += 1
        question = f"{self._frontier.token}/{self._questions}"

        def call() -> list[Any]:
            now = self._clock()
            return self._frontier.script.call(0, [pace_of(question, now, n, rate, BURST)], sent=now)

        return int(float(self._persist(call)[0]))

    def _exchange(self, calls: Sequence[PendingCall], wanted: int) -> Replies:
        answers = Replies(asked=wanted > 0)
        if self._frontier.slots == 1:
            self._visit(0, calls, wanted, LAST, answers)
        else:
            self._deal(calls, answers)
            self._take_from_slots(wanted, answers)
        for pending, answer in answers.answered:
            if pending.unpick and answer == 1:
                self._frontier.give_back_pick(pending.unpick)
        answers.counts = list(self._counts)
        if wanted and not answers.taken:
            self._look_at_blocks(answers)
        return answers

    def _look_at_blocks(self, answers: Replies) -> None:
        """Ask which hosts are blocked, as somebody may release them: rarely, since that takes the server a while."""
        now = self._clock()
        if now < self._next_look or (answers.due is not None and answers.due < now + LOOK_EVERY):
            return
        self._next_look = now + LOOK_EVERY
        answers.blocked = self._persist(lambda: list(self._frontier.blocked()))

    def _deal(self, calls: Sequence[PendingCall], answers: Replies) -> None:
        """To each slot its calls; what ends a lease comes after all others have arrived."""
        for ends in (False, True):
            groups: dict[int, list[PendingCall]] = {}
            for pending in calls:
                if pending.ends is ends:
                    groups.setdefault(slot_of(pending.host, self._frontier.slots), []).append(pending)
            for slot, some in groups.items():
                self._visit(slot, some, 0, LAST, answers)

    def _take_from_slots(self, wanted: int, answers: Replies) -> None:
        """The best of each slot, as far as the others are known to have no better ones.

        Those may have to wait, for a time or for their class: when nothing is left otherwise, it is taken whatever they have.
        """
        slots = by_head(self._counts)
        for slot, last in slots:
            self._visit(slot, (), wanted - len(answers.taken), last, answers)
        for slot, last in slots:
            may_take = answers.due is not None and answers.due <= self._clock()
            if may_take and not answers.taken and last < LAST:
                self._visit(slot, (), wanted, LAST, answers)

    def _visit(self, slot: int, calls: Sequence[PendingCall], wanted: int, last: Head, answers: Replies) -> None:
        frontier = self._frontier
        elsewhere = sum(count.ruled for other, count in enumerate(self._counts) if other != slot)
        self._questions += 1
        operations = [pending.operation for pending in calls]
        again = False

        def call() -> list[Any]:
            nonlocal again
            now = self._clock()
            limits = frontier.limits
            take = take_of(now, wanted, frontier.picks, limits=limits, last=last, question=self._questions, again=again)
            again = True
            asked = [ask_due_of(now, frontier.picks, limits=limits)] if wanted > 0 else []
            asked += [frontier.messages.asking(slot)] if self._receives else []
            return frontier.script.call(
                slot, [*operations, take, *asked, ("counts",)], sent=now, hosts_elsewhere=elsewhere
            )

        *results, counts = self._persist(call)
        self._counts[slot] = counts_of(counts)
        answers.answered += zip(calls, results[: len(calls)], strict=True)
        taken, messages = taken_of(results[len(calls)])
        answers.taken += taken
        answers.taken_with += messages
        frontier.picks += [queue_of(url.url) for url in taken]
        frontier.trim_picks(self._limit)
        if wanted > 0:
            due = due_of(results[len(calls) + 1])
            answers.due = due if answers.due is None else answers.due if due is None else min(due, answers.due)
        if self._receives:
            answers.messages += frontier.messages.answered(slot, results[-1])

    def _persist(self, call: Callable[[], list[Any]]) -> list[Any]:
        """Call until there is an answer."""
        since, reminded, tries = time.monotonic(), 0.0, 0
        while True:
            try:
                answer = call()
            except LOST as error:
                reason: Exception = error
            except redis.exceptions.ResponseError as error:
                if not will_pass(error):
                    raise
                reason = error
            else:
                if reminded:
                    logger.warning("Redis answers again after %.1f s: the crawl continues", time.monotonic() - since)
                return answer
            now = time.monotonic()
            if now > self._give_up_at:
                raise ServerFailed(f"Redis gives no answer: {reason}")
            if not reminded or now - reminded > _REMIND:
                short = str(reason).partition(" script: ")[0]
                logger.warning("Redis gives no answer (%s): the crawl waits, nothing is lost", short)
                reminded = now
            time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
            tries += 1
