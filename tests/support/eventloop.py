"""A stand-in for the event loop that workers of a shared frontier use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import CallerLoop
from crawlproject.records import CrawlUrl


class Loop:
    """Queues the calls of other threads, and runs them on request."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.woken = 0
        self.failures: list[StorageFailed | BadCrawlDir] = []
        self._dead: set[RedisWorker] = set()

    def wake(self) -> None:
        self.woken += 1

    def start(self, frontier: RedisWorker, limit: int = 4) -> RedisWorker:
        def call_soon(call: Callable[[], None]) -> None:
            self._calls.put(lambda: None if frontier in self._dead else call())

        frontier.start(limit, CallerLoop(call_soon, self.wake, self.failures.append))
        return frontier

    def forget(self, frontier: RedisWorker) -> None:
        """Drop the calls of a worker whose process was killed."""
        self._dead.add(frontier)

    def run_until(self, what: Callable[[], object], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, f"it did not happen; failures: {self.failures}"
            self.run_one()

    def run_one(self) -> None:
        """Run one call, if one arrives soon."""
        try:
            call = self._calls.get(timeout=0.02)
        except Empty:
            return
        call()

    def run_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.run_one()


def take(frontier: RedisWorker, loop: Loop) -> CrawlUrl:
    """Wait for the next URL."""
    found: list[CrawlUrl] = []
    loop.run_until(lambda: found or found.extend(filter(None, [frontier.take(time.time())])) or found)
    return found[0]


def crawl(
    frontiers: RedisWorker | Iterable[RedisWorker],
    loop: Loop,
    links: Callable[[str], Iterable[CrawlUrl]] = lambda url: (),
) -> list[str]:
    """Take and finish all URLs; return them in the order taken. ``links`` are the links of each page."""
    workers = [frontiers] if isinstance(frontiers, RedisWorker) else list(frontiers)
    fetched = []

    def step() -> bool:
        for frontier in workers:
            while taken := frontier.take(time.time()):
                fetched.append(taken.key)
                with frontier.batch():
                    frontier.put_many(links(taken.url))
                    frontier.done(taken.key, time.time(), 0.0)
        return not any(frontier.pending() for frontier in workers)

    loop.run_until(step)
    return fetched
