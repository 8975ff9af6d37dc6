"""The revisits of a crawl: what each visit of a page teaches, and when the next one is due."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from itertools import islice
from math import inf

from crawlproject.core.part import Setup
from crawlproject.core.stopping import ROUND
from crawlproject.parts.listings.listing import Entry
from crawlproject.parts.revisits.allocation import Pace, Slots, rate_of
from crawlproject.parts.revisits.base import IMPACT, RevisitPolicy
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.hints import HINTED
from crawlproject.parts.revisits.learned import LearnedVisits, brings_page
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import NEW, Tally
from crawlproject.parts.revisits.query_ranking import make_ranking
from crawlproject.parts.revisits.shared_records import (
    NAME,
    UNLISTED,
    OwnCollection,
    SharedCollection,
    revisit_key,
    score_of,
)
from crawlproject.records import GONE, MISSING, MOVED, REREADS, REVISIT, REVISITS, CrawlUrl, FetchEvent, Page, Visit
from crawlproject.storage.logs import AWAY, RETIRED, PageChange
from crawlproject.urls.hosts import host_of

CONFIRM = 86_400.0  # seconds until a missing page is visited once more
RETRY = 21_600.0  # seconds until the next visit after one that showed nothing
FORBIDDEN = 30 * 86_400.0  # seconds until the next try of a page that robots.txt forbids now
_SOON = 600.0  # seconds
_FAR = 10 * 365.25 * 86_400.0  # seconds: never, as a time that a frontier takes
_LEAST_SHARE = 1e-6  # of revisits
_AT_ONCE = 1000  # pages in one query to the frontier


class Revisits(LearnedVisits):
    """Schedules the next visit of each page by what its earlier visits showed. It is also the budget of such a crawl:
    ``CRAWL_REVISIT_ROUND`` fetches, or no limit.

    ``CRAWL_RATE`` limits all fetches (``Pace``) once the first harvest is over, that is, once ``CRAWL_MAX_PAGES`` are stored.
    """

    def __init__(self, setup: Setup, policy: RevisitPolicy) -> None:
        options, folder, frontier = setup.options.of(RevisitOptions), setup.folder, setup.frontier
        shared = OwnCollection()
        if setup.peers.has_server:
            shared = SharedCollection(options.worker, folder.path, setup.peers)
        super().__init__(policy, folder, options, shared)
        self.pace = Pace()
        self._slots = Slots()  # of revisits
        self._folder = folder
        self._frontier = frontier
        self._options = options
        self._peers = setup.peers
        self._keep = options.crawl_keep_pages or options.crawl_max_pages
        self._in_line = 0  # revisits that wait or are leased
        self._swept = 0  # row
        self._share_of_revisits = 1.0
        self._round = options.crawl_revisit_round
        self._ranking = make_ranking(options, setup.judge.analyzer)  # of its own pages

    # ------------------------------------------------------------ the schedule

    @property
    def is_harvested(self) -> bool:
        """Whether the first harvest is over: from then on the rate limits all fetches."""
        most = self._options.crawl_max_pages
        if not most:
            return self._options.crawl_rate > 0
        return self._peers.pages(self._folder.history.pages) >= most

    def learn(self, event: FetchEvent) -> None:
        """As ``LearnedVisits.learn``. Pages that are new after the first harvest are reported as changes."""
        super().learn(event)
        visit = event.visit
        if self._ranking is not None and (visit.md5 or visit.change in AWAY):
            known, page = self.collection.find(visit.url), event.page()
            if known is not None and (page is not None or known.is_away):
                self._ranking.show(known.row, page.counts if page is not None else {})
        if brings_page(visit) and (self._round or self.is_harvested):
            self.tell(PageChange(visit.url, NEW, visit.at, 0.0, 1, 1, title=visit.title, relevance=visit.relevance))

    def has_new(self) -> bool:
        """Whether URLs that were never fetched wait or are being fetched."""
        in_line = self.collection.present + len(self.rereads) if self._peers.has_server else self._in_line
        return len(self._frontier) + self._frontier.leases() - len(self.feeds) > in_line

    def begin(self, now: float) -> None:
        """Start or resume the crawl: every page of the collection waits in the frontier for its next visit."""
        self.tally = Tally()
        self.collection.none_after(now)
        self.know_all()
        if not self._peers.has_server:
            present = [self.key_of(page) for page in self.collection.pages() if not page.is_away]
            self._in_line = sum(key in self._frontier for key in present)  # ``plan`` asks whether other URLs wait
        self.plan(now)
        self.put_missing()
        self.rereads.begin()
        self._frontier.put_many(self.rereads.records(now=bool(self._round)))
        if self._round:
            self._begin_round(now)
        self._in_line = self.collection.present + len(self.rereads)

    def put_missing(self) -> None:
        """Put every page that the frontier lacks in the frontier for its next visit."""
        pages = (page for page in self.collection.pages() if not page.is_away)
        while some := list(islice(pages, _AT_ONCE)):
            keys = [self.key_of(page) for page in some]
            if not self._peers.has_server:
                self._frontier.put_many(self._record(page) for page in some if self.key_of(page) not in self._frontier)
                continue
            missing = self._peers.missing(keys)
            for page, key in zip(some, keys, strict=True):
                if key in missing:
                    self.shared.attach(page)
                    self._frontier.put(self._record(page))

    def after_first_visit(self, url: str, now: float, text: str = "") -> list[CrawlUrl]:
        """Return the frontier records that follow the first visit of a page, which showed ``text``: its next visit."""
        page = self.collection.find(url)
        if page is None or page.is_away or page.number > 1:
            return []
        self._plan_now_and_then(now)
        record = self._record(page)
        self._in_line += record.key not in self._frontier
        self.shared.attach(page, text)
        return [record]

    def next_visit(self, page: CollectedPage) -> float:
        """When a page is visited again, in seconds since the epoch: at least ``CRAWL_REVISIT_MIN`` after its last visit."""
        due, least = self.lifetimes.next_visit(page, self.policy.next_visit(page.row)), self._options.crawl_revisit_min
        return min(max(due, page.at + least), page.at + _FAR)

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
        """Reschedule the pages that the last visits brought forward, and plan anew when it is time."""
        self._bring_forward(self.earlier, now)
        self.earlier.clear()
        self._plan_now_and_then(now)

    def heard(self, visit: Visit) -> None:
        """Learn from another worker's visit, and reschedule the pages that it brings forward."""
        self._bring_forward(self.hear(visit), visit.at)
        self._plan_now_and_then(visit.at)

    def _bring_forward(self, rows: Iterable[int], now: float) -> None:
        """Reschedule the next visits of the pages in these rows."""
        for row in rows:
            page = self.collection[row]
            if not page.is_away and page.state != MISSING:
                self._reschedule(page, now)

    def read_listing(self, url: str) -> list[CrawlUrl]:
        """Return the frontier records that follow the first reading of a listing: its next reading."""
        record = self.rereads.record(url)
        self._in_line += record.key not in self._frontier
        self.listing_read(record)
        return [record]

    def listing_read(self, listing: CrawlUrl) -> None:
        """Attach the state of a listing to its next reading, which another worker may make."""
        self.shared.attach_listing(listing.key, self.rereads[listing.url])

    def listing_left(self, url: str) -> None:
        """Note that a listing is not read again in this run, and tell other workers, which count what waits, too."""
        self.rereads.leave(url)
        self._peers.publish(NAME, url, [UNLISTED, url])
        self.left()

    def hinted(self, entries: Iterable[Entry], now: float) -> bool:
        """Make the pages due that a listing says have changed, if its host is believed. Returns whether there are any."""
        found = self.hints.read(entries, now)
        for page in found:
            self._reschedule(page, now)
        return bool(found)

    def _plan_now_and_then(self, now: float) -> None:
        """Plan anew after visits to a twentieth of the collection; then reschedule as many pages, in turn."""
        seen = self.seen_since_plan
        if seen < max(1, len(self.collection) // 20):
            return
        self.plan(now)
        for page in islice(self.collection.pages(self._swept), seen):
            self._swept = page.row + 1
            if self._peers.is_own(host_of(page.url)) and not page.is_away and page.state != MISSING:
                self._reschedule(page, now)
        if self._swept >= len(self.collection):
            self._swept = 0

    def _reschedule(self, page: CollectedPage, now: float) -> None:
        due = now if page.row in self.hints.due else self.next_visit(page)
        if self._round and due > now:
            return  # the page may belong to the round, whose pages are due whatever the plan says
        key = self.key_of(page)
        if self._frontier.leased(key) is None:
            self._frontier.hold(key, due)
            if page.row in self.hints.due:
                self._frontier.set_precedence(key, REREADS)

    def plan(self, now: float) -> None:
        """Share out the fetches from ``now`` on."""
        self.seen_since_plan = 0
        rate = self._rate(now)
        share, new = self._options.crawl_new_share, self.has_new()
        if not new:
            used = self.policy.plan(now, rate)
        elif share == "price":
            worth = sum(self.new_worth) / len(self.new_worth) if self.new_worth else 0.0
            used = self.policy.plan(now, rate, worth)
            if not self.policy.weighs_new:
                used = self.policy.plan(now, rate / 2)
        else:
            used = self.policy.plan(now, rate * (1.0 - float(share)))
        self._slots.rate = 0.0 if self._round else used / self._peers.workers(now)
        self._slots.share = min(1.0, max(used / rate, _LEAST_SHARE))
        pace = rate if self.is_harvested and not self._round else 0.0
        if self._peers.has_server:
            self._peers.set_pace(pace)
        else:
            self.pace.rate = pace
        self._share_of_revisits = used / rate

    def _rate(self, now: float) -> float:
        """Fetches a second. A round spreads its fetches over the time since the last visit."""
        if self._round:
            since = max((page.at for page in self.collection.pages()), default=now)
            return self._round / max(now - since, self._options.crawl_revisit_min, 1.0)
        return rate_of(self._options, self.collection.present)

    # ------------------------------------------------------------ a round

    def _begin_round(self, now: float) -> None:
        """Make the pages with the earliest next visits due now, and all listings."""
        present = (page for page in self.collection.pages() if not page.is_away)
        most = round(self._round * self._share_of_revisits)
        pages = map(self.key_of, nsmallest(most, present, key=self.next_visit))
        for key in (*pages, *(listing.key for listing in self.rereads.records())):
            self._frontier.hold(key, 0.0)

    def is_in_flight(self) -> bool:
        """Whether the open leases may already be the rest of the round. A lease that waits for its robots.txt is given back."""
        return 0 < self._round <= self.tally.visits + self._frontier.leases()

    def end_reason(self, now: float) -> str:
        """``ROUND`` if the round has made its fetches, or nothing more is due in the next ten minutes; else empty."""
        if not self._round:
            return ""
        is_over = self.tally.visits >= self._round
        if not is_over and not self._frontier.leases():
            if self._peers.has_server:
                is_over = self._peers.nothing_due(now + _SOON)
            else:
                due = self._frontier.next_due(now)
                is_over = due is None or due > now + _SOON
        return ROUND if is_over else ""

    def end(self) -> None:
        """Note when the next visit is due, as the crawl ends."""
        present = (page for page in self.collection.pages() if not page.is_away)
        self.tally.next_due = min(map(self.next_visit, present), default=None)

    def turn(self, url: CrawlUrl, now: float) -> float:
        """When a due revisit may begin; ``now`` or earlier: at once. What was learned meanwhile may have put it off."""
        page = self.collection.find(url.url)
        if page is None:
            return now + RETRY  # no worker left a record of the page: it was removed
        if self._peers.has_server:  # a page that no worker announced may be new to the policy
            self._plan_now_and_then(now)
        due = 0.0 if self._round or page.row in self.hints.due or self._was_hinted(url) else self.next_visit(page)
        if due > now + _SOON:
            return due
        return self._slots.begin(now) if self.has_new() and self._slots.rate else now

    def taken(self, now: float) -> None:
        """A fetch of any kind begins."""
        self.pace.taken(now)
        self._slots.any_taken()

    def signs(self, url: CrawlUrl, page: CollectedPage) -> dict[str, float]:
        """The signs to log with a visit of a page."""
        return {HINTED: 1.0} if self.hints.is_hinted(page) or self._was_hinted(url) else {}

    def impact(self, page: Page, known: CollectedPage) -> dict[str, float]:
        """The sign to log with a visit that found another text: how much the change repairs the ranking of the queries."""
        return {IMPACT: self._ranking.show(known.row, page.counts)} if self._ranking is not None else {}

    def _was_hinted(self, url: CrawlUrl) -> bool:
        """Whether another worker may have read in a listing that a page has changed."""
        return self._peers.has_server and url.precedence == REREADS

    # ------------------------------------------------------------ pages leave

    def left(self) -> None:
        """Note that a page or listing waits for no further visit."""
        self._in_line -= 1

    def surplus(self) -> Iterable[CollectedPage]:
        """The pages that exceed ``CRAWL_KEEP_PAGES``: those that are worth least."""
        present = self.collection.present
        return self.collection.worst(present - self._keep) if 0 < self._keep < present else ()

    def retire(self, page: CollectedPage, now: float) -> None:
        """Remove a page from the collection. It stays known for ever, so it is not fetched again."""
        self.note(PageChange(page.url, RETIRED, now, page.at, page.number, page.version, relevance=page.weight))
        self.collection.retire(page.row)
        self._frontier.drop(self.key_of(page))
        self.shared.retired(page)
        self.left()

    def key_of(self, page: CollectedPage) -> str:
        """The frontier key of the revisits of a page."""
        return revisit_key(page.url, self.shared.variant(page))

    def _record(self, page: CollectedPage) -> CrawlUrl:
        """The frontier record of the next visit of a page."""
        variant, due = self.shared.variant(page), self.next_visit(page)
        return CrawlUrl(
            page.url, score_of(due), page.depth, not_before=due, kind=REVISIT, variant=variant, precedence=REVISITS
        )
