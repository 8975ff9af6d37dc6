"""Workers of one crawl with their own Redis, and the results of their work."""

from __future__ import annotations

import signal
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from crawlproject.http.virtual_web_server import Access, read_log
from support.crawling import QUICK, start, stored
from support.redisserver import RedisServer
from support.warm import Started


class Crew:
    """Workers of one crawl."""

    def __init__(self, folder: Path, topic: Path, server: RedisServer, port: int, **settings: object) -> None:
        self.folder = folder
        self.port = port
        self.topic = topic
        self.settings = {**QUICK, "CRAWL_DIR": folder, "FRONTIER": "redis", "REDIS_URL": server.url, **settings}
        self.processes: dict[str, Started] = {}

    def start(self, name: str, ordering: str = "dom") -> None:
        chosen = {**self.settings, "CRAWL_WORKER": name, "USER_AGENT": name}
        arguments = ("crawl", "topical", "-a", f"topic={self.topic}", "-a", f"ordering={ordering}")
        self.processes[name] = start(*arguments, port=self.port, **chosen)

    def kill(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].communicate()

    def wait(self) -> str:
        """Wait until all workers have ended, check that they succeeded, and return their messages."""
        said = ""
        for name, process in self.processes.items():
            said += process.communicate(timeout=900)[1]
            assert process.returncode == 0, f"{name}: {said}"
        return said

    def workers(self) -> list[Path]:
        return sorted((self.folder / "workers").iterdir())

    def stored(self) -> Counter[str]:
        """The number of workers that stored each page."""
        return Counter(url for worker in self.workers() for url in stored(worker))


def pauses(log: Path) -> list[float]:
    """Seconds from the end of a request to the start of the next one to the same host, from any worker."""
    by_host: dict[str, list[Access]] = defaultdict(list)
    for access in sorted(read_log(log), key=lambda access: access["start"]):
        by_host[access["host"]].append(access)
    return [later["start"] - earlier["end"] for some in by_host.values() for earlier, later in pairwise(some)]


def wait_for(what: object, seconds: float = 60.0) -> None:
    """Wait until ``what()`` is true."""
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
