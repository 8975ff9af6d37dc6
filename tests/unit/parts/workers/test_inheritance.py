"""The hosts of a lost worker are restored from the messages of all workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from crawlproject.frontier.base import UrlState
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.parts.workers.event_codec import dump_fetch
from crawlproject.parts.workers.inheritance import inherit
from crawlproject.parts.workers.shared_peers import SharedPeers
from crawlproject.records import CrawlUrl, FetchEvent, Visit


def fetched(url: str, relevance: float, *links: str, redirect: str = "", depth: int = 0) -> FetchEvent:
    return FetchEvent(Visit(url, 200, 1.0, relevance=relevance, depth=depth, redirect=redirect, md5="0" * 32), links)


class Heir(MemoryFrontier):
    """The frontier of worker ``one``, which has published its ``fetches`` and inherits the hosts of a lost worker."""

    shares, was_forgotten = True, False
    fetches: Sequence[FetchEvent] = ()

    def states(self, urls: Iterable[str]) -> dict[str, UrlState]:
        return {url: self.state_of(url) for url in urls}

    def last_published(self) -> int:
        return len(self.fetches)

    def inherited(self) -> Callable[[str], bool]:
        return lambda host: host != "kept.test"

    def kept_messages(self) -> Iterator[tuple[bytes, bytes]]:
        for event in self.fetches:
            yield b"one", b"one\n" + dump_fetch(event, {}, with_page=False)


def test_what_was_found_waits_with_the_worth_of_its_best_page() -> None:
    frontier = Heir(politeness=Politeness(), random=Random(1))
    told = []
    services: Any = SimpleNamespace(
        topic=SimpleNamespace(seeds=["http://lost.test/seed", "http://kept.test/seed"]),
        admission=SimpleNamespace(seed_record=lambda url: CrawlUrl(url, 1.0), offer=frontier.put),
        parts=[SimpleNamespace(inherited=lambda: told.append("part"))],
        folder=SimpleNamespace(history=()),
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


def test_what_only_the_own_pages_of_the_heir_linked_to_waits_too() -> None:
    """Its letters contained the URL, and are lost with their recipient."""
    frontier = Heir(politeness=Politeness(), random=Random(1))
    feed = "http://lost.test/feed"
    frontier.put(CrawlUrl(feed, 0.5))  # read once, and due again
    frontier.fetches = (
        fetched("http://kept.test/1", 0.9, "http://lost.test/2", "http://kept.test/3"),
        fetched(feed, 0.1),
    )
    peers = SharedPeers("one", cast(Any, frontier), Path("one"))
    peers._services = cast(
        Any,
        SimpleNamespace(
            topic=SimpleNamespace(seeds=[]),
            admission=SimpleNamespace(offer=frontier.put),
            parts=[],
            folder=SimpleNamespace(is_new=False, history={"http://kept.test/1", feed}),
        ),
    )
    peers.pass_time(1.0)
    assert {url.url for url in frontier.waiting()} == {"http://lost.test/2", feed}
