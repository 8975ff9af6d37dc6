"""What the frontier knows the revisits of a page by, and which of those that are due comes first."""

from __future__ import annotations

from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.records import REVISIT

SHARED = "shared"  # in place of the row, where workers that count rows for themselves share a frontier


def score_of(page: CollectedPage) -> float:
    """The better page first, 0 to 1."""
    return min(page.weight, 1.0)


def revisit_key(url: str, row: int, *, shared: bool = False) -> str:
    """The key of the revisits of a page in the frontier."""
    return f"{url}#{REVISIT}/{SHARED if shared else row}"
