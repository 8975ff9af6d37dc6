"""Several workers of one crawl on a virtual clock: do they find what one worker finds?

    python benchmarks/crew.py WEB [--topic FILE] [--orderings NAME...] [--workers 1 4] [--pages N] [--concurrent N]
                              [--json FILE] [-s NAME=VALUE]

``WEB`` is a name as for ``VIRTUAL_WEB``, or ``hostile[:PART][@SEED]``, which brings its own topic. ``0`` workers means one
crawl with its frontier in memory. ``--pages`` counts the pages of all workers together, and ``--concurrent`` all fetches
under way at a time. For each crew: recall of the targets, fetches of bad sites (of the hostile web), pages that repeat
another page, the most fetches of one text, and CPU time a page.

Each worker is a rehearsal with the frontier of a live worker: its own hosts on disk, its outbox, and a Redis shared by all
workers. Only the clock is virtual, and there are no threads. A worker sends what it has for Redis before the clock moves on;
it reads what Redis has for it in the same step, or after a quarter of a second, as a busy live worker does. A resting host
rests only in the frontier of its owner, which knows the virtual time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/crew.py`

import redis

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.opening import is_hostile, open_hostile
from benchmarks.hostile_web.topic import topic_of
from benchmarks.redis_server import redis_server
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.reading import topic_in_canonical_urls
from crawlproject.evaluation.simulation.run import CrawlSimulation
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.factory import open_frontier
from crawlproject.frontier.redis.connection import Server
from crawlproject.frontier.redis.crew import Answer, Crew, Heard, Step
from crawlproject.frontier.redis.exchange import CALM, Arrival, RedisExchange
from crawlproject.frontier.redis.report import Report
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import CallerLoop
from crawlproject.options import Options
from crawlproject.orderings.registry import ordering_class
from crawlproject.pages.text.relevance import make_judge
from crawlproject.parts.workers.shared_peers import SharedPeers
from crawlproject.records import Topic
from crawlproject.storage.append_log import read_lines
from crawlproject.topic.parse import load_topic
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.urls.hosts import host_of
from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import JudgedPages, PageCache

_LOOK = 0.05  # seconds until a URL that was due, but was not taken, is tried again
_QUIET = 15.0  # seconds without work for any worker until the crawl is over. A worker may wait ten for others.
_LONG = 1e6  # seconds by the clock of Redis that a worker, and a visit, may be silent


class VirtualCrew(Crew):
    """A worker's side of the crawl on the virtual clock: no host rests in Redis."""

    clock: Callable[[], float]

    def take(self, step: Step) -> Answer:
        step.ended, step.passed = [(visit, 0.0) for visit, _ in step.ended], []
        answer = super().take(step)
        if answer.heard is not None:
            answer.heard = answer.heard._replace(time=self.clock())
        return answer

    def join(self, pages: int, report: bytes) -> Heard:
        return super().join(pages, report)._replace(time=self.clock())


class Exchanges:
    """The exchanges of the workers, stepped in turn instead of running in threads."""

    def __init__(self) -> None:
        self._next_look: dict[RedisExchange, float] = {}  # by the virtual clock
        self._has_moved = False

    def start(self, workers: Sequence[CrawlSimulation], limit: int) -> None:
        loop = CallerLoop(call_soon=lambda call: call(), wake=lambda: None, failed=_raise)
        with patch.object(RedisExchange, "start", lambda exchange: self._next_look.setdefault(exchange, 0.0)):
            for worker in workers:
                worker.crawl.peers.start(limit, loop)
        for exchange in self._next_look:
            exchange._deliver = partial(self._deliver, exchange._deliver)

    def settle(self, now: float) -> bool:
        """Step until no worker has anything to send or to read; return whether there was anything."""
        self._has_moved = False
        while due := [one for one, look in self._next_look.items() if one.work.is_urgent() or look <= now]:
            for exchange in due:
                self._next_look[exchange] = now + CALM
                self._step(exchange)
        return self._has_moved

    def finish(self, exchange: RedisExchange, patience: float) -> bool:
        """Replaces ``close``."""
        exchange.work.candidates.clear()
        self._step(exchange)
        while exchange.work.is_urgent():  # end a visit that began in this step
            self._step(exchange)
        return True

    def _step(self, exchange: RedisExchange) -> None:
        self._has_moved |= exchange.work.is_urgent()
        exchange._next_beat = exchange._next_lesson = 0.0
        exchange._step()

    def _deliver(self, deliver: Callable[[Arrival], object], arrival: Arrival) -> None:
        self._has_moved |= bool(arrival.answer.inbox or arrival.answer.messages)
        deliver(arrival)


def _raise(failure: Exception) -> None:
    raise failure


def crawl(workers: Sequence[CrawlSimulation], pages: JudgedPages, limit: int) -> None:
    """Crawl to the end on one clock, which jumps to the next moment at which a worker has something to do.

    ``limit``: concurrent fetches of each worker.
    """
    exchanges, now, quiet_since = Exchanges(), 0.0, 0.0
    exchanges.start(workers, limit)
    while now - quiet_since < _QUIET:
        began = [worker.begin_fetch(pages) for worker in workers]  # each in turn, one at a time
        if any(began) or exchanges.settle(now):
            quiet_since = now
            continue
        events = [event for worker in workers if (event := worker.next_event()) is not None]
        now = min([event for event in events if event > now], default=now + _LOOK)
        if events:
            quiet_since = now
        for worker in workers:
            worker.pass_time(now)
    with patch.object(RedisExchange, "close", lambda *given: exchanges.finish(*given)):
        for worker in workers:
            worker.close()


def rehearse(web: Web, topic: Topic, cache: PageCache, options: Options, size: int, concurrent: int) -> dict[str, Any]:
    """Run one crew of ``size`` workers; return what it found."""
    judged = JudgedPages(cache, make_judge(topic.keywords, cache.reader.analyzer, options))
    with TemporaryDirectory() as name, redis_server(Path(name) / "redis") as server:
        folders = [Path(name) / f"w{number}" for number in range(size or 1)]
        workers = [
            CrawlSimulation(
                topic,
                options.model_copy(update={"crawl_worker": folder.name}),
                web,
                agent="benchmark",
                folder=folder,
                concurrency=max(1, concurrent // (size or 1)),
                open_crawl=partial(_open, redis.Redis(port=server.port)) if size else assemble,
            )
            for folder in folders
        ]
        began = time.process_time()
        crawl(workers, judged, max(1, concurrent // (size or 1)))
        spent = time.process_time() - began
        lines = sorted(
            (line for folder in folders for line in read_lines(folder / "history.jsonl")), key=lambda line: line["at"]
        )
    return {"workers": size, "ms_a_page": 1000 * spent / options.crawl_max_pages, **_found(lines, topic, web, options)}


def _open(
    server: Server, topic: Topic, options: Options, *, clock: Callable[[], float], folder: Path, **more: Any
) -> Crawl:
    """The crawl of one worker."""
    disk = options.model_copy(update={"frontier": "disk"})
    own = open_frontier(disk, folder / "frontier", clock=clock, commit=ordering_class(options.ordering).commit)
    assert isinstance(own, FrontierCore)
    crew = VirtualCrew(server, "crew", folder.name, folder.name, lease=_LONG, kept=options.frontier_redis_messages)
    crew.clock = clock
    worker = RedisWorker(
        own,
        crew,
        crew.join(0, Report(waiting=1).dump()),
        clock=clock,
        folder=folder / "frontier",
        max_pages=options.crawl_max_pages,
        max_urls_per_host=options.trap_max_urls_per_host,
    )
    frontier = worker, SharedPeers(folder.name, worker, folder)
    return assemble(topic, options, clock=clock, folder=folder, frontier=frontier, **more)


def _found(lines: Sequence[dict[str, Any]], topic: Topic, web: Web, options: Options) -> dict[str, Any]:
    targets = set(topic_in_canonical_urls(topic, make_canonicalizer(options)).targets)
    urls = [line["url"] for line in lines]
    kinds = Counter(web.kind_of(host_of(url)) for url in urls) if isinstance(web, HostileWeb) else Counter()
    kinds.pop("", None)
    texts = Counter(line["duplicate_of"] for line in lines if line["duplicate_of"])
    return {
        "recall": len(targets.intersection(urls)) / len(targets),
        "pages": sum(bool(line["md5"]) for line in lines),
        "fetches": len(urls),
        "twice": len(urls) - len(set(urls)),
        "bad": kinds.total() / len(urls),
        "repeats": texts.total(),
        "most_of_one_text": 1 + max(texts.values(), default=0),
        "virtual_seconds": max(line["at"] for line in lines),
        "kinds": dict(kinds.most_common()),
    }


def _tasks(chosen: argparse.Namespace) -> Iterator[tuple[Web, Topic]]:
    if is_hostile(chosen.web):
        hostile = open_hostile(chosen.web)
        yield hostile, topic_of(hostile)
        return
    web = open_web(chosen.web, cache_dir=cache_dir())
    for path in chosen.topic:
        yield web, load_topic(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web")
    parser.add_argument("--topic", type=Path, nargs="+", default=[], help="topic files")
    parser.add_argument("--orderings", nargs="+", default=["adaptive"])
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 4])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--concurrent", type=int, default=8)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("-s", dest="set", action="append", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args()
    rows = []
    for web, topic in _tasks(chosen):
        for ordering in chosen.orderings:
            given = dict(part.split("=", 1) for part in chosen.set)
            options = read_options({**topic.settings, **given, "CRAWL_MAX_PAGES": chosen.pages, "ORDERING": ordering})
            cache = read_pages(web, topic.language, options, agent="benchmark")
            for size in chosen.workers:
                found = rehearse(web, topic, cache, options, size, chosen.concurrent)
                rows.append({"topic": topic.name, "ordering": ordering, **found})
                print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in rows[-1].items()))
                sys.stdout.flush()
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
