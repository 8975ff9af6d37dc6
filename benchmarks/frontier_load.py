"""One frontier under one load in a separate process; ``benchmarks/frontier.py`` starts this program for every figure.

    python -m benchmarks.frontier_load CONTENDER URLS FOLDER [--hosts N] [--revisits] [--reopen] [--progress N]

The load consists of URLs of 80 bytes on ``--hosts`` hosts (default 200,000), whose sizes follow Zipf's law. First the URLs
are added 40 at a time, like the links of a page, each with a parent, an anchor and a random score. Then pages are taken and
done one after another, 100 a second on the virtual clock, with a pause of 1 s and k = 50. Then waiting URLs get other scores,
40 at a time. The process ends without closing the frontier; ``--reopen`` opens what a killed process left. Prints one line of
JSON; with ``--progress`` another line after each N URLs: how fast these were added, and the total memory in MB, as
``anonymous``, the private memory of the process, and ``mapped``, files that the system may drop.

``--revisits``: every URL is a page that is fetched again and again. It waits for its next visit, due at a random time, so that
100 are due a second; after a visit it waits for the next one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Protocol

import numpy as np

from crawlproject.core.process_tuning import tune_process
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl

HOSTS = 200_000
LINKS = 40  # of a page
MOST_TAKES = 100_000
RESCORED = 20_000
TAKES_A_SECOND = 100
FETCH = 0.05  # seconds that a fetch takes

_OURS: dict[str, Any] = {"max_urls": 0, "batch_size": 50}


class Store(Protocol):
    """The measured operations of a contender; None for an operation that it does not have."""

    def put(self, page: Sequence[CrawlUrl]) -> None: ...
    def take(self, now: float) -> list[str]: ...
    def done(self, urls: Sequence[str], now: float, refetch_at: float | None) -> None: ...
    def rescore(self, scores: Sequence[tuple[str, float]]) -> None: ...
    def disk_bytes(self) -> int: ...


class Ours:
    """One of this project's ``Frontier`` classes."""

    def __init__(self, frontier: Frontier, folder: Path) -> None:
        self.frontier = frontier
        self._folder = folder

    def put(self, page: Sequence[CrawlUrl]) -> None:
        with self.frontier.batch():
            self.frontier.put_many(page)

    def take(self, now: float) -> list[str]:
        taken = self.frontier.take(now)
        return [taken.url] if taken else []

    def done(self, urls: Sequence[str], now: float, refetch_at: float | None) -> None:
        for url in urls:
            self.frontier.done(url, now, FETCH, refetch_at)

    def rescore(self, scores: Sequence[tuple[str, float]]) -> None:
        with self.frontier.batch():
            for url, score in scores:
                self.frontier.rescore(url, score)

    def disk_bytes(self) -> int:
        return sum(path.stat().st_blocks * 512 for path in self._folder.rglob("*") if path.is_file())


def memory(folder: Path) -> Store:
    from crawlproject.frontier.memory import MemoryFrontier

    return Ours(MemoryFrontier(politeness=Politeness(), random=Random(1), **_OURS), folder)


def journaled(folder: Path) -> Store:
    from crawlproject.frontier.journal import JournaledFrontier
    from crawlproject.frontier.memory import MemoryFrontier

    inner = MemoryFrontier(politeness=Politeness(), random=Random(1), **_OURS)
    return Ours(JournaledFrontier(inner, folder, clock=lambda: 0.0), folder)


def disk(folder: Path) -> Store:
    from crawlproject.frontier.disk.frontier import DiskFrontier

    return Ours(DiskFrontier(folder, politeness=Politeness(), random=Random(1), clock=lambda: 0.0, **_OURS), folder)


def scrapy(folder: Path) -> Store:
    from benchmarks.frontier_servers import ScrapyStore

    return ScrapyStore(folder)


def scrapy_redis(folder: Path) -> Store:
    from benchmarks.frontier_servers import ScrapyRedisStore

    return ScrapyRedisStore(os.environ["REDIS_URL"])


CONTENDERS: dict[str, Callable[[Path], Store]] = {
    "memory": memory,
    "journaled": journaled,
    "disk": disk,
    "scrapy": scrapy,
    "scrapy-redis": scrapy_redis,
}


def pages(urls: int, hosts: int, period: float) -> Iterator[list[CrawlUrl]]:
    """Yield the load page by page. ``period``: seconds within which each URL is due; 0: at once."""
    weights = 1 / np.arange(1, hosts + 1)
    shares = np.cumsum(weights / weights.sum())
    generator = np.random.default_rng(1)
    number = 0
    while number < urls:
        size = min(LINKS * 250, urls - number)
        on = np.searchsorted(shares, generator.random(size)).tolist()
        scores = generator.random(size).tolist()
        dues = (period * generator.random(size)).tolist() if period else [0.0] * size
        chunk = [
            CrawlUrl(
                url_of(host, number + i), score, 3, "http://h000007.example.org/", "the text of a link", score / 2, due
            )
            for i, (host, score, due) in enumerate(zip(on, scores, dues, strict=True))
        ]
        number += size
        for start in range(0, size, LINKS):
            yield chunk[start : start + LINKS]


def url_of(host: int, number: int) -> str:
    """A URL of 80 bytes."""
    return f"http://h{host:06d}.example.org/articles/topic/{number:012d}/a-title.html".ljust(80, "x")


class Watch:
    """Measures one kind of operation: total time, longest time, and each single time."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.operations = 0

    def time(self, operations: int, call: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        answer = call()
        self.times.append(time.perf_counter() - begin)
        self.operations += operations
        return answer

    def rate(self, times: Sequence[float] | None = None) -> float:
        """Operations a second, over ``times`` or over all times."""
        share = 1.0 if times is None else len(times) / len(self.times)
        spent = sum(self.times if times is None else times)
        return round(self.operations * share / spent) if spent else 0.0

    def figures(self, name: str) -> dict[str, float]:
        return {f"{name}s_per_second": self.rate(), f"{name}_longest_ms": round(1e3 * max(self.times, default=0.0), 2)}


def load(store: Store, urls: int, hosts: int, *, revisits: bool, progress: int = 0) -> dict[str, float]:
    """Run the whole load; return the figures."""
    period = urls / TAKES_A_SECOND if revisits else 0.0
    before = _resident()
    put, take, done, rescore = Watch(), Watch(), Watch(), Watch()
    some: list[str] = []
    told, spent = 0, 0.0
    for number, page in enumerate(pages(urls, hosts, period)):
        put.time(len(page), lambda page=page: store.put(page))
        spent += put.times[-1]
        if progress and put.operations - told >= progress:
            now = {"urls": put.operations, "puts_per_second": round((put.operations - told) / spent), **_memory()}
            print(json.dumps(now), flush=True)
            told, spent = put.operations, 0.0
        if number % max(1, urls // LINKS // RESCORED) == 0:
            some.append(page[number % len(page)].url)
    tenth = max(1, len(put.times) // 10)
    figures = {
        **put.figures("put"),
        "first_tenth": put.rate(put.times[:tenth]),
        "last_tenth": put.rate(put.times[-tenth:]),
        "resident_mb": round(_resident() / 1e6, 1),
        "resident_bytes_per_url": round((_resident() - before) / urls, 1),
        "resident_with_program_per_url": round(_resident() / urls, 1),
        "disk_bytes_per_url": round(store.disk_bytes() / urls, 1),
    }
    now = 0.0
    for _ in range(min(MOST_TAKES, urls // 4)):
        taken = take.time(1, lambda now=now: store.take(now))
        now += len(taken) / TAKES_A_SECOND if taken else 0.01
        take.operations += len(taken) - 1
        again = now + period if revisits else None
        done.time(len(taken), lambda taken=taken, now=now, again=again: store.done(taken, now, again))
    times = sorted(take.times)
    figures |= take.figures("take") | done.figures("done")
    figures |= {
        "take_p50_us": round(1e6 * times[len(times) // 2], 1),
        "take_p99_us": round(1e6 * times[len(times) * 99 // 100], 1),
    }
    random = Random(2)
    for start in range(0, len(some), LINKS):
        scores = [(url, random.random()) for url in some[start : start + LINKS]]
        rescore.time(len(scores), lambda scores=scores: store.rescore(scores))
    figures |= rescore.figures("rescore")
    figures["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1)
    return figures


def _resident() -> int:
    """Resident memory of this process in bytes, mapped files included."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _memory() -> dict[str, int]:
    """Resident memory of this process in megabytes."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        name: int(status[field].split()[0]) // 1000 for name, field in (("anonymous", "RssAnon"), ("mapped", "RssFile"))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contender", choices=CONTENDERS)
    parser.add_argument("urls", type=lambda text: int(float(text)))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hosts", type=lambda text: int(float(text)), default=HOSTS)
    parser.add_argument("--progress", type=lambda text: int(float(text)), default=0)
    parser.add_argument("--revisits", action="store_true")
    parser.add_argument("--reopen", action="store_true")
    options = parser.parse_args()
    tune_process()  # as a crawl does
    begin = time.perf_counter()
    store = CONTENDERS[options.contender](options.folder)
    opened = time.perf_counter() - begin
    if options.reopen:
        taken = store.take(1e9)
        figures: dict[str, Any] = {"reopen_seconds": round(opened, 2), "reopened_with_work": bool(taken)}
        if isinstance(store, Ours):
            figures["reopened_urls"] = len(store.frontier) + store.frontier.leases()
    else:
        figures = load(store, options.urls, options.hosts, revisits=options.revisits, progress=options.progress)
        figures |= {**_memory(), "hosts": getattr(getattr(store, "frontier", None), "hosts", int)()}
    print(json.dumps(figures), flush=True)
    sys.stdout.flush()
    os._exit(0)  # exit as if killed, without closing anything


if __name__ == "__main__":
    main()
