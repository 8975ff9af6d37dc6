"""The pages of a crawl that are visited again: what is learned from each visit, and when the next one is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from itertools import islice
from math import inf

from crawlproject.crawl.listing import Entry
from crawlproject.crawl.revisits.hints import Hints
from crawlproject.crawl.revisits.keys import key_of, score_of
from crawlproject.crawl.revisits.outcomes import Outcomes
from crawlproject.crawl.revisits.pace import Pace
from crawlproject.crawl.revisits.rereads import Rereads
from crawlproject.crawl.revisits.tally import NEW, Tally
from crawlproject.frontier.base import Frontier
from crawlproject.options import Options
from crawlproject.records import GONE, LISTINGS, MISSING, MOVED, REVISIT, CrawlUrl, FetchEvent
from crawlproject.revisits.base import RevisitPolicy
from crawlproject.storage.change_log import RETIRED, PageChange, PageChangeLog
from crawlproject.storage.collection import CollectedPage, Collection
from crawlproject.storage.crawl_folder import CrawlFolder

CONFIRM = 86_400.0  # seconds until a page that is missing is looked at once more
RETRY = 21_600.0  # seconds until the next visit after one that showed nothing
FORBIDDEN = 30 * 86_400.0  # seconds until a page is asked for again that robots.txt forbids now
WEEK = 7 * 86_400.0
_SOON = 600.0  # seconds
_FAR = 10 * 365.25 * 86_400.0  # seconds: never, as a time that a frontier takes
_RECENT = 50  # new pages whose worth says what the next one is worth


class Revisits:
    """A learner, and the schedule of the visits to come.

    ``CRAWL_RATE`` limits all fetches from the end of the first harvest on (``Pace``): when ``CRAWL_MAX_PAGES`` are stored.
    """

    def __init__(self, policy: RevisitPolicy, folder: CrawlFolder, frontier: Frontier, options: Options) -> None:
        self.policy = policy
        self.collection = Collection(folder.path)
        self.changes = PageChangeLog(folder.path)
        self.hints = Hints(self.collection)
        self.rereads = Rereads(options.crawl_revisit_min)
        self.pace = Pace()
        self.tally = Tally()  # of this run
        self.listeners: list[
            Callable[[PageChange], object]
        ] = []  # are told of changes, and of new pages after the harvest
        self._slots = Pace(burst=1)  # of revisits
        self._folder = folder
        self._frontier = frontier
        self._options = options
        self._keep = options.crawl_keep_pages or options.crawl_max_pages
        self._outcomes = Outcomes(options.crawl_clicks)
        self._in_line = 0  # revisits that wait or are leased
        self._earlier: set[int] = set()  # rows that are due earlier since the last visit
        self._new_worth: deque[float] = deque(maxlen=_RECENT)
        self._seen_since_plan = 0  # visits, first ones and others
        self._swept = 0  # row
        self._share_of_revisits = 1.0
        self._round = options.crawl_revisit_round
        folder.beside += [self.collection, self.changes]

    # ------------------------------------------------------------ learning

    def apply(self, event: FetchEvent) -> None:
        """The policy learns from a visit that is in the history."""
        self.collection.catch_up()
        visit = event.visit
        self.tally.add(visit)
        if visit.error in LISTINGS:
            self.rereads.add(visit)
            return
        if visit.number == 1 and visit.md5 and not visit.duplicate_of and (self._round or self.is_harvested):
            self._tell(PageChange(visit.url, NEW, visit.at, 0.0, 1, 1, title=visit.title, relevance=visit.relevance))
        if visit.number == 1 and visit.md5 and not visit.duplicate_of:
            self._new_worth.append(visit.relevance)
        page = self.collection.find(visit.url)
        if page is None or (visit.number == 1 and not visit.md5) or (visit.number > 1 and not visit.change):
            return
        if visit.number > 1:
            self._earlier.update(each.row for each in self.hints.shown(visit, page.row))
        self._earlier.update(self.policy.observe(self._outcomes.of(page.row, visit)))
        self._seen_since_plan += 1

    # ------------------------------------------------------------ the schedule

    @property
    def is_harvested(self) -> bool:
        """Whether the first harvest is over: from then on the rate limits all fetches."""
        most = self._options.crawl_max_pages
        return self._folder.history.pages >= most if most else self._options.crawl_rate > 0

    def has_new(self) -> bool:
        """Whether URLs wait that were never fetched."""
        return len(self._frontier) > self._in_line

    def begin(self, now: float) -> None:
        """The crawl starts, or goes on: every page of the collection waits for its next visit."""
        self.tally = Tally()
        present = [key_of(page) for page in self.collection.pages() if not page.is_away]
        self._in_line = sum(key in self._frontier for key in present)  # the plan asks whether others wait
        self.plan(now)
        self._frontier.put_many(self._missing_records())
        self._frontier.put_many(self.rereads.records(now=bool(self._round)))
        if self._round:
            self._begin_round(now)
        self._in_line = len(present) + len(self.rereads)

    def _missing_records(self) -> Iterator[CrawlUrl]:
        for page in self.collection.pages():
            record = self._record(page)
            if not page.is_away and record.key not in self._frontier:
                yield record

    def after_first_visit(self, url: str, now: float) -> list[CrawlUrl]:
        """What has to wait in the frontier after the first visit of a page: its next one."""
        page = self.collection.find(url)
        if page is None or page.is_away or page.number > 1:
            return []
        self._plan_now_and_then(now)
        record = self._record(page)
        self._in_line += record.key not in self._frontier
        return [record]

    def next_visit(self, page: CollectedPage) -> float:
        """When a page is visited again, in seconds since the epoch: at least ``CRAWL_REVISIT_MIN`` after its last visit."""
        return min(max(self.policy.next_visit(page.row), page.at + self._options.crawl_revisit_min), page.at + _FAR)

    def due_after(self, page: CollectedPage, change: str, now: float) -> float:
        """When a page is visited again after a visit at ``now`` that showed ``change``; ``inf``: never."""
        if change in (GONE, MOVED):
            return inf
        if change == MISSING:
            return now + max(CONFIRM, self._options.crawl_revisit_min)
        if not change:
            return now + max(RETRY, self._options.crawl_revisit_min)
        return self.next_visit(self.collection[page.row])

    def visit_ended(self, now: float) -> None:
        """Bring forward what the last visits gave reason to, and plan anew now and then."""
        for row in self._earlier:
            page = self.collection[row]
            if not page.is_away and page.state != MISSING:
                self._reschedule(page, now)
        self._earlier.clear()
        self._plan_now_and_then(now)

    def read_listing(self, url: str) -> list[CrawlUrl]:
        """What has to wait in the frontier after a listing was read for the first time: its next reading."""
        record = self.rereads.record(url)
        self._in_line += record.key not in self._frontier
        return [record]

    def hinted(self, entries: Iterable[Entry], now: float) -> bool:
        """A listing was read again: pages that it says have changed are due, if its host is believed. Whether there are any."""
        found = self.hints.told(entries, now)
        for page in found:
            self._reschedule(page, now)
        return bool(found)

    def _plan_now_and_then(self, now: float) -> None:
        """Plan when the collection, or what is known of it, is another; and keep the times of pages that wait for long true."""
        seen = self._seen_since_plan
        if seen < max(1, len(self.collection) // 20):
            return
        self.plan(now)
        for page in islice(self.collection.pages(self._swept), seen):
            self._swept = page.row + 1
            if not page.is_away and page.state != MISSING:
                self._reschedule(page, now)
        if self._swept >= len(self.collection):
            self._swept = 0

    def _reschedule(self, page: CollectedPage, now: float) -> None:
        due = now if page.row in self.hints.due else self.next_visit(page)
        if self._round and due > now:
            return  # it may be one of the round, whose pages are due whatever the plan says
        if self._frontier.leased(key_of(page)) is None:
            self._frontier.hold(key_of(page), due)
            if page.row in self.hints.due:
                self._frontier.rescore(key_of(page), score_of(page, hinted=True))

    def plan(self, now: float) -> None:
        """Share out the fetches from now on."""
        self._seen_since_plan = 0
        rate = self._rate(now)
        share, new = self._options.crawl_new_share, self.has_new()
        if not new:
            used = self.policy.plan(now, rate)
        elif share == "price":
            worth = sum(self._new_worth) / len(self._new_worth) if self._new_worth else 0.0
            used = self.policy.plan(now, rate, worth)
            if not self.policy.weighs_new:
                used = self.policy.plan(now, rate / 2)
        else:
            used = self.policy.plan(now, rate * (1.0 - float(share)))
        self._slots.rate = 0.0 if self._round else used
        self.pace.rate = rate if self.is_harvested and not self._round else 0.0
        self._share_of_revisits = used / rate

    def _rate(self, now: float) -> float:
        """Fetches a second. A round has as many as it is long, in the time since the last visit."""
        if self._round:
            since = max((page.at for page in self.collection.pages()), default=now)
            return self._round / max(now - since, self._options.crawl_revisit_min, 1.0)
        return rate_of(self._options, self.collection.present)

    # ------------------------------------------------------------ a round

    def _begin_round(self, now: float) -> None:
        """The pages whose next visits come first are due now."""
        present = (page for page in self.collection.pages() if not page.is_away)
        most = round(self._round * self._share_of_revisits)
        pages = map(key_of, nsmallest(most, present, key=self.next_visit))
        for key in (*pages, *(listing.key for listing in self.rereads.records())):
            self._frontier.hold(key, 0.0)

    def taken(self, now: float) -> None:
        """A fetch begins."""
        self.pace.taken(now)

    def round_is_in_flight(self) -> bool:
        """Whether the open leases may already be the rest of a round. One that waits for its robots.txt is given back."""
        return 0 < self._round <= self.tally.visits + self._frontier.leases()

    def round_is_over(self, now: float) -> bool:
        """Whether a round has had its fetches, or nothing more is due in the next minutes."""
        if not self._round:
            return False
        if self.tally.visits >= self._round:
            return True
        due = self._frontier.next_due(now)
        return not self._frontier.leases() and (due is None or due > now + _SOON)

    def end(self) -> None:
        """The crawl ends."""
        present = (page for page in self.collection.pages() if not page.is_away)
        self.tally.next_due = min(map(self.next_visit, present), default=None)

    def turn(self, row: int, now: float) -> float:
        """When a revisit that is due may begin; ``now`` or earlier: at once. What was learned since may have made it later."""
        due = 0.0 if self._round or row in self.hints.due else self.next_visit(self.collection[row])
        return due if due > now + _SOON else self._slot(now)

    def _slot(self, now: float) -> float:
        """When a revisit whose turn has come may begin; ``now`` or earlier: at once. New URLs do not wait for late revisits."""
        if not self.has_new():
            return now
        free = self._slots.next_time()
        self._slots.taken(now)
        return free

    def note(self, change: PageChange) -> None:
        """Write a change to the log."""
        self.changes.append(change)
        self._tell(change)

    def _tell(self, change: PageChange) -> None:
        for listener in self.listeners:
            listener(change)

    # ------------------------------------------------------------ pages leave

    def left(self) -> None:
        """A page is away: no visit of it waits any more."""
        self._in_line -= 1

    def surplus(self) -> Iterable[CollectedPage]:
        """The pages that ``CRAWL_KEEP_PAGES`` has no place for: those that are worth least."""
        present = self.collection.present
        return self.collection.worst(present - self._keep) if 0 < self._keep < present else ()

    def retire(self, page: CollectedPage, now: float) -> None:
        """A page leaves the collection. It is known for ever, so it is not fetched again."""
        self.note(PageChange(page.url, RETIRED, now, page.at, page.number, page.version, relevance=page.weight))
        self.collection.retire(page.row)
        self._frontier.drop(key_of(page))
        self.left()

    def _record(self, page: CollectedPage) -> CrawlUrl:
        """The revisit as the frontier has it; its score says which of those that are due comes first."""
        return CrawlUrl(
            page.url, score_of(page), page.depth, not_before=self.next_visit(page), kind=REVISIT, variant=str(page.row)
        )


def rate_of(options: Options, present: int) -> float:
    """Fetches a second of a crawl whose collection has ``present`` pages: ``CRAWL_RATE``, or each page once a week."""
    return options.crawl_rate / 3600.0 or max(1, present) / WEEK
