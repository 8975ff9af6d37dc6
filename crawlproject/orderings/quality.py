"""Crawling by the quality of pages (Pezzuti, MacAvaney and Tonellotto, ICTIR 2025): good pages link to good pages.

The source estimates quality with a language model trained for this purpose; here ``page_quality`` estimates it.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import WaitingUrls
from crawlproject.orderings.page_quality import page_quality
from crawlproject.records import Link, Page


class QFirst(BaseOrdering):
    """The quality of the page that linked to the URL first; later links change nothing."""

    learns = True
    reads_text = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._waiting: WaitingUrls[float] = WaitingUrls()
        self._page: Page | None = None  # the latest page, and its quality
        self._quality = 0.0

    def score(self, page: Page, link: Link) -> float:
        known = self._waiting.get(link.url)
        if known is not None:
            return known
        quality = self._quality_of(page)
        if not self._waiting.has_ended(link.url):
            self._waiting.put(link.url, quality)
        return quality

    def observe(self, page: Page) -> None:
        self._waiting.end(page.url)

    def redirected(self, url: str, target: str) -> None:
        self._waiting.move(url, target)

    def failed(self, url: str) -> None:
        self._waiting.end(url)

    def _quality_of(self, page: Page) -> float:
        if page is not self._page:
            self._page, self._quality = page, page_quality(page, self.context.judge.analyzer.stop_words)
        return self._quality


class QMin(QFirst):
    """The lowest quality among the pages that are known to link to the URL."""

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._lowered: dict[str, float] = {}

    def score(self, page: Page, link: Link) -> float:
        known, quality = super().score(page, link), self._quality_of(page)
        if quality < known and self._waiting.get(link.url) is not None:
            self._waiting.put(link.url, quality)
            self._lowered[link.url] = quality
        return min(known, quality)

    def revise(self) -> Iterable[tuple[str, float]]:
        lowered, self._lowered = self._lowered, {}
        return [(url, quality) for url, quality in lowered.items() if self._waiting.get(url) is not None]
