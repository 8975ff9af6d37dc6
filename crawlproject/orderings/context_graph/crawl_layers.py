"""How far the pages of a crawl are from pages on the topic, as far as the crawl has seen (paper 004, footnote 4)."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import NamedTuple

from crawlproject.orderings.learning.naive_bayes import Counts
from crawlproject.records import Page


class _FetchedPage(NamedTuple):
    counts: Counts
    links: tuple[str, ...]


class CrawlLayers:
    """The latest ``pages`` pages by their distance to the nearest page on the topic, up to ``farthest`` links.

    A distance is the shortest path among these pages, and falls when a shorter one is found. The links of a page and its terms
    are kept: some 6 kB a page.
    """

    def __init__(self, farthest: int, pages: int) -> None:
        self._farthest = farthest
        self._most = pages
        self._seen: dict[str, _FetchedPage] = {}  # the oldest first
        self._sources: defaultdict[str, list[str]] = defaultdict(list)  # pages by what they link to
        self._distances: dict[str, int] = {}

    def add(self, page: Page, *, on_topic: bool) -> None:
        """A page was fetched. A page that was here before is left as it was."""
        url = page.url
        if url in self._seen:
            return
        links = tuple({link.url: None for link in page.links if link.url != url})
        self._seen[url] = _FetchedPage(page.counts, links)
        for target in links:
            self._sources[target].append(url)
        beyond = self._farthest + 1
        nearest = 0 if on_topic else 1 + min((self._distances.get(target, beyond) for target in links), default=beyond)
        self._come_nearer(url, nearest)
        if len(self._seen) > self._most:
            self._forget(next(iter(self._seen)))

    def redirected(self, url: str, target: str) -> None:
        """What links to ``url`` leads to ``target``."""
        for source in self._sources.pop(url, ()):
            self._sources[target].append(source)
            seen = self._seen[source]
            self._seen[source] = seen._replace(links=tuple(target if link == url else link for link in seen.links))
            if target in self._distances:
                self._come_nearer(source, self._distances[target] + 1)

    def layers(self, most: int) -> list[list[Counts]]:
        """The texts of the latest ``most`` pages of each distance, from 0 to the first without any."""
        found: list[list[Counts]] = [[] for _ in range(self._farthest + 1)]
        for url in reversed(self._seen):
            distance = self._distances.get(url)
            if distance is not None and len(found[distance]) < most and self._seen[url].counts:
                found[distance].append(self._seen[url].counts)
        return found[: next((number for number, layer in enumerate(found) if not layer), len(found))]

    def _come_nearer(self, url: str, distance: int) -> None:
        """``url`` is so far from the topic, or nearer; those that lead to it may be nearer, too."""
        waiting = deque([(url, distance)])
        while waiting:
            url, distance = waiting.popleft()
            if distance > self._farthest or distance >= self._distances.get(url, self._farthest + 1):
                continue
            self._distances[url] = distance
            waiting += [(source, distance + 1) for source in self._sources.get(url, ())]

    def _forget(self, url: str) -> None:
        for target in self._seen.pop(url).links:
            others = [source for source in self._sources.pop(target, ()) if source != url]
            if others:
                self._sources[target] = others
        self._distances.pop(url, None)
