"""What a crawl learns from the visits of its collection.

Servers state for how long a page stays as it is: its lifetime. A lifetime is both a promise and a hint, and the crawl learns
for each host what it is worth. A page is not visited before the end of its lifetime, as far as its host has kept such promises.
It is visited at the end, a little before its turn, if the pages of its host mostly change then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from crawlproject.parts.listings.listing import Listing
from crawlproject.parts.revisits.base import RevisitPolicy, Table
from crawlproject.parts.revisits.collection import CollectedPage, Collection
from crawlproject.parts.revisits.hints import Hints, Truth
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import Outcomes, Tally
from crawlproject.parts.revisits.rereads import FeedNotices, Rereads
from crawlproject.parts.revisits.shared_records import OwnCollection, SharedPage
from crawlproject.records import CHANGED, MISSING, SAME, FetchEvent, Visit
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.logs import PageChange, PageChangeLog
from crawlproject.urls.hosts import host_of

_RECENT = 50  # new pages whose worth predicts that of the next one
_CHANGES = 0.05  # changes that are expected in a lifetime which is believed
_PRIOR = 1.0  # changes of each host before any was seen
_LATE = 1.5  # lifetimes after a visit: a change found by then may have been made at the end of the lifetime
_EARLY = 0.5  # of the planned interval: the earliest end of a lifetime that a visit is brought forward to


class LearnedVisits:
    """``policy`` learns from all visits; ``shared`` holds what other workers know of the collection."""

    def __init__(
        self, policy: RevisitPolicy, folder: CrawlFolder, options: RevisitOptions, shared: OwnCollection
    ) -> None:
        self.policy = policy
        self.shared = shared
        self.collection = Collection(folder.path)
        self.changes = PageChangeLog(folder.path)
        self.hints = Hints(self.collection)
        self.rereads = Rereads(options.crawl_revisit_min)
        self.feeds = FeedNotices()  # another part may replace it
        self.tally = Tally()  # of this run
        self.listeners: list[Callable[[PageChange], object]] = []  # called with changes, and with later pages
        self.earlier: set[int] = set()  # rows that are due earlier since the last visit
        self.new_worth: deque[float] = deque(maxlen=_RECENT)
        self.seen_since_plan = 0  # visits, first ones and repeated ones
        self.lifetimes = Lifetimes(options.crawl_revisit_min)
        self._outcomes = Outcomes(options.crawl_clicks)
        self._worker = options.worker
        folder.beside += [self.collection, self.changes]

    def learn(self, event: FetchEvent) -> None:
        """Teach the policy a visit that is in the history."""
        self.collection.catch_up()
        self.tally.add(event.visit)
        self.earlier.update(*self._learn(event.visit, self._worker))

    def hear(self, visit: Visit) -> Iterable[int]:
        """Teach the policy another worker's visit.

        Returns the rows that hints make due now: only the worker that read the listing has these hints. Rows that the policy
        brings forward are rescheduled by the worker that made the visit.
        """
        self.collection.hear(visit)
        hinted, _ = self._learn(visit)
        return hinted

    def adopt(self, shared: SharedPage) -> None:
        """Take over the record of the last visit of a page, which another worker, or this one, attached to the page."""
        page = shared.page
        known = self.collection.find(page.url)
        if known is None or (known.number, known.at) < (page.number, page.at):
            self.collection.adopt(page)
            known = self.collection.find(page.url)
            assert known is not None
        self._learn(_visit_of(known), shared.holder)

    def replay_workers(self) -> None:
        """Learn from the histories of all workers whose folders are on this machine, in the order of time."""
        self.collection.catch_up()
        for visit, worker in self.shared.visits():
            if worker != self._worker:
                self.collection.hear(visit)
            self._learn(visit, worker)

    def _learn(self, visit: Visit, worker: str = "") -> tuple[Iterable[int], Iterable[int]]:
        """Return the rows that are due earlier, by hints and by the policy. ``worker`` made the visit; empty if not known."""
        if visit.is_listing:
            self.rereads.add(visit)
            return (), ()
        is_new = brings_page(visit)
        page = self.collection.find(visit.url)
        if page is None or (visit.number == 1 and not is_new) or (visit.number > 1 and not visit.change):
            return (), ()
        if not self.shared.is_news(page.row, visit.number):
            return (), ()
        if visit.md5:
            self.shared.stored(page.row, worker)
        if is_new:
            self.new_worth.append(visit.relevance)
        hinted = [each.row for each in self.hints.shown(visit, page.row)] if visit.number > 1 else ()
        self.lifetimes.shown(visit, page.row)
        self.seen_since_plan += 1
        return hinted, self.policy.observe(self._outcomes.of(page.row, visit))

    def know_all(self) -> None:
        """Teach the policy each page of which only the last visit is known."""
        for page in self.collection.pages():
            if not page.is_away and not self.shared.knows(page.row):
                self._learn(_visit_of(page))

    def listed(self, url: str, header: str, found: Listing, now: float) -> None:
        """Note that a listing was read. ``header`` holds the ``Link`` headers of its reply."""
        self.feeds.listed(url, header, found, now)

    def note(self, change: PageChange) -> None:
        """Write a change to the log, and report it to the listeners."""
        self.changes.append(change)
        self.tell(change)

    def tell(self, change: PageChange) -> None:
        for listener in self.listeners:
            listener(change)


def brings_page(visit: Visit) -> bool:
    """Whether a visit adds a page to the collection."""
    return visit.number == 1 and bool(visit.md5) and not visit.is_left_out


def _visit_of(page: CollectedPage) -> Visit:
    """The last visit of a page, as far as it is known."""
    if page.number == 1:
        return Visit(page.url, 200, page.at, relevance=page.weight, md5="-", last_modified=page.last_modified)
    change = MISSING if page.state == MISSING else CHANGED if page.changed == page.at else SAME
    visit = Visit(page.url, 200, page.at, relevance=page.weight, last_modified=page.last_modified)
    return replace(visit, number=page.number, change=change)


class _Promises:
    __slots__ = ("broken", "ends", "kept")

    def __init__(self) -> None:
        self.kept = 0.0  # seconds of lifetimes that were watched
        self.broken = 0  # changes in these seconds
        self.ends = Truth()  # ends of lifetimes: true if the page had changed

    @property
    def believed(self) -> float:
        """Seconds of a lifetime in which ``_CHANGES`` changes are expected."""
        return _CHANGES * self.kept / (_PRIOR + self.broken)


class Lifetimes:
    """What the lifetimes are worth, by host. Lifetimes below ``shortest`` seconds say nothing. 12 bytes a page."""

    def __init__(self, shortest: float) -> None:
        self._shortest = max(shortest, 1.0)
        self._last = Table(at=("f8", 0.0), lifetime=("f4", 0.0))
        self._hosts: dict[str, _Promises] = {}

    def shown(self, visit: Visit, row: int) -> None:
        """Learn from a visit of the page in this row that showed something, live or replayed."""
        self._last.grow(row + 1)
        at, lifetime = float(self._last["at"][row]), float(self._last["lifetime"][row])
        if visit.number > 1 and lifetime >= self._shortest and visit.at > at > 0.0:
            self._learn(self._hosts.setdefault(host_of(visit.url), _Promises()), visit, visit.at - at, lifetime)
        self._last["at"][row] = visit.at
        self._last["lifetime"][row] = visit.lifetime or (lifetime if visit.status == 304 else 0.0)

    def next_visit(self, page: CollectedPage, planned: float) -> float:
        """When a page that the policy plans for ``planned`` is visited. Both are seconds since the epoch."""
        if page.row >= self._last.rows:
            return planned
        lifetime = float(self._last["lifetime"][page.row])
        if lifetime < self._shortest:
            return planned
        host = self._hosts.get(host_of(page.url)) or _Promises()
        if planned < page.at + lifetime:
            return max(planned, page.at + min(lifetime, host.believed))
        is_near = lifetime >= _EARLY * (planned - page.at)
        return page.at + lifetime if is_near and host.ends.is_believed else planned

    @staticmethod
    def _learn(host: _Promises, visit: Visit, since: float, lifetime: float) -> None:
        changed = visit.change == CHANGED
        if since < lifetime:
            host.kept += since
            host.broken += changed
            return
        if not changed:
            host.kept += lifetime
        if since <= _LATE * lifetime:
            host.ends.add(changed)
