"""A waiting URL's place in a line."""

from __future__ import annotations

from typing import NamedTuple

from crawlproject.records import CrawlUrl


class QueueEntry(NamedTuple):
    """A waiting URL as the heaps compare it: least ``rank`` first, then least ``arrival``.

    ``rank`` is the negative score, or the position in a committed batch. ``arrival`` numbers the URLs in the order they
    came. ``revision`` tells apart two entries of one URL whose score went up and came back, so that records are never
    compared. ``host`` names the queue (see ``queue_of``).
    """

    rank: float
    arrival: int
    revision: int
    record: CrawlUrl
    host: str

    @property
    def not_before(self) -> float:
        return self.record.not_before
