"""What is fetched again: pages and listings, at the times that the revisits say."""

from __future__ import annotations

from crawlproject.core.admission import Admission
from crawlproject.core.holds import Holds
from crawlproject.frontier.base import Frontier
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.records import CrawlUrl


class RefetchHandler:
    """How such a URL waits: it was admitted once, and counts for no budget of its site."""

    def __init__(self, admission: Admission, frontier: Frontier, holds: Holds, revisits: Revisits) -> None:
        self._admission = admission
        self._frontier = frontier
        self._holds = holds
        self._revisits = revisits

    def offer(self, url: CrawlUrl) -> bool:
        return self._frontier.put(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        return self._admission.rules.host_refusal(url.url)

    def block_until(self, url: CrawlUrl, now: float) -> float:
        """A host that rests is left alone."""
        return self._holds.rests_until(url.url, now)
