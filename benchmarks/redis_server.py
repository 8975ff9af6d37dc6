"""A private Redis server: a process on a free loopback port, with a folder and an append-only file."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

_LOOPBACK = "127.0.0.1"
_KEY_SLOTS = 16384  # of a cluster
_PATIENCE = 60.0  # seconds until the nodes of a cluster have found each other
PROGRAM = shutil.which("redis-server")


LASTING = ("--appendfsync", "always")  # for a server that is killed: with ``everysec`` a busy disk may lose two seconds


class RedisServer:
    """A server that can be started and killed repeatedly: the port and the folder stay the same."""

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
        """Kill the server with ``kill -9``."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


class RedisCluster:
    """A cluster of three masters without replicas."""

    def __init__(self, folder: Path, *options: str) -> None:
        clustered = ("--cluster-enabled", "yes", "--cluster-node-timeout", "500", *options)
        self.nodes = [RedisServer(folder / str(number), *clustered) for number in range(3)]

    @property
    def url(self) -> str:
        return self.nodes[0].url

    def start(self) -> None:
        for node in self.nodes:
            node.start()
        clients: list[Any] = [redis.Redis(port=node.port) for node in self.nodes]
        for number, client in enumerate(clients):
            first, end = (_KEY_SLOTS * part // 3 for part in (number, number + 1))
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            client.execute_command("CLUSTER", "MEET", _LOOPBACK, self.nodes[0].port)
        limit = time.monotonic() + _PATIENCE
        while not all(client.cluster("info")["cluster_state"] == "ok" for client in clients):
            assert time.monotonic() < limit, "the nodes did not find each other"
            time.sleep(0.02)

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()


def _free_port() -> int:
    """A free port whose cluster bus port, 10,000 above it, is free too: cluster nodes talk to each other there."""
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
