"""Workers of a crawl in Redis, in this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any

import redis

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.redis.joining import join
from crawlproject.frontier.redis.worker import RedisWorker

_CLOCKS = "topical:clock:*"
_MARGIN = 3  # milliseconds: the server rounds up


def own_frontier(
    folder: Path | None = None, *, min_delay: float = 0.0, factor: float = 0.0, seed: int = 1, **options: Any
) -> FrontierCore:
    """What a worker keeps its URLs in: on disk, or without ``folder`` in memory."""
    chosen = {"politeness": Politeness(min_delay, factor), "random": Random(seed), **options}
    return DiskFrontier(folder, clock=time.time, **chosen) if folder else MemoryFrontier(**chosen)


def by_virtual_clock(worker: RedisWorker, server: redis.Redis) -> RedisWorker:
    """The hosts that rest in the server do so by the times that this worker is told, as those in its own frontier do."""
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
    """The only worker of a crawl, before ``start``, by a virtual clock."""
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
