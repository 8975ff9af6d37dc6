"""What a revisit policy has learned in a crawl, read from its history: for those who look at a crawl that others make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crawlproject.parts.revisits.base import RevisitPolicy
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import Outcomes, revisit_policy
from crawlproject.parts.revisits.pace import rate_of
from crawlproject.records import CHANGED, GONE, MOVED
from crawlproject.storage.logs import RETIRED, read_changes
from crawlproject.storage.read import read_visits


@dataclass(slots=True)
class WatchedPage:
    """A page of the collection: its row, the end of its last visit that showed something, and how often it was visited."""

    row: int
    url: str
    at: float
    visits: int = 1
    changes: int = 0
    present: bool = True


@dataclass(frozen=True, slots=True)
class ReplayedPolicy:
    """``policy`` with what it has learned, planned at ``now``, the end of the last visit. ``pages`` are in the order of rows."""

    policy: RevisitPolicy
    pages: tuple[WatchedPage, ...]
    now: float

    def find(self, url: str) -> WatchedPage | None:
        return next((page for page in self.pages if page.url == url), None)


def replay_policy(folder: Path, options: RevisitOptions) -> ReplayedPolicy:
    """Replay the visits of a crawl, all of them. Raises ``BadCrawlDir``, ``BadSetting``, ``BadInput``."""
    policy, outcomes = revisit_policy(options), Outcomes(options.crawl_clicks)
    pages: dict[str, WatchedPage] = {}
    now = 0.0
    for visit in read_visits(folder):
        now = max(now, visit.at)
        page = pages.get(visit.url)
        if visit.number == 1 and visit.md5 and not visit.duplicate_of and page is None:
            page = pages[visit.url] = WatchedPage(len(pages), visit.url, visit.at)
        elif page is None or not visit.change:
            continue
        else:
            page.at = visit.at
            page.visits += 1
            page.changes += visit.change == CHANGED
            page.present = visit.change not in (GONE, MOVED)
        policy.observe(outcomes.of(page.row, visit))
    for change in read_changes(folder):
        if change.change == RETIRED and (page := pages.get(change.url)) and page.at <= change.at:
            page.present = False
    policy.plan(now, rate_of(options, sum(page.present for page in pages.values())))
    return ReplayedPolicy(policy, tuple(pages.values()), now)
