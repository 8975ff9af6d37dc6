"""The frontier in memory."""

from __future__ import annotations

from random import Random

from crawlproject.frontier.checks import check_sizes
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.k_rule import KRule
from crawlproject.frontier.memory_store import MemoryStore
from crawlproject.frontier.politeness import Politeness


class MemoryFrontier(FrontierCore):
    """A ``Frontier`` in which each operation costs O(log n) amortised.

    ``batch_size``: k of the k rule (50 in paper 003 section 4.1). ``strict``: whether the crawl ever waits for the rule.
    ``commit``: N of Best-N-First (paper 001 Figure 1; 1: look again at every take). ``max_urls``: waiting URLs kept, the best
    ones, or with ``newcomers_stay`` the newcomer and the best others; 0: no limit. ``random`` shuffles the committed URLs.
    """

    def __init__(
        self,
        *,
        batch_size: int = 50,
        strict: bool = True,
        commit: int = 1,
        max_urls: int = 1_000_000,
        newcomers_stay: bool = False,
        politeness: Politeness,
        random: Random,
    ) -> None:
        check_sizes(batch_size=batch_size, commit=commit, max_urls=max_urls)
        self.store = MemoryStore(
            rule=KRule(batch_size, strict=strict), commit=commit, politeness=politeness, random=random
        )
        self.max_urls, self.newcomers_stay = max_urls, newcomers_stay
        super().__init__(self.store, max_urls, newcomers_stay=newcomers_stay)

    def recover(self, now: float) -> None:
        """After a replay, no process holds the leases: their URLs wait again, and their hosts rest from ``now`` on."""
        for url in list(self.store.leases):
            self.release(url, now, 0.0)
        self._evict_surplus()
