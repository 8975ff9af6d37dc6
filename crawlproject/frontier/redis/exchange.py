"""The thread that talks to Redis, so that no other code has to wait for it."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from threading import Condition, Thread
from typing import TypeVar

import redis

from crawlproject.errors import ServerFailed, StorageFailed
from crawlproject.frontier.redis.connection import LOST, will_pass
from crawlproject.frontier.redis.crew import AT_ONCE, BURST, Answer, Crew, HostVisit, Id, Step

logger = logging.getLogger(__name__)

BEAT = 1.0  # seconds between two looks at the other workers,
QUICK_BEAT = 0.1  # while this worker has nothing to do
LISTEN = 0.1  # seconds between two looks into the inbox, while this worker has nothing to do,
CALM = 0.25  # and while it has
_LESSON = 0.25  # seconds between two looks at the messages of others, while there is something to do

# Seconds between two tries while the server is away; the last pause repeats until there is a reply.
_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_REMIND = 30.0  # seconds between log messages that the server is still away
_APART = 0.02  # seconds between two steps: what arrives meanwhile goes with the next one
_LETTERS = 500  # groups of letters in a step
_PACED = 0.02  # seconds until the rate of all workers is asked for again
DENIED = -1.0  # instead of the time at which a visit may begin: there are enough pages

Found = TypeVar("Found")


@dataclass(slots=True)
class VisitCandidate:
    """A URL from the frontier, and the visit that it needs, which must begin by ``until``. ``attached``: the messages that
    others attached to the URL are wanted.
    """

    url: str
    visit: HostVisit
    until: float
    attached: bool = False


@dataclass(slots=True)
class Batch:
    """A step. Its visits are first ``further`` visits that were extended to another place, then those of the candidates."""

    step: Step
    further: int
    candidates: list[VisitCandidate]


@dataclass(slots=True)
class Arrival:
    """The result of a step. ``opens`` says when each candidate may be visited; 0.0: the visit has begun."""

    answer: Answer
    candidates: list[tuple[VisitCandidate, float]] = field(default_factory=list)
    attached: list[bytes] = field(default_factory=list)
    letters_sent: int = 0  # groups
    has_read_lost: bool = False  # whether the inbox of a lost worker was read to its end
    at: float = 0.0  # this worker's clock


@dataclass(slots=True)
class Work:
    """What waits for the next step, in order."""

    letters: deque[tuple[str, bytes]] = field(default_factory=deque)
    messages: deque[tuple[int, bytes]] = field(default_factory=deque)
    attached: deque[tuple[str, float, bytes]] = field(default_factory=deque)
    ended: deque[tuple[HostVisit, float]] = field(default_factory=deque)  # with the end of the rest, monotonic clock
    passed: deque[tuple[str, float]] = field(default_factory=deque)
    visits: deque[HostVisit] = field(default_factory=deque)  # visits under way that extend to another place
    candidates: deque[VisitCandidate] = field(default_factory=deque)
    applied: Id | None = None
    lost: deque[tuple[str, Id]] = field(default_factory=deque)  # workers, and how far their inboxes have been read

    def end(self, visit: HostVisit, rest: float) -> None:
        """End a visit now. Its places rest for ``rest`` seconds."""
        self.ended.append((visit, time.monotonic() + rest))

    def step(self) -> Step:
        """The work as a step: the first letters, and everything else but the candidates."""
        now = time.monotonic()
        return Step(
            letters=list(islice(self.letters, _LETTERS)),
            messages=list(self.messages),
            attached=list(self.attached),
            ended=[(visit, max(0.0, rested - now)) for visit, rested in self.ended],
            passed=list(self.passed),
            begin=list(self.visits),
            applied=self.applied,
            inbox_of=self.lost[0] if self.lost else None,
        )

    def is_urgent(self) -> bool:
        """Whether the work should not wait for the next look."""
        return bool(self.letters or self.ended or self.candidates or self.visits or self.passed)


class RedisExchange:
    """Carries a worker's ``Work`` to the server, step by step, and delivers what arrives.

    ``beat`` returns mode, stored pages, pages stored or being fetched, and report. ``reserve`` returns the pages stored or being
    fetched, and how many all workers may store (0: no limit). ``is_idle`` says whether this worker has nothing to do. These are
    called in the thread, as are ``deliver`` and ``failed``. While the server is away, loading or full, a step is repeated until
    it succeeds: nothing is lost.
    """

    def __init__(
        self,
        crew: Crew,
        *,
        clock: Callable[[], float],
        beat: Callable[[], tuple[str, int, int, bytes]],
        reserve: Callable[[], tuple[int, int]],
        is_idle: Callable[[], bool],
        deliver: Callable[[Arrival], object],
        failed: Callable[[StorageFailed], object],
        receives: bool,
    ) -> None:
        self._crew = crew
        self._clock = clock
        self._beat = beat
        self._reserve = reserve
        self._is_idle = is_idle
        self._deliver = deliver
        self._failed = failed
        self._receives = receives
        self.rate = 0.0  # fetches a second of all workers; 0: any number
        self.work = Work()
        self._condition = Condition()
        self._closing = False
        self._give_up_at = inf  # by the monotonic clock
        self._next_beat = 0.0
        self._next_lesson = 0.0
        self._questions = 0
        self._has_more = False  # whether the last look did not bring everything
        self.unused = 0  # fetches that the rate of all workers allowed, and that were not made
        self.granted = 0  # visits that have begun, but that the worker has not heard of yet
        self._thread = Thread(target=self._run, name="redis-frontier", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def __enter__(self) -> Work:
        """Inside, the work for the next step may be changed."""
        self._condition.acquire()
        return self.work

    def __exit__(self, *_: object) -> None:
        if self.work.is_urgent():
            self._condition.notify()
        self._condition.release()

    def close(self, patience: float) -> bool:
        """Carry what is left, for at most ``patience`` seconds. False if the server was away for so long."""
        with self._condition:
            self._closing = True
            self.work.candidates.clear()
            self._give_up_at = time.monotonic() + patience
            self._condition.notify()
        self._thread.join()
        return not self.work.is_urgent()

    # ------------------------------------------------------------ in the thread

    def _run(self) -> None:
        try:
            while self._step():
                if not self._has_more:  # each step takes the processor away from the caller several times
                    time.sleep(_APART)
        except StorageFailed as failure:
            self._failed(failure)
        except Exception as error:  # a wrong password, a wrong type of key: no retry would help
            self._failed(ServerFailed(f"Redis refused: {error}"))

    def _step(self) -> bool:
        """Make one step. False if it was the last."""
        with self._condition:
            if not self._closing and not self._has_more and not self.work.is_urgent():
                now = time.monotonic()
                listen = LISTEN if self._is_idle() else CALM
                self._condition.wait(max(0.0, min(listen, self._next_beat - now)))
            closing = self._closing
            batch = self._next_batch()
        if batch.candidates and self.rate:
            self._pace(batch)
        answer = self._persist(lambda: self._crew.take(batch.step), Answer())
        arrival = self._arrival(batch, answer)
        with self._condition:
            self.granted += sum(not at for _, at in arrival.candidates)
            self._done(batch)
            arrival.has_read_lost = self._read_lost(batch.step, answer)
            is_over = closing and not self.work.is_urgent()
        self._deliver(arrival)
        return not is_over

    def _next_batch(self) -> Batch:
        work = self.work
        candidates = [] if self._closing else list(work.candidates)
        step = work.step()
        now = time.monotonic()
        step.read_messages = self._receives and (self._has_more or now >= self._next_lesson or self._is_idle())
        if step.read_messages:
            self._next_lesson = now + _LESSON
        if len(step.letters) < len(work.letters):  # a visit ends only when everything that it led to has arrived
            step.ended, step.passed, candidates, step.inbox_of = [], [], [], None
        step.begin += [candidate.visit for candidate in candidates]
        if now >= self._next_beat or self._closing:
            step.beat = self._beat()
            self._next_beat = now + (QUICK_BEAT if self._is_idle() else BEAT)
        return Batch(step, len(work.visits), candidates)

    def _pace(self, batch: Batch) -> None:
        """Keep only as many candidates as the rate of all workers allows; the others ask again with the next step."""
        with self._condition:
            granted = min(self.unused, len(batch.candidates))
            self.unused -= granted
        wanted, rate, crew = len(batch.candidates) - granted, self.rate, self._crew
        if wanted:
            self._questions += 1
            granted += self._persist(lambda: crew.pace(self._questions, wanted, rate), Answer())
        if not granted:
            time.sleep(_PACED)
        del batch.candidates[granted:]
        del batch.step.begin[batch.further + granted :]

    def _arrival(self, batch: Batch, answer: Answer) -> Arrival:
        arrival = Arrival(answer, at=self._clock())
        # The remaining letters may end a candidate.
        while batch.candidates and answer.inbox and len(answer.inbox) % AT_ONCE == 0:
            more = self._persist(lambda: self._crew.take(Step(read_messages=False)), answer)
            if not more.inbox:
                break
            answer.inbox += more.inbox
        arrival.candidates = list(zip(batch.candidates, answer.opens[batch.further :], strict=True))
        arrival.letters_sent = len(batch.step.letters)
        self._reserve_pages(arrival)
        refused = [candidate for candidate, at in arrival.candidates if at]
        if self.rate:
            with self._condition:
                self.unused = min(BURST, self.unused + len(refused))
        wanted = [candidate.url for candidate, at in arrival.candidates if not at and candidate.attached]
        if wanted:
            attached = Step(attachments_of=wanted, read_inbox=False, read_messages=False)
            found = self._persist(lambda: self._crew.take(attached), answer).attachments
            arrival.attached = [message for message in found if message]
        halves = [candidate.visit for candidate in refused if len(candidate.visit.places) > 1]
        if halves:  # one of the places may have been free, and is now visited
            with self._condition:
                for visit in halves:
                    self.work.end(visit, 0.0)
        inboxes = answer.inbox, answer.inbox_of
        self._has_more = any(len(inbox) == AT_ONCE for inbox in inboxes) or len(answer.messages) >= AT_ONCE // 2
        return arrival

    def _reserve_pages(self, arrival: Arrival) -> None:
        """Of the visits that have begun, keep only as many as the page limit of all workers allows."""
        begun = [place for place, (_, at) in enumerate(arrival.candidates) if not at]
        own, most = self._reserve()
        if not most or not begun:
            return
        asked = Step(reserve=(own, len(begun), most), read_inbox=False, read_messages=False)
        granted = self._persist(lambda: self._crew.take(asked), arrival.answer).granted or 0
        surplus = begun[granted:]
        for place in surplus:
            arrival.candidates[place] = (arrival.candidates[place][0], DENIED)
        with self._condition:
            for place in surplus:
                self.work.end(arrival.candidates[place][0].visit, 0.0)

    def _done(self, batch: Batch) -> None:
        """Remove from the work what has arrived with this step."""
        work, step = self.work, batch.step
        for queue, gone in (
            (work.letters, len(step.letters)),
            (work.messages, len(step.messages)),
            (work.attached, len(step.attached)),
            (work.ended, len(step.ended)),
            (work.passed, len(step.passed)),
            (work.visits, batch.further),
            (work.candidates, len(batch.candidates)),
        ):
            for _ in range(min(gone, len(queue))):  # ``close`` may have taken the candidates back
                queue.popleft()
        if work.applied == step.applied:
            work.applied = None

    def _read_lost(self, step: Step, answer: Answer) -> bool:
        """Continue in the inbox of a lost worker. Return whether this was its end."""
        if step.inbox_of is None:
            return False
        if len(answer.inbox_of) == AT_ONCE:
            self.work.lost[0] = step.inbox_of[0], answer.inbox_of[-1][0]
            return False
        self.work.lost.popleft()
        return True

    def _read_on(self, undelivered: Answer) -> bool:
        """Letters to this worker may be what fills the server: read them, and drop those done. Whether there were any."""
        with suppress(*LOST, redis.exceptions.ResponseError):
            undelivered.inbox += self._crew.take(Step(read_messages=False, applied=self.work.applied)).inbox
        inbox, undelivered.inbox = undelivered.inbox, []
        if inbox:
            self._deliver(Arrival(Answer(inbox=inbox), at=self._clock()))
        return bool(inbox)

    def _persist(self, call: Callable[[], Found], undelivered: Answer) -> Found:
        """Call until there is a reply. While the server is full, letters are still read, after those ``undelivered``."""
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
                if self._read_on(undelivered):
                    tries = 0
            else:
                if reminded:
                    logger.warning("Redis answers again after %.1f s: the crawl continues", time.monotonic() - since)
                return answer
            now = time.monotonic()
            if now > self._give_up_at:
                raise ServerFailed(f"Redis does not answer: {reason}")
            if not reminded or now - reminded > _REMIND:
                short = str(reason).partition(" script: ")[0]
                logger.warning("Redis does not answer (%s): the crawl waits, nothing is lost", short)
                reminded = now
            time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
            tries += 1
