"""Connections by the settings that users of scrapy-redis know."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawlproject.errors import BadSetting, StorageFailed

Server = Any  # redis.Redis or redis.cluster.RedisCluster: what is called here, both have

# As scrapy-redis has them, but for the time-out: a frontier is asked for milliseconds of work.
PARAMS: Mapping[str, Any] = {"socket_timeout": 10.0, "socket_connect_timeout": 10.0}
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
    """Whether the server may take the same call later: it is full, is loading, or finds no master."""
    return isinstance(error, _PASSING) or str(error).startswith(_PASSING_CODES)


def connect(
    *,
    url: str = "",
    host: str = "",
    port: int = 0,
    db: int = 0,
    params: Mapping[str, Any] | None = None,
    slots: int | None = 1,
) -> Server:
    """A client for the server. ``url`` wins over ``host``, ``port`` and ``db``; ``params`` go to the client's class.

    A server that is one node of a Redis Cluster is spoken to as a cluster; with a single slot one node would hold
    everything, so ``slots`` must be more than 1 there (None: whatever it is). Raises ``BadSetting`` for a URL that is
    none, or for such a cluster, and ``StorageFailed`` when there is no server for a few seconds: it may be restarting.
    """
    chosen = _arguments(params or {})
    client = make_client(url, host, port, db, params or {})
    where = url or f"{host}:{port}"
    if not _is_clustered(client, where):
        return client
    if slots == 1:
        raise BadSetting("setting FRONTIER_REDIS_SLOTS", f"{where} is a Redis Cluster: give it at least 2 slots")
    made = redis.RedisCluster.from_url(url, **chosen) if url else redis.RedisCluster(host=host, port=port, **chosen)
    client.close()
    return made


def make_client(url: str, host: str, port: int, db: int, params: Mapping[str, Any]) -> Server:
    """A client that has not spoken with its server yet. Raises ``BadSetting``."""
    chosen = _arguments(params)
    try:
        return redis.Redis.from_url(url, **chosen) if url else redis.Redis(host, port, db, **chosen)
    except (TypeError, ValueError) as error:
        raise BadSetting("setting REDIS_URL or REDIS_PARAMS", str(error)) from error


def _arguments(params: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the client's class: ours, over them ``params`` but for what would change what answers are."""
    unwanted = ("decode_responses", "encoding", "redis_cls", "retry_on_timeout")
    chosen = {**PARAMS, **{name: value for name, value in params.items() if name not in unwanted}}
    return {**chosen, "retry": Retry(NoBackoff(), 0)}  # whoever calls repeats a call, and says that it is a repetition


def _is_clustered(client: Server, where: str) -> bool:
    since = time.monotonic()
    while True:
        try:
            return bool(client.info("cluster").get("cluster_enabled"))
        except redis.exceptions.BusyLoadingError:
            pass  # it reads its files, however long that takes
        except redis.exceptions.RedisError as error:
            if not isinstance(error, LOST) or time.monotonic() - since > _PATIENCE:
                raise StorageFailed(f"no Redis at {where}: {error}") from error
        time.sleep(0.2)
