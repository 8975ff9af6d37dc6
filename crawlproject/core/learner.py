"""What learns from a crawl: one method, called for each fetch that ended."""

from __future__ import annotations

from typing import Protocol

from crawlproject.records import FetchEvent


class Learner(Protocol):
    """Learns from finished fetches.

    What a learner knows follows from the events alone, in their order, so that a resumed crawl learns the same from its
    history. What depends on the clock or on fetches in flight is run-time state: it begins anew with each run.
    """

    def apply(self, event: FetchEvent) -> None:
        """A fetch has ended, now or before a resume."""
        ...
