"""What a visit tells a revisit policy about its page, and about the pages that may change with it: those of the same host, and
those whose URLs look alike. ``replay_policy`` learns it from a history, to inspect a crawl that other processes make. ``Tally``
counts what the visits of one run have shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from pathlib import Path

from crawlproject.parts.revisits.allocation import rate_of
from crawlproject.parts.revisits.base import IMPACT, Outcome, RevisitPolicy
from crawlproject.parts.revisits.collection import is_collected
from crawlproject.parts.revisits.hints import HINTED
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.registry import make_policy
from crawlproject.records import BACK, CHANGED, GONE, MISSING, MOVED, SAME, Visit
from crawlproject.storage.click_file import clicks_by_url, read_clicks
from crawlproject.storage.logs import RETIRED, read_changes
from crawlproject.storage.read import read_visits
from crawlproject.urls.hosts import host_of

NEW = "new"  # a page that joined the collection
STORED = "stored"  # on the first visit: a new page, a copy of another, or one that is retired at once
FAILED = "failed"  # visits that showed nothing
SHOWN = (SAME, CHANGED, STORED, MISSING, GONE, MOVED, BACK, FAILED)

_NO_CLICK = 0.5


class Outcomes:
    """Turns the visits of one crawl into outcomes. A page is worth its relevance or, with ``CRAWL_CLICKS``, its share of clicks.

    A page without clicks counts as half a click. Raises ``BadInput`` for a file of clicks that cannot be read.
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
            impact=visit.signs.get(IMPACT),
        )

    def _weight(self, visit: Visit) -> float:
        if self._clicks:
            return self._clicks.get(visit.url, _NO_CLICK) / self._total
        return visit.relevance * (1.0 - visit.spam)


def revisit_policy(options: RevisitOptions) -> RevisitPolicy:
    """The policy of ``CRAWL_REVISIT``. Raises ``BadSetting``."""
    return make_policy(options.crawl_revisit, {"skew": 0.0} if options.crawl_clicks else None)


def modified_at(header: str, now: float) -> float:
    """``Last-Modified`` in seconds since the epoch; 0 when it is missing, invalid or in the future."""
    try:
        at = parsedate_to_datetime(header).timestamp() if header else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return at if 0.0 < at <= now else 0.0


class PageGroups:
    """Numbers hosts and templates from 0. About 100 bytes of memory for each."""

    def __init__(self) -> None:
        self._hosts: dict[int, int] = {}
        self._templates: dict[int, int] = {}

    def of(self, url: str) -> tuple[int, int]:
        """The numbers of the host and of the template of a URL.

        The template is the host, the first folder of the path, the number of its segments, and whether there is a query.
        """
        host = host_of(url)
        path, _, query = url.partition("//")[2].partition("?")
        folders = path.split("/")[1:]
        first = folders[0] if len(folders) > 1 else ""
        template = f"{host}/{first}/{len(folders)}{'?' if query else ''}"
        return _number(self._hosts, host), _number(self._templates, template)


def _number(numbers: dict[int, int], name: str) -> int:
    key = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return numbers.setdefault(key, len(numbers))


@dataclass(slots=True)
class WatchedPage:
    """A page of the collection: its row, the ends of its first visit and of its last one that showed something, how many there
    were."""

    row: int
    url: str
    born: float
    at: float
    visits: int = 1
    changes: int = 0
    present: bool = True


@dataclass(frozen=True, slots=True)
class ReplayedPolicy:
    """``policy`` has learned from all visits; its plan is of ``now``, the end of the last visit. ``pages`` are in row order."""

    policy: RevisitPolicy
    pages: tuple[WatchedPage, ...]
    now: float

    def find(self, url: str) -> WatchedPage | None:
        return next((page for page in self.pages if page.url == url), None)


def replay_policy(folder: Path, options: RevisitOptions) -> ReplayedPolicy:
    """Replay all visits of a crawl. Raises ``BadCrawlDir``, ``BadSetting``, ``BadInput``."""
    policy, outcomes = revisit_policy(options), Outcomes(options.crawl_clicks)
    pages: dict[str, WatchedPage] = {}
    now = 0.0
    for visit in read_visits(folder):
        now = max(now, visit.at)
        page = pages.get(visit.url)
        if visit.number == 1 and page is None and is_collected(visit):
            page = pages[visit.url] = WatchedPage(len(pages), visit.url, visit.at, visit.at)
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


class Tally:
    """Counts visits by what they showed. ``next_due`` is the time of the next visit when the run ended, None if there is none."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.next_due: float | None = None

    def add(self, visit: Visit) -> None:
        shown = visit.change or FAILED if visit.number > 1 else STORED if visit.md5 else FAILED
        self._counts[shown] += 1

    @property
    def visits(self) -> int:
        return self._counts.total()

    def __getitem__(self, shown: str) -> int:
        return self._counts[shown]

    def counters(self) -> Mapping[str, int]:
        """By ``revisits/<what was shown>``, without those that are 0."""
        return {f"revisits/{shown}": self._counts[shown] for shown in SHOWN if self._counts[shown]}
