"""Workers in one event loop, and an empty database for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from support.eventloop import Loop
from support.redisserver import empty_database
from support.workers import Workers


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def database() -> redis.Redis:
    return empty_database()


@pytest.fixture
def workers(database: redis.Redis, tmp_path: Path) -> Iterator[Workers]:
    """Workers, each with a frontier on disk."""
    where = database.connection_pool.connection_kwargs
    made = Workers(f"redis://127.0.0.1:{where['port']}/{where['db']}", tmp_path)
    yield made
    made.close()
