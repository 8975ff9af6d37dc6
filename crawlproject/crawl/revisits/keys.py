"""What the frontier knows the revisits of a page by, and which of those that are due comes first."""

from __future__ import annotations

from crawlproject.orderings.base import SEEDS_FIRST
from crawlproject.records import REVISIT
from crawlproject.storage.collection import CollectedPage

_SCORE = 2 * SEEDS_FIRST  # before all that is new, since the share of revisits is limited elsewhere


def score_of(page: CollectedPage, *, hinted: bool = False) -> float:
    """The better page first; one that a listing says has changed before the others."""
    return _SCORE * (1.0 + page.weight + 2.0 * hinted)


def key_of(page: CollectedPage) -> str:
    """The key of the revisits of a page in the frontier."""
    return revisit_key(page.url, page.row)


def revisit_key(url: str, row: int) -> str:
    """As ``key_of``, of the page of this URL and row."""
    return f"{url}#{REVISIT}/{row}"
