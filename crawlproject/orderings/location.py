"""The location metric (paper 002 section 2): scores a URL by its host and path alone."""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of


class Location(BaseOrdering):
    """``IL(P)``: 1 for a suffix, 1 for a substring, and more for a shallower path.

    ``suffixes`` and ``substrings`` are separated by commas; case does not matter. The defaults are the paper's
    examples, ".com" and "home"; an empty string turns a part off. A suffix may end the host name or the URL. The third
    part is ``1 / slashes``, counting the slashes of the path: 1 for the root of a host.
    """

    def __init__(self, context: OrderingContext, *, suffixes: str = ".com", substrings: str = "home") -> None:
        super().__init__(context)
        self.suffixes = suffixes
        self.substrings = substrings
        self._suffixes = tuple(filter(None, map(str.strip, suffixes.lower().split(","))))
        self._substrings = tuple(filter(None, map(str.strip, substrings.lower().split(","))))

    def score(self, page: Page, link: Link) -> float:
        return sum(self._parts(link.url).values())

    def seed_score(self, url: str) -> float:
        return 3.0

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        if url.parent is None:
            return {}
        parts = self._parts(url.url)
        return dict(sorted(((name, part) for name, part in parts.items() if part), key=lambda item: -item[1]))

    def _parts(self, url: str) -> dict[str, float]:
        spelling = url.lower()
        return {
            "suffix": float(host_of(url).endswith(self._suffixes) or spelling.rstrip("/").endswith(self._suffixes)),
            "substring": float(any(substring in spelling for substring in self._substrings)),
            "few slashes": 1 / (url.partition("?")[0].count("/") - 2),
        }
