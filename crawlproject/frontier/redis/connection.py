"""Connections to Redis with the settings of scrapy-redis, made by its own helper."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy_redis.connection import get_redis

from crawlproject.errors import BadSetting, ServerFailed

Server = Any  # redis.Redis or redis.cluster.RedisCluster: both have everything that is called here

TIMEOUTS: Mapping[str, Any] = {"socket_timeout": 10.0, "socket_connect_timeout": 10.0}  # seconds; scrapy-redis has 30
_PATIENCE = 5.0  # seconds that a server may be away when a worker starts
LOST = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, redis.exceptions.BusyLoadingError)

_PASSING = (
    redis.exceptions.OutOfMemoryError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.TryAgainError,
    redis.exceptions.MasterDownError,
)
_PASSING_CODES = (
    "OOM",
    "LOADING",
    "MISCONF",
    "READONLY",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "BUSY",
    "MASTERDOWN",
    "NOREPLICAS",
)


def will_pass(error: redis.exceptions.ResponseError) -> bool:
    """Whether the server may accept the same call later: it is full, is loading, or has no master."""
    return isinstance(error, _PASSING) or str(error).startswith(_PASSING_CODES)


@contextmanager
def answering() -> Iterator[None]:
    """Turn a refusal or a missing reply of the server inside into ``ServerFailed``."""
    try:
        yield
    except redis.exceptions.RedisError as error:
        raise ServerFailed(f"Redis refused: {error}") from error


def connect(
    *, url: str = "", host: str = "", port: int = 0, db: int = 0, params: Mapping[str, Any] | None = None
) -> Server:
    """A client for the server. ``url`` overrides ``host``, ``port`` and ``db``; ``params`` are arguments of the client.

    A node of a Redis Cluster gets a client for clusters. Raises ``BadSetting`` for an invalid URL, and ``ServerFailed`` when
    no server answers for 5 seconds (it may be restarting) or when it refuses the connection.
    """
    client = make_client(url, host, port, db, params or {})
    where = f"{urlsplit(url).hostname}:{urlsplit(url).port or 6379}" if url else f"{host}:{port}"  # without a password
    if not _is_clustered(client, where):
        return client
    client.close()
    at = {"url": url} if url else {"host": host, "port": port}
    return get_redis(redis_cls=redis.RedisCluster, **at, **_arguments(params or {}))


def make_client(url: str, host: str, port: int, db: int, params: Mapping[str, Any]) -> Server:
    """A client that has not connected yet. Raises ``BadSetting``."""
    at = {"url": url} if url else {"host": host, "port": port, "db": db}
    try:
        return get_redis(**at, **_arguments(params))
    except (TypeError, ValueError) as error:
        raise BadSetting("setting REDIS_URL or REDIS_PARAMS", str(error)) from error


def _arguments(params: Mapping[str, Any]) -> dict[str, Any]:
    """``REDIS_PARAMS`` on top of our time-outs, without those that would change the type of replies.

    The client does not retry: its callers do, and mark the call as a repetition.
    """
    unwanted = ("decode_responses", "encoding", "redis_cls", "retry_on_timeout")
    chosen = {name: value for name, value in params.items() if name not in unwanted}
    return {**TIMEOUTS, **chosen, "retry": Retry(NoBackoff(), 0)}


def _is_clustered(client: Server, where: str) -> bool:
    since = time.monotonic()
    while True:
        try:
            return bool(client.info("cluster").get("cluster_enabled"))
        except redis.exceptions.BusyLoadingError:
            pass  # it is loading its files, which may take any time
        except redis.exceptions.RedisError as error:
            if isinstance(error, redis.exceptions.AuthenticationError) or not isinstance(error, LOST):
                raise ServerFailed(f"Redis at {where} refused the connection: {error}") from error
            if time.monotonic() - since > _PATIENCE:
                raise ServerFailed(f"no Redis at {where}: {error}") from error
        time.sleep(0.2)
