"""Simulates a revisit policy on recorded changes: the contract of the live crawl, with a virtual clock and known histories.

The pages of several sites share one time axis: the records are shifted to end together, so the last year of each site is the
same year for all.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from crawlproject.evaluation.freshness.histories import PageHistory, SiteHistory, section_of
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.base import Outcome, RevisitPolicy

PLAN_EVERY = SECONDS_A_DAY
BANK = SECONDS_A_DAY  # the visits of this much time may be saved up
NEW_SHARE = 0.5  # share of the visits for new pages while some wait, unless the policy weighs them itself
SLACK = 60.0  # seconds: a page that is due within this time counts as due
WEEK = 7 * SECONDS_A_DAY  # sites are shifted by whole weeks, which preserves hour and weekday of a change


@dataclass(slots=True)
class VisitLog:
    """All visits in order of time: ``pages`` are indices into the collection; the version is -1 if the page was gone.

    ``fetches`` counts the visits that cost budget: all but the first harvest of each site. ``budget`` is the number of
    visits that could be spent.
    """

    times: list[float] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    fetches: int = 0
    budget: float = 0.0


class Simulation:
    """Visits the pages of a collection as ``policy`` decides, on a budget of one visit per page in ``days`` on average.

    A site that enters is harvested for free. Pages that appear later are found through links of visited pages and cost a
    fetch each. A fetch takes no time. Unspent visits are saved for a day; then the page that is due next is visited early,
    so every policy that gives up no page spends the same budget. ``last_modified``: servers state when a page last changed.
    ``pause``: a site is not visited for so many seconds after a visit, as with a ``Crawl-delay``.
    """

    def __init__(
        self,
        collection: SiteCollection,
        policy: RevisitPolicy,
        *,
        days: float,
        last_modified: bool = False,
        pause: float = 0.0,
    ) -> None:
        self.collection = collection
        self.policy = policy
        self.days = days
        self.last_modified = last_modified
        self.pause = pause
        self.log = VisitLog()
        self._rests: dict[int, float] = {}  # the time until which a site is not visited
        self._site = np.zeros(len(collection.members), dtype=np.int64)  # by row
        self._row: dict[int, int] = {}  # page of the collection -> row
        self._page: list[int] = []  # row -> page of the collection
        self._seen: list[int] = []  # the version seen last, by row
        self._due = np.full(len(collection.members), math.inf)  # by row
        self._waiting: deque[int] = deque()
        self._known: set[int] = set()  # pages that were visited or are waiting
        self._credit = 0.0

    def run(self) -> VisitLog:
        collection, log = self.collection, self.log
        days = np.arange(collection.start, collection.end, PLAN_EVERY)
        rates = collection.live_pages(days) / (self.days * SECONDS_A_DAY)
        entering = deque(sorted((time, site) for site, time in enumerate(collection.enters)))
        tokens = 0.0
        begun = 1.0  # the share of the next visit that is paid for already: the first one is due at once
        for start, rate in zip(days.tolist(), rates.tolist(), strict=True):
            end = min(start + PLAN_EVERY, collection.end)
            while entering and entering[0][0] <= start:
                self._harvest(entering.popleft()[1], start)
            share = self._plan(start, rate)
            self._drop_ended(end)
            bank = max(1.0, rate * BANK)
            paid = begun + rate * (end - start)
            due = math.ceil(round(paid - 1, 9))
            times = [start + (number - begun) / rate for number in range(1, due + 1)]
            begun = round(paid - due, 9)
            for now in times:
                tokens = min(tokens + 1, bank)
                log.budget += 1
                while tokens >= 1:
                    page = self._next(now, share, tokens >= bank)
                    if page is None:
                        break
                    tokens -= 1
                    log.fetches += 1
                    self._visit(page, now)
        return log

    def _plan(self, now: float, rate: float) -> float:
        """Let the policy plan with the budget; return the share of the visits for new pages while some wait."""
        if rate <= 0 or not self._page:
            return NEW_SHARE
        new_value = float(self.collection.weights[list(self._waiting)].mean()) if self._waiting else None
        used = self.policy.plan(now, rate, new_value)
        rows = len(self._page)
        self._due[:rows] = self.policy.next_visits()
        return 1 - used / rate if used < rate else NEW_SHARE

    def _next(self, now: float, share: float, must: bool) -> int | None:
        """The page to visit now: a known page that is due, or a new page; with ``must`` also a page that is due later."""
        resting = [site for site, until in self._rests.items() if until > now] if self.pause else []
        members = self.collection.members
        new = next((page for page in self._waiting if members[page].site not in resting), None)
        if new is not None:
            self._credit += share
            if self._credit >= 1:
                self._credit -= 1
                self._waiting.remove(new)
                return new
        rows = len(self._page)
        while rows:
            known = self._due[:rows]
            row = int((np.where(np.isin(self._site[:rows], resting), math.inf, known) if resting else known).argmin())
            if resting and self._site[row] in resting:
                break
            due = float(self._due[row])
            if math.isinf(due) or (due > now + SLACK and not must):
                break
            asked = self.policy.next_visit(row)
            if asked <= due + SLACK:
                return self._page[row]
            self._due[row] = asked  # other visits have postponed it since
        if new is not None:
            self._waiting.remove(new)
        return new

    def _harvest(self, site: int, now: float) -> None:
        collection = self.collection
        last = collection.first[site + 1] if site + 1 < len(collection.first) else len(collection.members)
        for page in range(collection.first[site], last):
            if collection.exists(page, now):
                self._known.add(page)
                self._visit(page, now)

    def _drop_ended(self, now: float) -> None:
        for row, page in enumerate(self._page):
            if self.collection.leaves[self.collection.members[page].site] <= now:
                self._due[row] = math.inf

    def _visit(self, page: int, now: float) -> None:
        collection = self.collection
        member = collection.members[page]
        self._rests[member.site] = now + self.pause
        first = page not in self._row
        exists = collection.exists(page, now)
        version = collection.version_at(page, now) if exists else -1
        if first:
            self._row[page] = len(self._page)
            self._site[len(self._page)] = member.site
            self._page.append(page)
            self._seen.append(version)
        row = self._row[page]
        seen = self._seen[row]
        novelty = 0.0
        new_links = 0
        modified = 0.0
        if exists:
            novelty = member.history.distance(seen, version) if seen >= 0 else 1.0
            new_links = self._follow(member.site, member.history.links[version], now)
            modified = float(member.history.times[version]) + member.shift if self.last_modified else 0.0
            self._seen[row] = version
        self.log.times.append(now)
        self.log.pages.append(page)
        self.log.versions.append(version)
        sooner = self.policy.observe(
            Outcome(
                row,
                now,
                first=first,
                changed=not first and exists and novelty > 0,
                novelty=0.0 if first else novelty,
                modified=modified,
                new_links=new_links,
                gone=not exists,
                weight=float(collection.weights[page]),
                host=member.site,
                template=member.section,
            )
        )
        for other in (row, *sooner):
            self._due[other] = self.policy.next_visit(other)

    def _follow(self, site: int, targets: frozenset[int], now: float) -> int:
        found = 0
        for target in targets:
            page = self.collection.first[site] + target
            if page not in self._known and self.collection.exists(page, now):
                self._known.add(page)
                self._waiting.append(page)
                found += 1
        return found


@dataclass(frozen=True, slots=True)
class Member:
    """A page of the collection. ``shift``: seconds to add to the times of its history.

    ``section`` is a number for its site and first folder.
    """

    history: PageHistory
    site: int
    section: int
    shift: float
    id: int


class SiteCollection:
    """The pages of ``sites`` in the ``days`` before ``end``, the latest end of a record.

    Times are seconds since the epoch, shifted by whole weeks per site. A site with a shorter record enters later
    (``enters``); a site leaves (``leaves``) up to a week before the end. ``weights`` is the worth of each page, 1 by
    default.
    """

    def __init__(self, sites: Sequence[SiteHistory], *, days: float = 365) -> None:
        self.sites = list(sites)
        self.end = max(site.end for site in sites)
        self.start = self.end - days * SECONDS_A_DAY
        shifts = [float((self.end - site.end) // WEEK) * WEEK for site in sites]
        self.enters = [max(self.start, site.start + shift) for site, shift in zip(sites, shifts, strict=True)]
        self.leaves = [site.end + shift for site, shift in zip(sites, shifts, strict=True)]
        sections: dict[tuple[int, str], int] = {}
        self.members: list[Member] = []
        self.first: list[int] = []  # index of the first page of each site
        for number, (site, shift) in enumerate(zip(sites, shifts, strict=True)):
            self.first.append(len(self.members))
            for page_id, page in enumerate(site.pages):
                section = sections.setdefault((number, section_of(page.url)), len(sections))
                self.members.append(Member(page, number, section, shift, page_id))
        self.weights: Array = np.ones(len(self.members))

    def exists(self, index: int, time: float) -> bool:
        member = self.members[index]
        return time < self.leaves[member.site] and member.history.exists(time - member.shift)

    def version_at(self, index: int, time: float) -> int:
        member = self.members[index]
        return member.history.version_at(time - member.shift)

    def lives(self, index: int) -> list[tuple[float, float]]:
        """The periods in which a page exists, from the entry of its site until the end of its record, in order."""
        member = self.members[index]
        now, periods = max(self.enters[member.site], member.history.born + member.shift), []
        end = self.leaves[member.site]
        for start, until in sorted(member.history.gone):
            if now < min(start + member.shift, end):
                periods.append((now, min(start + member.shift, end)))
            now = max(now, until + member.shift)
        return [*periods, (now, end)] if now < end else periods

    def live_pages(self, times: Array) -> Array:
        """The number of pages that exist at each of these times."""
        change = np.zeros(len(times) + 1)
        for index in range(len(self.members)):
            for start, end in self.lives(index):
                first, last = np.searchsorted(times, (start, end))
                change[first] += 1
                change[last] -= 1
        return change.cumsum()[:-1]
