"""What a visit tells a revisit policy."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from crawlproject.crawl.revisits.groups import PageGroups
from crawlproject.crawl.revisits.hints import HINTED
from crawlproject.records import CHANGED, GONE, MISSING, MOVED, Visit
from crawlproject.revisits.base import Outcome


def outcome_of(row: int, visit: Visit, groups: PageGroups) -> Outcome:
    """The outcome of a visit of the page in this row."""
    host, template = groups.of(visit.url)
    return Outcome(
        row=row,
        at=visit.at,
        first=visit.number == 1,
        changed=visit.change in (CHANGED, MISSING, GONE, MOVED),
        novelty=visit.novelty,
        modified=modified_at(visit.last_modified, visit.at),
        new_links=visit.links if visit.number > 1 else 0,
        gone=visit.change in (MISSING, GONE, MOVED),
        weight=visit.relevance * (1.0 - visit.spam),
        host=host,
        template=template,
        hint=HINTED in visit.signs,
    )


def modified_at(header: str, now: float) -> float:
    """``Last-Modified`` in seconds since the epoch; 0 when it says nothing, or a time to come."""
    try:
        at = parsedate_to_datetime(header).timestamp() if header else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return at if 0.0 < at <= now else 0.0
