"""What an event loop is to the worker of a shared frontier."""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from crawlproject.errors import StorageFailed
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import CallerLoop


class Loop:
    """Runs what other threads ask for, on request."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.woken = 0
        self.failures: list[StorageFailed] = []

    def call_soon(self, call: Callable[[], None]) -> None:
        self._calls.put(call)

    def wake(self) -> None:
        self.woken += 1

    def start(self, frontier: RedisWorker, limit: int) -> RedisWorker:
        frontier.start(limit, CallerLoop(self.call_soon, self.wake, self.failures.append))
        return frontier

    def run_until(self, what: Callable[[], object], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, f"it did not happen; failures: {self.failures}"
            try:
                self._calls.get(timeout=0.05)()
            except Empty:
                continue


def crawl(frontier: RedisWorker, loop: Loop) -> list[str]:
    """Take and finish everything; the URLs in the order in which they were taken."""
    fetched = []

    def step() -> bool:
        while taken := frontier.take(time.time()):
            fetched.append(taken.url)
            frontier.done(taken.url, time.time(), 0.0)
        return not frontier.pending()

    loop.run_until(step)
    return fetched
