"""Disasters of one process. Each starts a crawl, disturbs it, and leaves it to be resumed."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.chaos.crawler import Crawler
from benchmarks.chaos.damage import cut_tail, files_of, flip_bits, zero_tail
from benchmarks.chaos.relay import Relay
from benchmarks.redis_server import RedisCluster, RedisServer

_SUSPENDED = 6.5  # seconds: longer than the time-out and the shortest pause that counts as a suspension
_STEADY = 2.0  # seconds around the start of a process, in which limits are not set
_LOG_FILES = ("history.jsonl", "items.jsonl", "links.jsonl", "frontier/journal.jsonl")


@dataclass
class Scene:
    """Everything that a disaster can affect, and its notes for the verdict."""

    crawler: Crawler
    random: Random
    pages: int
    redis: RedisServer | RedisCluster | None = None
    relay: Relay | None = None
    moments: list[tuple[float, set[str]]] = field(default_factory=list)  # times, with the URLs in the histories then
    notes: list[str] = field(default_factory=list)
    is_damaged: bool = False
    is_over: bool = False  # all workers have ended because nothing was left
    gone: set[str] = field(default_factory=set)  # URLs in a history that was lost with its disk
    damaged: set[str] = field(default_factory=set)  # URLs in the histories before these were damaged

    def some(self) -> int:
        """A random number of pages at which something happens."""
        return self.random.randint(1, int(self.pages * 0.8))

    def known(self) -> set[str]:
        """The URLs of the histories."""
        return {line.get("url", "") for line in self.crawler.lines("history.jsonl")}

    def in_flight(self) -> None:
        """Permit URLs that have been requested so far, but are in no history, to be requested again."""
        self.moments.append((time.time(), self.known()))

    def killed(self, lines: int) -> None:
        """Kill the worker w0 after ``lines`` lines."""
        self.crawler.start()
        self.crawler.reach(lines)
        self.crawler.kill("w0")
        self.in_flight()

    def stopped(self, lines: int) -> None:
        process = self.crawler.start()
        self.crawler.reach(lines)
        process.send_signal(signal.SIGTERM)
        self.notes.append(f"stopped with {self.crawler.wait()}")

    def ended(self) -> None:
        """End the crawl in one of four ways."""
        way = self.random.choice((self.killed, self.killed, self.stopped))
        way(self.some())


def nothing(scene: Scene) -> None:
    scene.crawler.start()
    scene.crawler.wait()


def kill(scene: Scene) -> None:
    for lines in sorted(scene.some() for _ in range(scene.random.randint(1, 3))):
        scene.killed(lines)


def stop(scene: Scene) -> None:
    scene.stopped(scene.some())


def _hurt(scene: Scene, paths: list[Path], damage: Callable[[Path, Random], str]) -> None:
    """Damage one of the existing files."""
    there = [path for path in paths if path.exists() and path.stat().st_size]
    before = scene.known()
    scene.notes.append(damage(scene.random.choice(there), scene.random))
    scene.is_damaged = True
    scene.damaged = before - scene.known()
    scene.in_flight()


def cut(scene: Scene) -> None:
    """A history, or sometimes another log, loses its tail."""
    scene.ended()
    name = scene.random.choice(("history.jsonl", "history.jsonl", *_LOG_FILES))
    folder = scene.crawler.folders[0]
    _hurt(scene, [folder / name] if (folder / name).exists() else [folder / "history.jsonl"], cut_tail)


def zero(scene: Scene) -> None:
    scene.ended()
    folder = scene.crawler.folders[0]
    _hurt(scene, [folder / name for name in _LOG_FILES], zero_tail)


def flip(scene: Scene) -> None:
    scene.ended()
    _hurt(scene, files_of(scene.crawler.folders[0]), flip_bits)


def disk_full(scene: Scene) -> None:
    """From some moment on, no file can grow beyond the present size of one of the logs."""
    process = scene.crawler.start()
    if scene.crawler.reach(scene.some()):
        sizes = [path.stat().st_size for path in scene.crawler.folders[0].glob("*.jsonl")]
        limit = scene.random.choice(sizes) + scene.random.randrange(3000)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        scene.notes.append(f"files of {limit} bytes")
    _expect(scene, 0, 3)


def clock(scene: Scene) -> None:
    """The clock of the first run is ahead by an hour or more."""
    scene.crawler.shifts = {"w0": scene.random.choice((3600.0, 86_400.0, 400.0))}
    scene.ended()
    scene.crawler.shifts = {}
    scene.notes.append("clock set back")


def suspend(scene: Scene) -> None:
    process = scene.crawler.start()
    if scene.crawler.reach(scene.some()):
        process.send_signal(signal.SIGSTOP)
        time.sleep(_SUSPENDED)
        scene.in_flight()
        process.send_signal(signal.SIGCONT)
    _expect(scene, 0)


def memory(scene: Scene) -> None:
    """From some moment on, the process can use only a few megabytes more. Sometimes it had a limit before."""
    if scene.random.random() < 0.5:
        scene.crawler.limits = "ulimit -S -v 16000000"
    process = scene.crawler.start()
    scene.crawler.limits = ""
    if scene.crawler.reach(scene.some()):
        used = int(Path(f"/proc/{process.pid}/statm").read_text().split()[0]) * resource.getpagesize()
        more = scene.random.choice((0, 1, 4, 16, 60)) * 2**20
        resource.prlimit(process.pid, resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))
        scene.notes.append(f"{more >> 20} MB more")
    _expect(scene, 0, 3, -signal.SIGABRT, -signal.SIGSEGV, 1)


def _expect(scene: Scene, *codes: int) -> None:
    found = scene.crawler.wait()
    scene.in_flight()
    if any(code not in codes for code in found):
        scene.notes.append(f"UNEXPECTED exit codes {found}")
    elif found != [0]:
        scene.notes.append(f"ended with {found}")
