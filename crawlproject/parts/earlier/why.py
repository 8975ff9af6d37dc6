"""Why a page was fetched early: an earlier crawl proposed it."""

from __future__ import annotations

from collections.abc import Iterator

from crawlproject.parts.earlier.proposals import read_proposals
from crawlproject.reports.why.asked import Asked


def sentences(asked: Asked) -> Iterator[str]:
    """Yield a sentence about the crawl that proposed the page. Raises ``BadCrawlDir``."""
    for one in read_proposals(asked.folder):
        if one.url == asked.found.url:
            yield f"Proposed by the earlier crawl {one.crawl}, where its similarity to this topic is {one.similarity:.3f}."
