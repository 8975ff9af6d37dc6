"""The active set of ``adaptive`` for any ordering, so that what learning is worth can be told from what the set is worth."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from crawlproject.orderings.adaptive.active_set import shortlist
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of

SIZE, EXPLORE, EVERY = 256, 1.0, 16  # the defaults of ``adaptive``: URLs, times the hosts of the best, pages
SUFFIX = ".active"


def register(name: str) -> str:
    """Make the ordering ``name`` with an active set known in this process; its name."""
    inner = ORDERINGS[name]
    inherited = ("needs_targets", "needs_archive", "reads_examples", "learns", "reads_tag_paths")
    traits: dict[str, Any] = {trait: getattr(inner, trait) for trait in inherited}
    ORDERINGS[name + SUFFIX] = type(f"Active{inner.__name__}", (WithActiveSet,), {"inner": inner, **traits})
    return name + SUFFIX


class WithActiveSet(BaseOrdering):
    """The scores of another ordering; only the best waiting URLs are in the frontier, the others are put aside.

    ``adaptive`` widens its set until it has found the topic; this one does not.
    """

    inner: ClassVar[type[BaseOrdering]]
    puts_aside = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._ordering = self.inner(context)
        self.commit = self._ordering.commit
        self._waiting: dict[str, CrawlUrl] = {}  # with their current scores, in the order of their discovery
        self._hosts: dict[str, int] = {}
        self._active: set[str] = set()
        self._ended: set[str] = set(context.topic.seeds)  # seeds wait from the start, whatever they score
        self._level = -np.inf  # the lowest score of the best
        self._pages = 0
        self._leaving: list[str] = []
        self._entering: list[str] = []

    # ------------------------------------------------------------ scores

    def seed_score(self, url: str) -> float:
        return self._ordering.seed_score(url)

    def score(self, page: Page, link: Link) -> float | None:
        score = self._ordering.score(page, link)
        if score is None or link.url in self._ended:
            return score
        held = self._waiting.get(link.url)
        if held is None:
            inherited = self._ordering.inherited_for_links(page)
            record = CrawlUrl(
                link.url, score, page.depth + 1, page.url, link.anchor, link.context_score, 0.0, inherited
            )
            self._waiting[link.url] = record
        elif score > held.score:
            self._waiting[link.url] = replace(held, score=score)
        if score >= self._level:
            self._active.add(link.url)
        return score if link.url in self._active else None

    def revise(self) -> Iterator[tuple[str, float]]:
        revised = list(self._ordering.revise())
        for url, score in revised:
            if url in self._waiting:
                self._waiting[url] = replace(self._waiting[url], score=score)
        if self._pages % EVERY == 0:
            self._choose()
        return ((url, score) for url, score in revised if url in self._active)

    def put_aside(self) -> list[str]:
        leaving, self._leaving = self._leaving, []
        return leaving

    def recall(self) -> list[CrawlUrl]:
        if not self._entering and 2 * len(self._active) < min(SIZE, len(self._waiting)):
            self._choose()
        entering, self._entering = self._entering, []
        return [self._waiting[url] for url in entering if url in self._waiting]

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
        self._forget(url)
        self._ordering.too_deep(url)

    def postponed(self, url: str) -> None:
        self._forget(url)
        self._ordering.postponed(url)

    def host_blocked(self, host: str) -> None:
        for url in [url for url in self._active if host_of(url) == host]:
            self._forget(url)
        self._ordering.host_blocked(host)

    def resumed(self, waiting: Collection[str]) -> None:
        raise NotImplementedError("rehearsals do not resume")

    # ------------------------------------------------------------ the set

    def _choose(self) -> None:
        urls = list(self._waiting)
        if not urls:
            return
        scores = np.array([self._waiting[url].score for url in urls], dtype=np.float64)
        wanted = shortlist(scores, np.array([self._host(url) for url in urls]), SIZE, EXPLORE)
        self._level = -np.inf if wanted.all() else float(np.sort(scores)[-SIZE])
        chosen = {url for url, is_wanted in zip(urls, wanted.tolist(), strict=True) if is_wanted}
        self._leaving = [url for url in urls if url in self._active and url not in chosen]
        self._entering = [url for url in urls if url in chosen and url not in self._active]
        self._active = chosen

    def _host(self, url: str) -> int:
        return self._hosts.setdefault(host_of(url), len(self._hosts))

    def _end(self, url: str) -> None:
        self._ended.add(url)
        self._forget(url)

    def _forget(self, url: str) -> None:
        self._waiting.pop(url, None)
        self._active.discard(url)


def names(orderings: Iterable[str]) -> list[str]:
    """The orderings as they are called with an active set, each made known."""
    return [register(name) for name in orderings]
