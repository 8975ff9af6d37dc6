"""What a visit tells a revisit policy, and the policy."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from pathlib import Path

from crawlproject.parts.revisits.base import Outcome, RevisitPolicy
from crawlproject.parts.revisits.groups import PageGroups
from crawlproject.parts.revisits.hints import HINTED
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.registry import make_policy
from crawlproject.records import CHANGED, GONE, MISSING, MOVED, Visit
from crawlproject.storage.click_file import clicks_by_url, read_clicks

_NO_CLICK = 0.5


class Outcomes:
    """Reads the visits of one crawl. A page is worth its relevance or, with ``CRAWL_CLICKS``, its share of the clicks.

    A page without any counts as half a click. Raises ``BadInput`` for a file of clicks that cannot be read.
    """

    def __init__(self, clicks: str) -> None:
        self._groups = PageGroups()
        self._clicks = clicks_by_url(read_clicks(Path(clicks))) if clicks else {}
        self._total = sum(self._clicks.values())

    def of(self, row: int, visit: Visit) -> Outcome:
        """The outcome of a visit of the page in this row."""
        host, template = self._groups.of(visit.url)
        return Outcome(
            row=row,
            at=visit.at,
            first=visit.number == 1,
            changed=visit.change in (CHANGED, MISSING, GONE, MOVED),
            novelty=visit.novelty,
            modified=modified_at(visit.last_modified, visit.at),
            new_links=visit.links if visit.number > 1 else 0,
            gone=visit.change in (MISSING, GONE, MOVED),
            weight=self._weight(visit),
            host=host,
            template=template,
            hint=HINTED in visit.signs,
        )

    def _weight(self, visit: Visit) -> float:
        if self._clicks:
            return self._clicks.get(visit.url, _NO_CLICK) / self._total
        return visit.relevance * (1.0 - visit.spam)


def revisit_policy(options: RevisitOptions) -> RevisitPolicy:
    """The policy of ``CRAWL_REVISIT``. Raises ``BadSetting``."""
    return make_policy(options.crawl_revisit, {"skew": 0.0} if options.crawl_clicks else None)


def modified_at(header: str, now: float) -> float:
    """``Last-Modified`` in seconds since the epoch; 0 when it says nothing, or a time to come."""
    try:
        at = parsedate_to_datetime(header).timestamp() if header else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return at if 0.0 < at <= now else 0.0
