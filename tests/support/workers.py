"""Workers of a crawl in Redis, in this process."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import redis

from crawlproject.errors import StorageFailed
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.redis.connection import connect
from crawlproject.frontier.redis.joining import join
from crawlproject.frontier.redis.worker import RedisWorker
from support.eventloop import Loop

_CLOCKS = "topical:clock:*"
_MARGIN = 3  # milliseconds: the server rounds up


def own_frontier(
    folder: Path | None = None, *, min_delay: float = 0.0, factor: float = 0.0, seed: int = 1, **options: Any
) -> FrontierCore:
    """The frontier in which a worker keeps its URLs: on disk, or without ``folder`` in memory."""
    chosen = {"politeness": Politeness(min_delay, factor), "random": Random(seed), **options}
    return DiskFrontier(folder, clock=time.time, **chosen) if folder else MemoryFrontier(**chosen)


class Line:
    """A connection that ends with its process: commands sent before are executed, and none is sent afterwards."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._busy = Lock()
        self._is_cut = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def pipeline(self, **named: Any) -> Any:
        pipeline = self._client.pipeline(**named)
        execute = pipeline.execute

        def execute_unless_cut(**named: Any) -> Any:
            with self._busy:
                if self._is_cut:
                    raise RuntimeError("the process of this worker was killed")
                return execute(**named)

        pipeline.execute = execute_unless_cut
        return pipeline

    def cut(self) -> None:
        with self._busy:
            self._is_cut = True


class Workers:
    """Joins workers in this process to crawls of one server; ``close`` ends all workers that still run."""

    def __init__(self, url: str, folder: Path | None = None) -> None:
        self.url = url
        self._folder = folder
        self._open: dict[RedisWorker, Line] = {}
        self._kills = 0
        self._places: dict[str, Path] = {}  # folders of killed workers

    def join(
        self,
        name: str,
        own: FrontierCore | None = None,
        *,
        crawl: str = "crawl",
        min_delay: float = 0.0,
        **options: Any,
    ) -> RedisWorker:
        """Return a worker before ``start``: new, or resumed if its folder exists."""
        folder = self._folder and self._places.get(name, self._folder / crawl / name)
        own = own_frontier(folder, min_delay=min_delay) if own is None else own
        return self._join(name, own, folder, crawl=crawl, **options)

    def _join(
        self, name: str, own: FrontierCore, folder: Path | None, *, crawl: str = "crawl", **options: Any
    ) -> RedisWorker:
        line = Line(connect(url=self.url))
        worker = join(line, crawl, name, own, clock=time.time, folder=folder, **options)
        self._open[worker] = line
        return worker

    def again(
        self,
        worker: RedisWorker,
        name: str,
        loop: Loop,
        *,
        meanwhile: Callable[[], object] = lambda: None,
        **options: Any,
    ) -> RedisWorker:
        """Return the successor of a worker whose process is killed now by ``kill -9``, before ``start``."""
        assert self._folder is not None
        self._kills += 1
        self.cut(worker, loop)
        folder = self._folder / "crawl" / name
        left = folder.with_name(f"{name}-{self._kills}")
        shutil.copytree(self._places.get(name, folder), left, ignore=shutil.ignore_patterns("*.tmp"))
        self._places[name] = left
        meanwhile()
        return self._join(name, own_frontier(left), left, **options)

    def cut(self, worker: RedisWorker, loop: Loop) -> None:
        """Act as if the process of the worker were killed now."""
        self._open.pop(worker).cut()
        loop.forget(worker)

    def end(self, worker: RedisWorker) -> None:
        """Close the worker."""
        del self._open[worker]
        worker.close()

    def close(self) -> None:
        for worker in self._open:
            with suppress(StorageFailed):
                worker.close()
        self._open = {}


def by_virtual_clock(worker: RedisWorker, server: redis.Redis) -> RedisWorker:
    """Let hosts rest in the server by the times passed to this worker, as hosts in its own frontier do."""
    last = 0.0

    def at(now: float) -> None:
        nonlocal last
        if now != last:
            _pass_time(server, now - last)
            last = now

    def told(method: Callable[..., Any], place: int) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            at(named.get("now", *arguments[place : place + 1]))
            return method(*arguments, **named)

        return call

    for name, place in (("take", 0), ("done", 1), ("release", 1), ("visit", 1), ("visited", 1)):
        setattr(worker, name, told(getattr(worker, name), place))
    return worker


def alone(server: redis.Redis, own: FrontierCore, folder: Path | None = None, **options: Any) -> RedisWorker:
    """The only worker of a crawl, before ``start``, on a virtual clock."""
    worker = join(server, "crawl", "worker", own, clock=lambda: 0.0, folder=folder, lease=1e6, **options)
    return by_virtual_clock(worker, server)


def _pass_time(server: redis.Redis, seconds: float) -> None:
    for key in server.scan_iter(match=_CLOCKS, count=1000):
        left = server.pttl(key) - 1000 * seconds
        if server.get(key) != b"":
            continue  # a visit
        if left <= _MARGIN:
            server.delete(key)
        else:
            server.pexpire(key, int(left))
