"""The hosts of a lost worker are known again by what all workers have told."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any, cast

from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.parts.workers.inheritance import inherit
from crawlproject.records import CrawlUrl, FetchEvent, Visit


def fetched(url: str, relevance: float, *links: str, redirect: str = "", depth: int = 0) -> FetchEvent:
    return FetchEvent(Visit(url, 200, 1.0, relevance=relevance, depth=depth, redirect=redirect), links)


def test_what_was_found_waits_with_the_worth_of_its_best_page() -> None:
    frontier = MemoryFrontier(politeness=Politeness(), random=Random(1))
    told = []
    services: Any = SimpleNamespace(
        topic=SimpleNamespace(seeds=["http://lost.test/seed", "http://kept.test/seed"]),
        admission=SimpleNamespace(seed_record=lambda url: CrawlUrl(url, 1.0), offer=frontier.put),
        parts=[SimpleNamespace(inherited=lambda: told.append("part"))],
    )
    fetches = [
        fetched("http://lost.test/1", 0.9, "http://lost.test/2", "http://kept.test/3"),
        fetched("http://kept.test/4", 0.2, "http://lost.test/2", "http://lost.test/5", "http://lost.test/1", depth=3),
        fetched("http://kept.test/6", 0.7, "http://lost.test/5", "http://lost.test/seed", depth=1),
        fetched("http://kept.test/7", 0.1, redirect="http://lost.test/8"),
    ]
    inherit(lambda host: host == "lost.test", services, cast(Any, frontier), fetches)
    waiting = {url.url: (url.score, url.depth, url.parent) for url in frontier.waiting()}
    assert waiting == {
        "http://lost.test/seed": (1.0, 0, None),
        "http://lost.test/2": (0.9, 1, "http://lost.test/1"),
        "http://lost.test/5": (0.7, 2, "http://kept.test/6"),
        "http://lost.test/8": (0.1, 1, "http://kept.test/7"),
    }
    assert frontier.state_of("http://lost.test/1") == "done"
    assert told == ["part"]
