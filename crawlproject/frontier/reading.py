"""Looking into the frontier of a crawl without opening it for the crawl: nothing is written."""

from __future__ import annotations

from pathlib import Path
from random import Random

from crawlproject.frontier.journal import NAME, Journal
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness


def read_frontier(folder: Path) -> MemoryFrontier | None:
    """The frontier that the journal in ``folder`` tells of, leases included; None when there is no journal.

    To look at: waiting URLs, leases and what is done are right; it has no settings to take from it with. Raises
    ``BadCrawlDir`` for a damaged journal.
    """
    path = folder / NAME
    if not path.exists():
        return None
    frontier = MemoryFrontier(max_urls=0, politeness=Politeness(0.0, 0.0), random=Random(0))
    Journal(path).replay(frontier)
    return frontier
