"""Several workers share one crawl through Redis while workers and Redis are killed: is a page lost, is a pause broken?

    python benchmarks/worker_kills.py [--pages 20000] [--hosts 120] [--workers 4] [--delay 1.0] [--every 20] [--redis-kills 2]

A web of known pages is served over sockets. Every ``--every`` seconds one worker in turn is killed with ``kill -9`` and
restarted under its name. The Redis server is killed ``--redis-kills`` times, evenly spread over the expected run (its
append-only file is written before each answer and synced every second). At the end the crawl folders and the server's access
log, which covers all workers, are checked:

- every page of the web is stored by some worker;
- the delay lies between the end of a request and the start of the next one of the same host, whichever worker asks;
- any k consecutive requests of one worker go to k hosts while k of its hosts wait, apart from requests that overtake each other
  on the way (a visit for robots.txt counts among the k, and does not bar its host);
- the pages that were fetched twice are no more than the hosts that a killed worker was visiting.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import Pipe, Process
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/worker_kills.py`

import redis

from benchmarks.linked_web import LinkedWeb
from benchmarks.redis_server import RedisServer
from crawlproject.frontier.redis.keys import clock_of
from crawlproject.http.virtual_web_server import Access, AccessLog, WebServer, read_log
from crawlproject.urls.hosts import host_of
from crawlproject.webs.base import Web

ROOT = Path(__file__).resolve().parent.parent
PORTAL = "http://portal.example/"
K = 20
_SLACK = 1.0  # seconds of tolerance when the number of waiting hosts at a moment is derived from the log


def known_web(hosts: int, pages: int, latency: float) -> LinkedWeb:
    """``hosts`` hosts and ``pages`` pages in all, each reachable from the portal; each page has three random links."""
    random = Random(5)
    each = max(1, -(-(pages - 1) // hosts))
    front = [f"http://h{host}.example/" for host in range(hosts)]
    inner = [f"{url}p{page}" for url in front for page in range(each - 1)]
    links = {PORTAL: front}
    for host, url in enumerate(front):
        links[url] = inner[host * (each - 1) : (host + 1) * (each - 1)]
    for url in inner:
        links[url] = random.sample(inner, 3)
    return LinkedWeb(links, latency)


@dataclass
class Crew:
    """The workers: processes that are started, killed and started again under their names."""

    folder: Path
    redis_url: str
    port: int
    settings: dict[str, object]

    def __post_init__(self) -> None:
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        topic = self.folder / "topic.toml"
        topic.write_text(f'name = "chaos"\nkeywords = "reef"\nseeds = ["{PORTAL}"]\n')
        self._topic = topic

    def start(self, name: str) -> None:
        settings = {
            "CRAWL_DIR": self.folder / "crawl",
            "CRAWL_WORKER": name,
            "FRONTIER": "redis",
            "REDIS_URL": self.redis_url,
            "USER_AGENT": name,
            "CRAWL_PROGRESS_SECONDS": 0,
            **self.settings,
        }
        chosen = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
        arguments = ["crawl", "topical", "-a", f"topic={self._topic}", "-a", "ordering=dom"]
        command = [sys.executable, "-m", "scrapy", *arguments, *chosen]
        environment = {**os.environ, "http_proxy": f"http://127.0.0.1:{self.port}"}
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def kill(self, name: str) -> None:
        self.running[name].send_signal(signal.SIGKILL)
        self.running[name].wait()

    def alive(self) -> list[str]:
        return [name for name, process in self.running.items() if process.poll() is None]

    def failed(self) -> list[str]:
        return [name for name, process in self.running.items() if process.poll() not in (None, 0, -signal.SIGKILL)]

    def stored(self) -> Counter[str]:
        """The pages in the histories of all workers, each with the number of histories that contain it."""
        found: Counter[str] = Counter()
        for path in sorted(self.folder.glob("crawl/workers/*/history.jsonl")):
            whole = path.read_bytes().split(b"\n")[:-1]
            found.update(visit["url"] for visit in map(json.loads, whole) if visit["md5"])
        return found


@contextmanager
def served(web: Web, log: Path) -> Iterator[int]:
    """Yield the port of a server in a separate process, so that nothing here delays the times that it notes."""
    here, there = Pipe()
    process = Process(target=_serve, args=(web, log, there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _serve(web: Web, path: Path, pipe: Any) -> None:
    with suppress(
        PermissionError, AttributeError
    ):  # the server notes the end of a request after the answer was sent, and must do so at once
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))

    async def serve() -> None:
        with AccessLog(path) as log:
            async with WebServer(web, latency=True, log=log) as server:
                pipe.send(server.port)
                await asyncio.Event().wait()

    asyncio.run(serve())


def open_visits(client: Any, worker: str) -> int:
    """The number of hosts that a worker is visiting."""
    visits = (client.get(key) or b"" for key in client.scan_iter(match=clock_of("*"), count=1000))
    return sum(visit.startswith(f"chaos/{worker}\n".encode()) for visit in visits)


def run(chosen: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the crawl and its disasters."""
    web = known_web(chosen.hosts, chosen.pages, chosen.latency)
    settings = {
        "POLITENESS_MIN_DELAY": chosen.delay,
        "POLITENESS_FACTOR": 0,
        "CONCURRENT_REQUESTS": chosen.concurrent,
        "FRONTIER_BATCH_SIZE": K,
    }
    names = [f"w{number}" for number in range(chosen.workers)]
    server = RedisServer(folder / "redis")
    server.start()
    client = redis.Redis(port=server.port, retry=None)
    expected = chosen.expected or chosen.pages / chosen.hosts * (chosen.delay + chosen.latency)
    redis_kills = [expected * (kill + 1) / (chosen.redis_kills + 1) for kill in range(chosen.redis_kills)]
    killed, visits_at_kills = 0, 0
    began = time.monotonic()
    with served(web, folder / "log") as port:
        crew = Crew(folder, server.url, port, settings)
        for name in names:
            crew.start(name)
        next_kill = began + chosen.every
        try:
            while crew.alive():
                time.sleep(0.1)
                now = time.monotonic()
                if now - began > chosen.limit:
                    break
                if redis_kills and now - began > redis_kills[0]:
                    redis_kills.pop(0)
                    server.kill()
                    time.sleep(chosen.away)
                    server.start()
                if now > next_kill and (alive := crew.alive()):
                    next_kill += chosen.every
                    victim = names[killed % len(names)]
                    if victim in alive:
                        crew.kill(victim)
                        visits_at_kills += open_visits(client, victim)
                        crew.start(victim)
                        killed += 1
        finally:
            for name in crew.alive():
                crew.kill(name)
    took = time.monotonic() - began
    server.kill()
    stored = crew.stored()
    accesses = read_log(folder / "log")
    return {
        "seconds": round(took, 1),
        "workers_killed": killed,
        "redis_killed": chosen.redis_kills - len(redis_kills),
        "pages_of_the_web": sum(1 for _ in web.urls()),
        "pages_stored": len(stored),
        "pages_lost": len(set(web.urls()) - set(stored)),
        "visits_open_at_kills": visits_at_kills,
        **judge(accesses, chosen),
        "failed_workers": crew.failed(),
    }


def judge(accesses: list[Access], chosen: argparse.Namespace) -> dict[str, Any]:
    """The figures that follow from the server's log."""
    by_host: dict[str, list[Access]] = defaultdict(list)
    for access in sorted(accesses, key=lambda access: access["start"]):
        by_host[access["host"]].append(access)
    pauses = [later["start"] - earlier["end"] for requests in by_host.values() for earlier, later in pairwise(requests)]
    pages = [access for access in accesses if not access["url"].endswith("/robots.txt") and access["status"] == 200]
    fetched = Counter(access["url"] for access in pages)
    looked_at, broken = k_rule(accesses, chosen.concurrent)
    return {
        "requests": len(accesses),
        "shortest_pause": round(min(pauses), 4),
        "pauses_too_short": sum(pause < chosen.delay for pause in pauses),
        "fetched_again": sum(fetched.values()) - len(fetched),
        "picks_under_the_k_rule": looked_at,
        "k_rule_broken": broken,
        "pages_of_workers": dict(sorted(Counter(access["agent"] for access in pages).items())),
    }


def k_rule(accesses: list[Access], concurrent: int) -> tuple[int, int]:
    """Return how many requests were checked, and how many of them repeat a host of the worker's last k - 1 requests.

    A request is checked if k hosts of the worker or more certainly waited at that time: the worker had fetched a page of each
    a while ago and has yet to request another. Of the k - 1 requests before, ``concurrent - 1`` may have overtaken each other.
    """
    everything = sorted(accesses, key=lambda access: access["start"])
    requests = [access for access in everything if not access["url"].endswith("/robots.txt")]
    opened: dict[tuple[str, str], float] = {}
    last: dict[tuple[str, str], float] = {}
    for access in requests:
        share = access["agent"], access["host"]
        opened.setdefault(share, access["end"] + _SLACK)
        last[share] = access["start"] - _SLACK
    long = [share for share, at in opened.items() if at < last[share]]
    changes = [(opened[share], 1, share[0]) for share in long] + [(last[share], -1, share[0]) for share in long]
    events = deque(sorted(changes))
    looked_at = broken = 0
    waiting: Counter[str] = Counter()
    recent: dict[str, list[str]] = defaultdict(list)
    for access in everything:
        agent = access["agent"]
        before = recent[agent]
        if access["url"].endswith("/robots.txt"):
            before.append("")
            continue
        while events and events[0][0] <= access["start"]:
            _, change, whose = events.popleft()
            waiting[whose] += change
        if waiting[agent] >= K:
            looked_at += 1
            broken += host_of(access["url"]) in before[-(K - concurrent) :]
        before.append(access["host"])
    return looked_at, broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, default=120)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--concurrent", type=int, default=8, help="CONCURRENT_REQUESTS of each worker")
    parser.add_argument("--delay", type=float, default=1.0, help="POLITENESS_MIN_DELAY, seconds")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds the server takes for a page")
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two kills of workers")
    parser.add_argument("--redis-kills", type=int, default=2)
    parser.add_argument("--away", type=float, default=3.0, help="seconds that Redis stays away")
    parser.add_argument("--expected", type=float, default=0, help="seconds of the whole run, for when to kill Redis")
    parser.add_argument("--limit", type=float, default=1800, help="seconds until the run is given up")
    parser.add_argument("--folder", type=Path, help="keep everything here")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        found = run(chosen, folder)
    for key, value in found.items():
        print(f"{key:24}{value}")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))
    good = not (found["pages_lost"] or found["pauses_too_short"] or found["k_rule_broken"] or found["failed_workers"])
    sys.exit(0 if good and found["fetched_again"] <= found["visits_open_at_kills"] else 1)


if __name__ == "__main__":
    main()
