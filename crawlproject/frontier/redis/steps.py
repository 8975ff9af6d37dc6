"""A step of a worker: changes of its own frontier, letters for the outbox, and the requests to Redis that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.exchange import RedisExchange, Work
from crawlproject.frontier.redis.mail import Letter, Outbox

Change = Callable[[Work], object]


class Steps:
    """The steps of one worker. A letter is on disk before the frontier commits the change that caused it, and is sent afterwards.

    Until ``start``, letters wait in the outbox, and ``send_now`` sends everything else. ``epoch`` returns the members' epoch.
    """

    def __init__(
        self, own: FrontierCore, outbox: Outbox, send_now: Callable[[Work], object], epoch: Callable[[], int]
    ) -> None:
        self._own = own
        self.outbox = outbox
        self._send_now = send_now
        self._epoch = epoch
        self._exchange: RedisExchange | None = None
        self._is_open = False
        self._after: list[Change] = []  # changes of the work to make after the step under way
        if isinstance(own, DiskFrontier):
            own.before_commit(outbox.write)

    def start(self, exchange: RedisExchange) -> None:
        """From now on, ``exchange`` carries everything that is sent."""
        with exchange as work:
            work.letters.extend((worker, mail.dump(letters)) for worker, letters in self.outbox.waiting())
        self._exchange = exchange

    @contextmanager
    def step(self) -> Iterator[None]:
        """Make the calls inside one atomic step. A step inside another is a part of it."""
        if self._is_open:
            yield
            return
        self._is_open = True
        letters: list[tuple[str, list[Letter]]] = []
        try:
            with self._own.batch():
                try:
                    yield
                finally:
                    letters = self.outbox.collect()
                    self.outbox.write()
        finally:
            self._is_open = False
            changes, self._after = self._after, []
            self._send(letters, changes)

    def post(self, worker: str, letter: Letter) -> None:
        """Send a letter to another worker."""
        if self._is_open:
            self.outbox.add(worker, letter)
        else:
            with self.step():
                self.outbox.add(worker, letter)

    def tell(self, change: Change) -> None:
        """Change the work for Redis, after the step under way if there is one."""
        if self._is_open:
            self._after.append(change)
        else:
            self._send([], [change])

    def _send(self, letters: Sequence[tuple[str, list[Letter]]], changes: Sequence[Change]) -> None:
        if self._exchange is None:
            if changes:
                work = Work()
                for change in changes:
                    change(work)
                self._send_now(work)
        elif letters or changes:
            with self._exchange as work:
                work.letters.extend((worker, mail.dump(some, self._epoch())) for worker, some in letters)
                for change in changes:
                    change(work)
