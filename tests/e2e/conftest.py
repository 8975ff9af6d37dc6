"""Fixtures for tests of whole crawls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from s3fs import S3FileSystem
from support.s3server import S3Server, s3_server


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with s3_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        S3FileSystem.clear_instance_cache()  # instances for other servers
        yield server
