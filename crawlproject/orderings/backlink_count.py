"""Backlink count (paper 002 sections 2 and 6, Figure 2): the URL that most fetched pages link to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.link_based import LinkBased
from crawlproject.records import Page


class BacklinkCount(LinkBased):
    """``IB'(P)``: the number of fetched pages with a link to P.

    A page counts once, however often it links. Memory: one number per known URL. Also known as indegree (paper 004 4.1).
    """

    part = "backlinks"

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._backlinks: Counter[str] = Counter()

    def worth(self, url: str) -> float:
        return float(self._backlinks[url])

    def observe(self, page: Page) -> None:
        self._backlinks.update(self.counted(page))

    def counted(self, page: Page) -> Collection[str]:
        """The URLs whose count this page raises."""
        return {link.url for link in page.links}

    def redirected(self, url: str, target: str) -> None:
        """The target gets the links of ``url``."""
        super().redirected(url, target)
        self._backlinks[target] += self._backlinks.pop(url, 0)
