"""Crawling by the quality of pages (Pezzuti, MacAvaney and Tonellotto, ICTIR 2025): good pages link to good pages.

The source estimates quality with a language model that was trained for it. Here it is ``page_quality``.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import WaitingUrls
from crawlproject.orderings.page_quality import page_quality
from crawlproject.records import Link, Page

NONE = -1.0  # below the quality of any page


class QFirst(BaseOrdering):
    """The quality of the page that linked to the URL first; later links change nothing."""

    learns = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._waiting: WaitingUrls[float] = WaitingUrls()
        self._page: Page | None = None  # the latest, and its quality
        self._quality = 0.0

    def score(self, page: Page, link: Link) -> float:
        known = self._waiting.get(link.url)
        if known is not None:
            return known
        quality = self._quality_behind(page, link)
        if not self._waiting.has_ended(link.url):
            self._waiting.put(link.url, quality)
        return quality

    def observe(self, page: Page) -> None:
        self._waiting.end(page.url)

    def listed(self, page: Page) -> None:
        """A sitemap takes nothing out of the frontier."""

    def redirected(self, url: str, target: str) -> None:
        self._waiting.move(url, target)

    def failed(self, url: str) -> None:
        self._waiting.end(url)

    def _quality_behind(self, page: Page, link: Link) -> float:
        """What the quality behind a link is taken to be."""
        if page is not self._page:
            self._page, self._quality = page, page_quality(page, self.context.judge.analyzer.stop_words)
        return self._quality


class QMin(QFirst):
    """The lowest quality among the pages that link to the URL, as known so far."""

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._lowered: dict[str, float] = {}

    def score(self, page: Page, link: Link) -> float:
        known, quality = super().score(page, link), self._quality_behind(page, link)
        if quality < known and self._waiting.get(link.url) is not None:
            self._waiting.put(link.url, quality)
            self._lowered[link.url] = quality
        return min(known, quality)

    def revise(self) -> Iterable[tuple[str, float]]:
        lowered, self._lowered = self._lowered, {}
        return [(url, quality) for url, quality in lowered.items() if self._waiting.get(url) is not None]


class QOracle(QFirst):
    """The quality of the page behind the link, which an archive has; what it has not comes last.

    Raises ``BadSetting`` without an archive.
    """

    needs_archive = True

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        if context.archive is None:
            raise BadSetting("ordering qoracle", "needs the pages: set ORDERING_ARCHIVE to a web that has them")

    def _quality_behind(self, page: Page, link: Link) -> float:
        assert self.context.archive is not None, "as the constructor saw"
        behind = self.context.archive.page(link.url)
        return NONE if behind is None else page_quality(behind, self.context.judge.analyzer.stop_words)
