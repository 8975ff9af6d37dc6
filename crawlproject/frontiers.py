"""Which frontier the settings ask for, opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from crawlproject.frontier.base import Frontier
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.options import Options

# Seconds added to every rest of a live crawl: a server on the same machine was seen to note the end of a response half a
# millisecond after the client had its last byte.
MARGIN = 0.005


def make_frontier(options: Options, commit: int = 1, margin: float = MARGIN) -> MemoryFrontier:
    """An empty frontier in memory as the ``FRONTIER_*`` and ``POLITENESS_*`` settings want it."""
    return MemoryFrontier(
        batch_size=options.frontier_batch_size,
        commit=options.frontier_commit if options.frontier_commit > 1 else commit,
        max_urls=options.frontier_max_urls,
        politeness=make_politeness(options, margin),
        random=Random(options.crawl_seed),
    )


def make_politeness(options: Options, margin: float = MARGIN) -> Politeness:
    """The rests that the ``POLITENESS_*`` settings want."""
    return Politeness(options.politeness_min_delay, options.politeness_factor, margin=margin)


def open_frontier(options: Options, folder: Path, *, clock: Callable[[], float], commit: int = 1) -> Frontier:
    """The frontier of a live crawl, new or as it was left; ``folder`` is its own.

    ``commit`` is the N that the ordering wants, unless ``FRONTIER_COMMIT`` says more. Raises ``BadCrawlDir`` for a damaged
    state and ``StorageFailed``.
    """
    return JournaledFrontier(make_frontier(options, commit), folder, clock=clock)
