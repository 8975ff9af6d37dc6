"""The active set of ``adaptive`` for any ordering, to separate the value of its learning from the value of its set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from crawlproject.orderings.adaptive.active_set import explored
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of

SIZE, EXPLORE, EVERY = 256, 1.0, 16  # the defaults of ``adaptive``: URLs, factor on the hosts of the best, pages
SUFFIX = ".active"


def register(name: str) -> str:
    """Register the ordering ``name`` with an active set in this process; return its name."""
    inner = ORDERINGS[name]
    inherited = ("needs_targets", "needs_archive", "reads_examples", "learns", "reads_tag_paths", "reads_text")
    traits: dict[str, Any] = {trait: getattr(inner, trait) for trait in inherited}
    ORDERINGS[name + SUFFIX] = type(f"Active{inner.__name__}", (WithActiveSet,), {"inner": inner, **traits})
    return name + SUFFIX


class WithActiveSet(BaseOrdering):
    """The scores of another ordering, with a floor like that of ``adaptive``: the score of the ``SIZE``-th best waiting URL.

    ``adaptive`` widens its set until it has found the topic; this ordering does not.
    """

    inner: ClassVar[type[BaseOrdering]]

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._ordering = self.inner(context)
        self.commit = self._ordering.commit
        self._waiting: dict[str, float] = {}  # scores, in the order of discovery
        self._raised: dict[str, float] = {}  # the true scores of URLs that were raised to the floor
        self._hosts: dict[str, int] = {}
        self._ended: set[str] = set(context.topic.seeds)  # seeds wait from the start, whatever they score
        self._pages = self._chosen_at = 0

    # ------------------------------------------------------------ scores

    def seed_score(self, url: str) -> float:
        return self._ordering.seed_score(url)

    def score(self, page: Page, link: Link) -> float | None:
        score = self._ordering.score(page, link)
        if score is not None and link.url not in self._ended:
            self._waiting[link.url] = max(score, self._waiting.get(link.url, -math.inf))
        return score

    def revise(self) -> Iterator[tuple[str, float]]:
        for url, score in self._ordering.revise():
            if url in self._waiting:
                self._waiting[url] = score
            yield url, score
        active = sum(score >= self.floor for score in self._waiting.values()) if self._pages % 4 == 0 else SIZE
        if self._pages - self._chosen_at >= EVERY or 2 * active < min(SIZE, len(self._waiting)):
            self._chosen_at = self._pages
            yield from self._choose()

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        return self._ordering.inherited_for_links(page)

    def agent(self, url: CrawlUrl) -> int | None:
        return self._ordering.agent(url)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        return self._ordering.explain(url)

    # ------------------------------------------------------------ events of the crawl

    def observe(self, page: Page) -> None:
        self._pages += 1
        self._end(page.url)
        self._ordering.observe(page)

    def listed(self, page: Page) -> None:
        self._end(page.url)
        self._ordering.listed(page)

    def failed(self, url: str) -> None:
        self._end(url)
        self._ordering.failed(url)

    def refused(self, url: str) -> None:
        self._end(url)
        self._ordering.refused(url)

    def redirected(self, url: str, target: str) -> None:
        self._end(url)
        self._ordering.redirected(url, target)

    def too_deep(self, url: str) -> None:
        self._waiting.pop(url, None)
        self._ordering.too_deep(url)

    def postponed(self, url: str) -> None:
        self._waiting.pop(url, None)
        self._ordering.postponed(url)

    def host_blocked(self, host: str) -> None:
        for url in [url for url, score in self._waiting.items() if score >= self.floor and host_of(url) == host]:
            del self._waiting[url]
        self._ordering.host_blocked(host)

    # ------------------------------------------------------------ the set

    def _choose(self) -> Iterator[tuple[str, float]]:
        """Choose the floor; yield URLs of other hosts raised to it, and URLs that fall back to their true scores."""
        urls, scores = list(self._waiting), np.array(list(self._waiting.values()))
        raised, self._raised = self._raised, {}
        if len(urls) <= SIZE:
            self.floor = -math.inf
        else:
            self.floor = float(np.partition(scores, -SIZE)[-SIZE])
            hosts = np.array([self._hosts.setdefault(host_of(url), len(self._hosts)) for url in urls])
            others = explored(scores, hosts, self.floor, EXPLORE)
            self._raised = {urls[place]: float(scores[place]) for place in others}
        yield from ((url, self.floor) for url in self._raised)
        yield from ((url, self._waiting[url]) for url in raised if url in self._waiting and url not in self._raised)

    def _end(self, url: str) -> None:
        self._ended.add(url)
        self._waiting.pop(url, None)


def names(orderings: Iterable[str]) -> list[str]:
    """Register each ordering with an active set; return their names."""
    return [register(name) for name in orderings]
