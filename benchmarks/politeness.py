"""Politeness measured at the server: is every pause kept, and how close to the ideal does the crawl run?

    python benchmarks/politeness.py [--hosts 40] [--pages 20] [--delay 0.5] [--latency 0.05] [--workers 2] [--json FILE]

Hosts with a simulated latency are crawled over sockets. The server's access log shows the pauses between the end of a request
and the start of the next one to the same host (robots.txt included), and the sum of the hosts' rates. The ideal rate is
``hosts / (delay + fetch time)``, where the fetch time is the time that the server itself took.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/politeness.py`

from benchmarks.linked_web import LinkedWeb
from benchmarks.redis_server import redis_server
from crawlproject.http.virtual_web_server import Access, AccessLog, read_log, running

ROOT = Path(__file__).resolve().parent.parent


def host_farm(hosts: int, pages: int, latency: float) -> LinkedWeb:
    """``hosts`` hosts whose front pages link to ``pages - 1`` other pages of the host; a portal links to all hosts."""
    links = {"http://portal.example/": [f"http://h{host}.example/" for host in range(hosts)]}
    for front in links["http://portal.example/"]:
        inner = [f"{front}p{page}" for page in range(pages - 1)]
        links |= {front: inner} | {url: [] for url in inner}
    return LinkedWeb(links, latency)


def crawl(folder: Path, port: int, delay: float, shared: list[dict[str, str]]) -> None:
    """Crawl the farm once, in one separate process for each of these settings, or in a single one."""
    topic = folder / "topic.toml"
    topic.write_text('keywords = "reef"\nseeds = ["http://portal.example/"]\n')
    settings = {
        "CRAWL_DIR": folder / "crawl",
        "POLITENESS_MIN_DELAY": delay,
        "POLITENESS_FACTOR": 0,
        "LOG_LEVEL": "WARNING",
    }
    environment = {**os.environ, "http_proxy": f"http://127.0.0.1:{port}"}
    command = [sys.executable, "-m", "scrapy", "crawl", "topical", "-a", f"topic={topic}"]
    processes = []
    for own in shared or [{}]:
        chosen = [part for name, value in {**settings, **own}.items() for part in ("-s", f"{name}={value}")]
        processes.append(subprocess.Popen([*command, *chosen], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL))
    if failed := [process.returncode for process in processes if process.wait()]:
        raise SystemExit(f"a crawl ended with exit code {failed[0]}")


def figures(log: list[Access], hosts: int, delay: float) -> dict[str, float]:
    """The figures that follow from the log."""
    by_host: dict[str, list[Access]] = defaultdict(list)
    for access in sorted(log, key=lambda access: access["start"]):
        by_host[access["host"]].append(access)
    farm = [requests for host, requests in by_host.items() if host != "portal.example"]
    pauses = [later["start"] - earlier["end"] for requests in by_host.values() for earlier, later in pairwise(requests)]
    starts = sorted(access["start"] for requests in farm for access in requests)
    fetch = mean(access["end"] - access["start"] for requests in farm for access in requests)
    # Each host's own rate, so that it does not matter where in a round the crawl begins and ends.
    rate = sum((len(requests) - 1) / (requests[-1]["start"] - requests[0]["start"]) for requests in farm)
    ideal = hosts / (delay + fetch)
    return {
        "requests": len(log),
        "shortest_pause": min(pauses),
        "pauses_too_short": sum(pause < delay for pause in pauses),
        "fetch_seconds": fetch,
        "requests_per_second": rate,
        "ideal_per_second": ideal,
        "share_of_ideal": rate / ideal,
        "longest_silence": max(later - earlier for earlier, later in pairwise(starts)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--pages", type=int, default=20, help="pages of a host")
    parser.add_argument("--delay", type=float, default=0.5, help="POLITENESS_MIN_DELAY, seconds")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds the server takes for a page")
    parser.add_argument("--workers", type=int, default=0, help="that share a frontier in Redis (0: one crawl, on disk)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        farm = host_farm(chosen.hosts, chosen.pages, chosen.latency)
        with ExitStack() as stack:
            redis = stack.enter_context(redis_server(folder / "redis")) if chosen.workers else None
            names = [f"w{number}" for number in range(chosen.workers)]
            shared = [{"FRONTIER": "redis", "REDIS_URL": redis.url, "CRAWL_WORKER": name} for name in names if redis]
            log = stack.enter_context(AccessLog(folder / "log"))
            server = stack.enter_context(running(farm, latency=True, log=log))
            crawl(folder, server.port, chosen.delay, shared)
        found = figures(read_log(folder / "log"), chosen.hosts, chosen.delay)
    for key, value in found.items():
        print(f"{key:22}{value:10.4g}")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
