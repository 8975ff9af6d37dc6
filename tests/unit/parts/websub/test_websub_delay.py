"""Delays from the publication of a page to its first visit: with hubs, and with intervals alone, at the same budget."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import mean

from support.hub import HUB, SETTINGS, HubbedWeb, News, in_process
from support.timedcrawl import DAY, START, TimedCrawl

from crawlproject.records import Reply, Topic
from crawlproject.storage.read import read_visits
from crawlproject.webs.base import not_held


class ManyNews:
    """``News`` of several sites, each with its own publication times: gaps of 2 to 96 hours on average."""

    warnings: Sequence[str] = ()

    def __init__(self, seed: int, days: float, sites: int, *hubs: str) -> None:
        random = Random(seed)
        self.clock = lambda: START
        self.sites: dict[str, News] = {}
        self.times: dict[str, list[float]] = {}
        for number in range(sites):
            front = f"http://news{number}.example/"
            self.sites[front] = News(*hubs, front=front)
            gap, at = 7200.0 * 48.0 ** (number / (sites - 1)), START + DAY
            self.times[front] = []
            while (at := at + random.expovariate(1.0 / gap)) < START + days * DAY:
                self.times[front].append(at)

    def published(self) -> dict[str, float]:
        return {
            self.sites[front].article(3 + number): at
            for front, times in self.times.items()
            for number, at in enumerate(times)
        }

    def get(self, url: str) -> Reply:
        front = url[: url.index("/", 8) + 1]
        if front not in self.sites:
            return not_held(url)
        self.sites[front].articles = 3 + bisect(self.times[front], self.clock())
        return self.sites[front].get(url)

    def urls(self) -> Iterator[str]:
        return iter(self.sites)

    def __contains__(self, url: str) -> bool:
        return self.get(url).status == 200

    def close(self) -> None:
        """Do nothing: nothing is held open."""


def measured(
    folder: Path, *hubs: str, seed: int = 1, days: float = 5.0, sites: int = 4, rate: float = 12.0
) -> tuple[list[float], int, int]:
    """Return the delays in seconds, the number of feed reads, and the number of all fetches."""
    web = ManyNews(seed, days, sites, *hubs)
    tokens = iter(range(10_000))
    hubbed = HubbedWeb(web, in_process(lambda: crawl))
    crawl = TimedCrawl(
        Topic("reef", ("coral reef",), tuple(web.sites)),
        folder,
        hubbed,
        token=lambda: f"token{next(tokens)}",
        **{**SETTINGS, "CRAWL_RATE": rate, "CRAWL_SITE_BUDGET": 0},
    )
    web.clock = lambda: crawl.now
    for url, at in sorted(web.published().items(), key=lambda pair: pair[1]):
        crawl.run(at - crawl.now)
        crawl.now = max(crawl.now, at)
        feed = f"{url[: url.index('/', 8) + 1]}feed.xml"
        hubbed.publish(only=feed)
    crawl.run(3 * DAY)
    seen = {visit.url: visit.at for visit in read_visits(folder) if visit.number == 1 and visit.md5}
    delays = [seen[url] - at for url, at in web.published().items()]
    until = START + days * DAY
    return (
        delays,
        sum(url.endswith("feed.xml") and at < until for at, url, _, _ in crawl.asked),
        sum(at < until for at, *_ in crawl.asked),
    )


def test_hubs_shorten_the_delay(tmp_path: Path) -> None:
    polled, _, fetches = measured(tmp_path / "polled")
    told, _, spent = measured(tmp_path / "told", HUB)
    assert mean(told) < mean(polled) / 20
    assert max(fetches, spent) <= 5 * 24 * 12 + 20, "one budget"
