"""Several topics in one crawl against the same topics crawled one after the other; and the cost of each further topic.

    python -m benchmarks.topics recall WEB TOPIC... [--pages 1000] [--orderings adaptive best_first dom] [--fairness 0.5]
    python -m benchmarks.topics cpu WEB TOPIC... [--pages 1000] [--topics 1 2 4 8] [--repeats 3]

``recall``: each topic is rehearsed alone for ``--pages`` pages, then all topics in one crawl. How many fetches does the one
crawl need for the mean recall that the separate crawls reach together? As a control: which recall does it reach with the same
number of fetches? ``distinct``: the fetches of the separate crawls if each could reuse the answers of the crawls before.

``cpu``: the pages of a crawl of all topics go through the steps of a page, from bytes to frontier, in one fixed order, once with
the first topic alone (as a crawl of one topic), then with more topics. CPU seconds of this process; the best of ``--repeats``.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.robots import product_token
from crawlproject.evaluation.runs import reachable_targets
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.parts.topics.part import TopicsPart
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.storage.read import read_info, read_visits
from crawlproject.topic.folder import find_topic, together
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import latency

Curve = npt.NDArray[np.float64]
SHARES = (0.5, 0.75, 0.9, 1.0)  # of the mean recall that the separate crawls reach
AGENT = "topical-benchmark"


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of a topic that are reachable from its seeds."""

    name: str
    urls: frozenset[str]


def recall_by_fetch(folder: Path, targets: Sequence[Targets]) -> Curve:
    """The recall of each topic after each fetch of a run, of shape (topics, fetches)."""
    visits = list(read_visits(folder))
    found = np.zeros((len(targets), len(visits)))
    redirects = {visit.url: visit.redirect for visit in visits if visit.redirect}
    for number, topic in enumerate(targets):
        wanted = {_end(url, redirects) for url in topic.urls}
        hits = [visit.is_page and visit.url in wanted for visit in visits]
        found[number] = np.cumsum(hits) / max(1, len(wanted))
    return found


def _end(url: str, redirects: Mapping[str, str]) -> str:
    seen = set()
    while url in redirects and url not in seen:
        seen.add(url)
        url = redirects[url]
    return url


def in_turn(curves: Sequence[Curve]) -> Curve:
    """The mean recall after each fetch of crawls that run one after the other; each curve belongs to one topic."""
    length = sum(len(curve) for curve in curves)
    total, done = np.zeros(length), 0
    for curve in curves:
        total[done : done + len(curve)] += curve
        total[done + len(curve) :] += curve[-1] if len(curve) else 0.0
        done += len(curve)
    return total / len(curves)


def first_reaching(curve: Curve, value: float) -> int | None:
    """The number of fetches after which a monotonic curve reaches ``value``; None if it never does."""
    place = int(np.searchsorted(curve, value - 1e-12))
    return place + 1 if place < len(curve) else None


def compare(web_name: str, topics: Sequence[Topic], chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one line for each ordering."""
    whole = together("all", tuple(topics))
    with tempfile.TemporaryDirectory() as name:
        out, cache = Path(name), Path(chosen.cache)
        web = open_web(web_name, cache_dir=cache)
        settings = {"CRAWL_FAIRNESS": chosen.fairness}

        def runner(pages: int) -> Runner:
            return Runner(web, lambda topic: settings, pages=pages, agent=AGENT, cache_dir=cache, web_name=web_name)

        alone = runner(chosen.pages)
        for ordering in chosen.orderings:
            folders = [next(iter(alone.rehearse(topic, [ordering], out)))[1] for topic in topics]
            targets = [
                Targets(topic.name, reachable_targets(folder, read_info(folder)))
                for topic, folder in zip(topics, folders, strict=True)
            ]
            curves = [recall_by_fetch(folder, [own])[0] for folder, own in zip(folders, targets, strict=True)]
            turn = in_turn(curves)
            distinct = {visit.url for folder in folders for visit in read_visits(folder)}
            one = runner(chosen.pages * len(topics))
            _, folder, _ = next(iter(one.rehearse(whole, [ordering], out / "together")))
            each = recall_by_fetch(folder, targets)
            mean = each.mean(axis=0)
            at = min(len(turn), each.shape[1])
            needed = first_reaching(mean, turn[-1])
            alike = {}
            for share in SHARES:
                before, now = first_reaching(turn, share * turn[-1]), first_reaching(mean, share * turn[-1])
                alike[str(share)] = {"in_turn": before, "together": now}
            yield {
                "ordering": ordering,
                "topics": len(topics),
                "in_turn": {"fetches": len(turn), "distinct": len(distinct), "mean_recall": turn[-1]},
                "in_turn_each": [float(curve[-1]) for curve in curves],
                "together_fetches_for_it": needed,
                "saved": None if needed is None else 1 - needed / len(turn),
                "saved_of_distinct": None if needed is None else 1 - needed / len(distinct),
                "at_equal_fetches": {"fetches": at, "mean_recall": mean[at - 1], "each": each[:, at - 1].tolist()},
                "at_distinct_fetches": {"mean_recall": mean[min(len(distinct), len(mean)) - 1]},
                "fetches_for_share": alike,
            }


# ---------------------------------------------------------------------------------------------------- CPU


def fixed_pages(
    web_name: str, topics: Sequence[Topic], chosen: argparse.Namespace
) -> list[tuple[CrawlUrl, bytes, str, float]]:
    """The pages that a crawl of all topics fetches, in its order: lease, body, content type, end of the fetch."""
    with tempfile.TemporaryDirectory() as name:
        web = open_web(web_name, cache_dir=Path(chosen.cache))
        runner = Runner(web, lambda topic: {}, pages=chosen.pages, agent=AGENT, cache_dir=Path(chosen.cache))
        _, folder, _ = next(iter(runner.rehearse(together("all", tuple(topics)), ["adaptive"], Path(name))))
        found = []
        for visit in read_visits(folder):
            if visit.md5:
                reply = web.get(visit.url)
                url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, visit.anchor, visit.context_score)
                found.append((url, reply.body, reply.headers.get("content-type", ""), visit.at + latency(reply)))
        return found


def cpu_seconds(topic: Topic, ordering: str, pages: Sequence[tuple[CrawlUrl, bytes, str, float]]) -> float:
    """The CPU seconds that the pages take in the steps of a live crawl, including writing files."""
    with tempfile.TemporaryDirectory() as name:
        options = read_options({"ORDERING": ordering, "CRAWL_DIR": name, "CRAWL_SITE_BUDGET": 0})
        crawl = assemble(topic, options, clock=lambda: 0.0, agent=product_token(AGENT))
        gc.collect()
        began = time.process_time()
        for number, (url, body, content_type, at) in enumerate(pages):
            put_through(crawl, url, body, content_type, at)
            if number % 50 == 0 and (part := crawl.part(TopicsPart)) is not None:
                part.catch_up()
        if (part := crawl.part(TopicsPart)) is not None:
            part.catch_up()
        took = time.process_time() - began
        crawl.close("finished", pages[-1][3])
        return took


def put_through(crawl: Crawl, url: CrawlUrl, body: bytes, content_type: str, at: float) -> None:
    """Process a fetched page as the spider and the pipelines do."""
    steps, fetch = crawl.steps, Fetch(200, at, 0.1, content_type=content_type)
    page = steps.read(url, body, content_type=content_type, now=at)
    page = steps.examine(page, fetch)
    page = steps.score_links(steps.score_page(page))
    steps.keep(page, steps.visit(url, page, body, fetch))
    steps.offer(page, fetch)


def cost(web_name: str, topics: Sequence[Topic], chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one line for each number of topics. The repeats take turns, so that load on the machine affects all alike."""
    pages = fixed_pages(web_name, topics, chosen)
    for ordering in chosen.orderings:
        takes: dict[int, list[float]] = {number: [] for number in chosen.topics}
        for _ in range(chosen.repeats):
            for number in chosen.topics:
                topic = topics[0] if number == 1 else together("some", tuple(topics[:number]))
                takes[number].append(cpu_seconds(topic, ordering, pages))
        first = min(takes[min(takes)])
        for number, found in takes.items():
            more = (min(found) - first) / max(1, number - 1)
            yield {
                "ordering": ordering,
                "topics": number,
                "pages": len(pages),
                "ms_per_page": 1000 * min(found) / len(pages),
                "ms_per_page_and_topic": 1000 * min(found) / len(pages) / number,
                "further_topic_ms": 1000 * more / len(pages) if number > 1 else None,
                "further_topic_share": more / first if number > 1 else None,
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["recall", "cpu"])
    parser.add_argument("web")
    parser.add_argument("topic", nargs="+")
    parser.add_argument("--pages", type=int, default=1000, help="of each crawl alone (recall), or of the crawl (cpu)")
    parser.add_argument("--orderings", nargs="+", default=["adaptive"])
    parser.add_argument("--fairness", type=float, default=0.5)
    parser.add_argument("--topics", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--cache", default=str(Path.home() / ".cache" / "topical-crawler"), help="for indexes of the web"
    )
    parser.add_argument("--json", type=Path, help="also write the lines here")
    chosen = parser.parse_args()
    topics = [find_topic(name) for name in chosen.topic]
    lines = []
    for line in (compare if chosen.what == "recall" else cost)(chosen.web, topics, chosen):
        print(json.dumps(line), flush=True)
        lines.append(line)
    if chosen.json:
        chosen.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
