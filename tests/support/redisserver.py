"""The Redis of the tests: always started by them, never a running one."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from itertools import cycle
from pathlib import Path
from tempfile import mkdtemp

import pytest
import redis

from benchmarks.redis_server import LASTING, PROGRAM, RedisServer, redis_server

__all__ = ["LASTING", "PROGRAM", "RedisServer", "empty_database", "redis_server", "shared_server"]


@cache
def shared_server() -> RedisServer:
    """A server that runs as long as this process."""
    server = RedisServer(Path(mkdtemp(prefix="redis")))
    server.start()
    atexit.register(shutil.rmtree, server.folder, ignore_errors=True)
    atexit.register(server.kill)
    return server


_databases = cycle(range(16))


def empty_database() -> redis.Redis:
    """One of the 16 databases of the shared server, emptied: crawls in one database share the clocks of hosts."""
    if PROGRAM is None:
        pytest.skip("no redis-server on this machine; `make test` installs one")
    client = redis.Redis(port=shared_server().port, db=next(_databases))
    client.flushdb()
    return client
