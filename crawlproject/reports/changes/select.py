"""The changes of a crawl since some time, those of the history and those of the change log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from crawlproject.records import BACK, CHANGED, GONE, MISSING, MOVED
from crawlproject.storage.logs import RETIRED, PageChange, read_changes
from crawlproject.storage.read import read_visits

NEW = "new"  # the page was stored for the first time, after the first harvest
KINDS = (NEW, CHANGED, MOVED, GONE, MISSING, BACK, RETIRED)  # in the order in which they are shown


@dataclass(frozen=True, slots=True)
class Changes:
    """``found`` in the order in which they were seen. ``revisited``: whether any page was ever visited again."""

    found: tuple[PageChange, ...]
    revisited: bool

    def of(self, kind: str) -> list[PageChange]:
        """Those of one of ``KINDS``, the latest first."""
        return [change for change in reversed(self.found) if change.change == kind]


def select_changes(folder: Path, since: float | None = None) -> Changes:
    """What was seen at ``since`` (seconds since the epoch) or later; by default, since the first harvest.

    The first harvest ends with the first page that is visited again. Copies of other pages are
    not new; new pages that were retired in the same time are left out. Raises ``BadCrawlDir``.
    """
    logged = _logged(folder, since or 0.0)
    titles = {change.url: "" for change in logged if not change.title}
    revisited = False
    found: list[PageChange] = []
    for visit in read_visits(folder):
        if visit.title and visit.url in titles:
            titles[visit.url] = visit.title
        revisited = revisited or visit.number > 1
        is_new = visit.number == 1 and visit.md5 and not visit.duplicate_of
        if is_new and (revisited if since is None else visit.at >= since):
            found.append(PageChange(visit.url, NEW, visit.at, 0.0, 1, 1, title=visit.title, relevance=visit.relevance))
    # A new page that was retired at once has not become part of the collection.
    retired = {change.url for change in logged if change.change == RETIRED}
    passing = {change.url for change in found} & retired
    found = [change for change in found if change.url not in passing]
    logged = [change for change in logged if change.url not in passing]
    found += (change if change.title else replace(change, title=titles[change.url]) for change in logged)
    return Changes(tuple(sorted(found, key=lambda change: change.at)), revisited)


def _logged(folder: Path, since: float) -> list[PageChange]:
    """Of the lines of one visit the last: a crawl that is killed may write one twice."""
    last: dict[tuple[str, int, bool], PageChange] = {}
    for change in read_changes(folder):
        if change.at >= since:
            last[change.url, change.number, change.change == RETIRED] = change
    return list(last.values())
