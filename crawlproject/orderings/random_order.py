"""Random: every known URL is equally likely to be next. The floor of every comparison (paper 002 section 5)."""

from __future__ import annotations

from hashlib import blake2b

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import Link, Page


class RandomOrder(BaseOrdering):
    """A uniform score in [0, 1) that is a fixed function of the URL and the crawl's seed number.

    Fixed, because the frontier keeps the best of several offers: fresh draws would favour URLs with many in-links.
    """

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._key = context.random.randbytes(16)

    def score(self, page: Page, link: Link) -> float:
        return self._draw(link.url)

    def seed_score(self, url: str) -> float:
        return 1.0 + self._draw(url)

    def _draw(self, url: str) -> float:
        digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=7, key=self._key).digest()
        return int.from_bytes(digest, "big") / 2**56
