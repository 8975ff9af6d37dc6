"""What the frontier knows the revisits of a page by, and which of those that are due comes first."""

from __future__ import annotations

from crawlproject.orderings.base import SEEDS_FIRST
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.records import REVISIT, CrawlUrl

SHARED = "shared"  # in place of the row, where workers that count rows for themselves share a frontier
LISTINGS_FIRST = 8 * SEEDS_FIRST  # before revisits, as a listing says which of them are worth a fetch
_SCORE = 2 * SEEDS_FIRST  # before all that is new, since the share of revisits is limited elsewhere
_HINTED = 2.0


def score_of(page: CollectedPage, *, hinted: bool = False) -> float:
    """The better page first; one that a listing says has changed before the others."""
    return _SCORE * (1.0 + min(page.weight, 1.0) + _HINTED * hinted)


def is_hinted(url: CrawlUrl) -> bool:
    """Whether the record of a revisit has the score of a page that a listing says has changed."""
    return url.score >= _SCORE * (1.0 + _HINTED)


def revisit_key(url: str, row: int, *, shared: bool = False) -> str:
    """The key of the revisits of a page in the frontier."""
    return f"{url}#{REVISIT}/{SHARED if shared else row}"
