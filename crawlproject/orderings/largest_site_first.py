"""Largest site first (paper 004 section 4.1; R. Baeza-Yates and others: Crawling a Country, WWW 2005)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.link_based import LinkBased
from crawlproject.records import Page
from crawlproject.urls.hosts import host_of


class LargestSiteFirst(LinkBased):
    """The score of a URL is the number of URLs of its host that were found and not fetched yet.

    This number, and so the scores of all URLs of a host, change with every link and every fetch. So the scores of a host are
    revised only when the number has grown or shrunk by the share ``growth`` since the last revision. Then no score is
    wrong by more than this share, and each link found and each page fetched causes about ``1 / growth`` revisions on
    average, however large the host.
    """

    part = "waiting on the host"

    def __init__(self, context: OrderingContext, *, growth: float = 0.25) -> None:
        super().__init__(context)
        self.growth = growth
        self._known: set[str] = set()
        self._waiting: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._scored: dict[str, int] = {}
        self._touched: dict[str, None] = {}
        for seed in context.topic.seeds:
            self._found(seed)

    def worth(self, url: str) -> float:
        host = host_of(url)
        return float(self._scored.get(host) or len(self._waiting.get(host, ())))

    def observe(self, page: Page) -> None:
        self._gone(page.url)
        for link in page.links:
            self._found(link.url)

    def redirected(self, url: str, target: str) -> None:
        super().redirected(url, target)
        self._gone(url)
        self._found(target)

    def failed(self, url: str) -> None:
        self._gone(url)

    def revise(self) -> Iterable[tuple[str, float]]:
        """The URLs of each host whose number has left the range around its last score."""
        yield from super().revise()
        touched, self._touched = self._touched, {}
        for host in touched:
            waiting = self._waiting.get(host)
            if waiting and self._is_far(len(waiting), self._scored.get(host, 0)):
                self._scored[host] = len(waiting)
                yield from ((url, float(len(waiting))) for url in waiting if url not in self.seeds)

    def _is_far(self, number: int, scored: int) -> bool:
        return number > scored * (1 + self.growth) or scored > number * (1 + self.growth)

    def _found(self, url: str) -> None:
        if url not in self._known:
            self._known.add(url)
            host = host_of(url)
            self._waiting[host][url] = None
            self._touched[host] = None

    def _gone(self, url: str) -> None:
        self._known.add(url)
        host = host_of(url)
        waiting = self._waiting.get(host, {})
        waiting.pop(url, None)
        if waiting:
            self._touched[host] = None
        else:
            self._waiting.pop(host, None)
            self._scored.pop(host, None)
