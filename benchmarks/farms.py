"""Sites marked as link farms by the rule of company, against the rule of common nodes alone (three sites that link back).

    python -m benchmarks.farms WEB [TOPIC...] [--pages N] [--ordering NAME] [--accuse SHARE [--draw N]]

Rehearses each topic on ``WEB`` (an archive, or ``hostile`` with its own topic) and lists the marked sites for a person to
review. ``--accuse`` takes the pages of that share of the sites for spam, whatever they are: all further sites that get marked
are the price of such errors. Time is the CPU time of the company rule alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.opening import is_hostile, open_hostile
from benchmarks.hostile_web.topic import topic_of
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.parts.sites import link_farms
from crawlproject.parts.sites.link_farms import THRESHOLD, LinkFarms
from crawlproject.records import CLIQUE, Fetch, FetchEvent, Page, Topic
from crawlproject.topic.parse import load_topic
from crawlproject.urls.hosts import domain_of, host_of
from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web

DEGREE = 0.25  # least degree from which a page counts as marked


class WatchedFarms(LinkFarms):
    """Remembers all links between sites, and which pages were marked."""

    latest: WatchedFarms
    accuse = 0.0
    draw = 0

    def __init__(self) -> None:
        super().__init__()
        self.links: dict[str, set[str]] = {}
        self.marked: list[str] = []
        self.pages = 0
        self.seconds = 0.0
        self.accused: dict[str, bool] = {}
        WatchedFarms.latest = self

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        site = domain_of(page.url)
        if self.accused.setdefault(site, Random(f"{self.draw} {site}").random() < self.accuse):
            page = replace(page, spam=0.9)
        self.linked(page.url, [link.url for link in page.links])
        start = time.process_time()
        page = super().inspect(page, fetch)
        self.seconds += time.process_time() - start
        if page.signs.get(CLIQUE, 0.0) >= DEGREE and not self.accused[site]:
            self.marked.append(page.url)
        return page

    def apply(self, event: FetchEvent) -> None:
        if event.visit.is_page:
            self.pages += 1
            self.links.setdefault(domain_of(event.visit.url), set()).update(self.linked(event.visit.url, event.links))
        start = time.process_time()
        super().apply(event)
        self.seconds += time.process_time() - start

    def common_nodes(self) -> list[str]:
        """The sites that the links alone would mark."""
        return [
            site
            for site, links in self.links.items()
            if sum(site in self.links.get(other, ()) for other in links) >= THRESHOLD
        ]


def main() -> None:
    chosen = _arguments()
    WatchedFarms.accuse, WatchedFarms.draw = chosen.accuse, chosen.draw
    with TemporaryDirectory() as folder, patch.object(link_farms, "LinkFarms", WatchedFarms):
        web, topics = _opened(chosen.web, chosen.topics, chosen.cache or Path(folder) / "cache")
        stage = Runner(web, lambda topic: {}, pages=chosen.pages, agent="benchmark", concurrency=1)
        for topic in topics:
            _measure(stage, topic, chosen.ordering, Path(folder), web)


def _opened(name: str, topics: list[Path], cache: Path) -> tuple[Web, list[Topic]]:
    if is_hostile(name):
        hostile = open_hostile(name)
        return hostile, [topic_of(hostile)]
    if not topics:
        sys.exit("farms.py: expected topics of that web")
    return open_web(name, cache_dir=cache), [load_topic(path) for path in topics]


def _measure(stage: Runner, topic: Topic, ordering: str, folder: Path, web: Web) -> None:
    for _ in stage.rehearse(topic, [ordering], folder):
        pass
    farms = WatchedFarms.latest
    marked = Counter(domain_of(url) for url in farms.marked)
    common = farms.common_nodes()
    print(
        f"{topic.name}: {farms.pages} pages of {len(farms.links)} sites; marked {len(farms.marked)} pages of {len(marked)} "
        f"sites; by common nodes alone {len(common)} sites; {1e6 * farms.seconds / max(1, farms.pages):.0f} us a page"
    )
    if isinstance(web, HostileWeb):
        kinds = {domain_of(url): web.kind_of(host_of(url)) or "good" for url in farms.marked}
        print("    marked:", dict(Counter(kinds.values())), "sites;", end=" ")
        print(
            {kind: sum(n for site, n in marked.items() if kinds[site] == kind) for kind in set(kinds.values())}, "pages"
        )
    else:
        print("    marked:", dict(marked.most_common()))
        print("    common nodes:", ", ".join(sorted(common)), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web")
    parser.add_argument("topics", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--ordering", default="dom")
    parser.add_argument("--accuse", type=float, default=0.0)
    parser.add_argument("--draw", type=int, default=0, help="which sites are accused")
    parser.add_argument("--cache", type=Path, help="folder that keeps the index of an archive")
    return parser.parse_args()


if __name__ == "__main__":
    main()
