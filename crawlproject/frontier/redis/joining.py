"""A worker joins a crawl in Redis."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from redis.exceptions import RedisError

from crawlproject.errors import ServerFailed
from crawlproject.frontier.redis.connection import Server
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.script import FrontierRules
from crawlproject.frontier.redis.worker import RedisWorker


def join(
    server: Server,
    crawl: str,
    worker: str,
    rules: FrontierRules,
    *,
    clock: Callable[[], float],
    random: Random,
    slots: int = 1,
    messages: int = 0,
) -> RedisWorker:
    """The frontier of a crawl as one of its workers sees it. Raises ``BadSetting`` and ``StorageFailed``.

    ``messages``: so many of what workers tell each other are kept; 0: they tell nothing.
    """
    try:
        frontier = RedisFrontier(server, crawl, worker, rules, now=clock(), random=random, slots=slots, clock=clock)
        frontier.messages.kept = -(-messages // slots)
    except RedisError as error:
        raise ServerFailed(f"Redis refused: {error}") from error
    return RedisWorker(frontier, clock=clock, heartbeat=min(10.0, rules.lease / 3))
