"""A Redis server of one's own: a process on a free port of loopback, with a folder and an append-only file."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

_LOOPBACK = "127.0.0.1"
PROGRAM = shutil.which("redis-server")


LASTING = ("--appendfsync", "always")  # for a server that is killed: with ``everysec`` a busy disk may cost two seconds


class RedisServer:
    """``start`` and ``kill`` it at will: the port and the folder stay."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.options = options
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        assert PROGRAM is not None
        fixed = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", "")
        durable = ("--appendonly", "yes", "--appendfsync", "everysec")
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, *fixed, *durable, *self.options], stdout=log, stderr=log)
        client = redis.Redis(port=self.port)
        for _ in range(1000):
            try:
                client.ping()
                break
            except redis.exceptions.RedisError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.01)
        client.close()

    def kill(self) -> None:
        """``kill -9``."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


def _free_port() -> int:
    """A port that is free, and 10,000 above it another: nodes of a cluster speak with each other there."""
    while True:
        with socket.socket() as probe, socket.socket() as above:
            probe.bind((_LOOPBACK, 0))
            port: int = probe.getsockname()[1]
            try:
                above.bind((_LOOPBACK, port + 10_000))
            except (OSError, OverflowError):
                continue
            return port


@contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[RedisServer]:
    server = RedisServer(folder, *options)
    server.start()
    try:
        yield server
    finally:
        server.kill()
