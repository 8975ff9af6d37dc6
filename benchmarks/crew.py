"""Several workers of one crawl on a virtual clock: do they find what one worker finds?

    python benchmarks/crew.py WEB [--topic FILE] [--orderings NAME...] [--workers 1 4] [--pages N] [--concurrent N]
                              [--json FILE] [-s NAME=VALUE]

``WEB`` is a name as for ``VIRTUAL_WEB``, or ``hostile[:PART][@SEED]``, which brings its topic. The workers are rehearsals in one
process that share a frontier in a Redis of their own; ``0`` is one crawl with its frontier in memory. ``--pages`` counts the
pages of all, and ``--concurrent`` the fetches that are under way at a time, of all. As in a live crawl, a worker knows of the
URLs that it has put itself, and learns what others publish when it takes its next URL. For each crew: recall of the targets,
fetches of bad sites (of the hostile web), pages that repeat another, the most fetches of one text, and CPU time a page.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/crew.py`

import redis

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.opening import is_hostile, open_hostile
from benchmarks.hostile_web.topic import topic_of
from benchmarks.redis_server import redis_server
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.reading import topic_in_canonical_urls
from crawlproject.evaluation.simulation.run import CrawlSimulation
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.frontier.factory import redis_rules
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.client_thread import POLL
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.operations import rescore_of
from crawlproject.frontier.redis.worker import RedisWorker
from crawlproject.frontier.shared import GONE, KNOWN
from crawlproject.options import Options
from crawlproject.orderings.registry import ordering_class
from crawlproject.pages.text.relevance import make_judge
from crawlproject.parts.workers.shared_peers import SharedPeers
from crawlproject.records import CrawlUrl, Topic
from crawlproject.storage.append_log import read_lines
from crawlproject.topic.parse import load_topic
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.urls.hosts import host_of
from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import JudgedPages, PageCache


class LiveWorker(RedisWorker):
    """Waits for the answers of the server, and yet knows no more of its URLs than a worker that does not wait."""

    def __contains__(self, url: str) -> bool:
        return url in self._known or url in self._held

    def take(self, now: float) -> CrawlUrl | None:
        self.catch_up()
        return super().take(now)

    def put(self, url: CrawlUrl) -> bool:
        is_new = url.key not in self._known
        if not super().put(url) and is_new and self.states([url.key])[url.key] != "done":
            self._rejected(url, KNOWN)
        self._remember(url.key)
        return True

    def rescore(self, url: str, score: float) -> bool:
        host = queue_of(url)
        if self._strict.call(self._strict.slot_of(host), [rescore_of(url, score)])[0] == GONE:
            self._known.pop(url, None)
            self._rejected(CrawlUrl(url, score), GONE)
        return True

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        self._remember(url)
        super().done(url, now, seconds, refetch_at, score)


def crawl(workers: Sequence[CrawlSimulation], pages: JudgedPages) -> None:
    """To the end, on one clock, which moves to the next moment at which one of the workers has something to do."""
    now = 0.0
    while True:
        began = [worker.begin_fetch(pages) for worker in workers]  # each in turn, one at a time
        if any(began):
            continue
        events = [event for worker in workers if (event := worker.next_event()) is not None]
        if not events:
            break
        # What is due and was not taken waits for another worker: look again, as a live worker does.
        now = min([event for event in events if event > now], default=now + POLL)
        for worker in workers:
            worker.pass_time(now)
    for worker in workers:
        worker.close()


def rehearse(web: Web, topic: Topic, cache: PageCache, options: Options, size: int, concurrent: int) -> dict[str, Any]:
    """One crew of ``size`` workers; what it found."""
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
                open_crawl=partial(assemble, frontier=_worker(server.port, folder, options) if size else None),
            )
            for folder in folders
        ]
        began = time.process_time()
        crawl(workers, judged)
        spent = time.process_time() - began
        lines = sorted(
            (line for folder in folders for line in read_lines(folder / "history.jsonl")), key=lambda line: line["at"]
        )
    return {"workers": size, "ms_a_page": 1000 * spent / options.crawl_max_pages, **_found(lines, topic, web, options)}


def _worker(port: int, folder: Path, options: Options) -> tuple[RedisWorker, SharedPeers]:
    rules = redis_rules(options, ordering_class(options.ordering).commit)
    client = redis.Redis(port=port)
    frontier = RedisFrontier(client, "crew", folder.name, rules, now=0.0, random=Random(options.crawl_seed))
    frontier.messages.kept = options.frontier_redis_messages
    worker = LiveWorker(frontier, clock=lambda: 0.0, heartbeat=1.0)
    return worker, SharedPeers(folder.name, worker, folder)


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
    web = open_web(chosen.web, cache_dir=chosen.cache)
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
    parser.add_argument("--cache", type=Path, help="keeps the index of an archive")
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
