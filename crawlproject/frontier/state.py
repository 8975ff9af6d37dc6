"""What a frontier in memory knows, and how each change changes it. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from crawlproject.frontier import changes
from crawlproject.frontier.best_n_first import BestNFirstSchedule
from crawlproject.frontier.changes import Change
from crawlproject.frontier.entry import QueueEntry
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.lazy_heap import LazyHeap
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl


class FrontierState:
    """Waiting URLs, leases, done URLs, and the schedule of the hosts.

    ``schedule`` makes the schedule, given what tells whether an entry is alive. The two orders over all waiting URLs, best
    first and worst first, are built when first asked for: a rehearsal asks for none, and many crawls never fill up.
    """

    def __init__(
        self,
        schedule: Callable[[Callable[[QueueEntry], bool]], HostSchedule | BestNFirstSchedule],
        politeness: Politeness,
    ) -> None:
        self.waiting: dict[str, QueueEntry] = {}
        self.leases: dict[str, QueueEntry] = {}
        self.done: set[str] = set()
        self.evicted = 0
        self.schedule = schedule(self._alive)
        self.politeness = politeness
        self._arrivals = count()
        self._revisions = count(1)
        self._best_first: LazyHeap[QueueEntry] | None = None
        self._worst_first: LazyHeap[tuple[float, int, QueueEntry]] | None = None
        self._handlers: dict[type[Change], Callable[[Any], None]] = {
            changes.Waits: self._waits,
            changes.Rescored: self._rescored,
            changes.Leased: self._leased,
            changes.Returned: self._returned,
            changes.Ended: self._ended,
            changes.Evicted: self._evicted,
            changes.Picked: lambda change: self.schedule.pick(change.host),
            changes.GaveBack: lambda change: self.schedule.give_back_pick(change.host),
            changes.Rests: lambda change: self.schedule.rest(change.host, change.until),
            changes.Asks: self._asks,
        }

    def apply(self, change: Change) -> None:
        """Let it happen. Raises ``KeyError`` when the change does not fit the state."""
        self._handlers[type(change)](change)

    def history(self) -> Iterator[Change]:
        """The fewest changes that lead from an empty state to this one."""
        known = sorted([*self.waiting.values(), *self.leases.values()], key=lambda entry: entry.arrival)
        yield from (changes.Waits(entry.record) for entry in known)
        yield from map(changes.Ended, self.done)
        yield changes.Evicted(None, self.evicted)
        yield from map(changes.Picked, self.schedule.picks())
        yield from map(changes.Leased, self.leases)
        yield from (changes.Rests(host, until) for host, until in self.schedule.clocks())
        yield from (changes.Asks(host, seconds) for host, seconds in self.politeness.crawl_delays())

    def best(self) -> QueueEntry | None:
        """The best waiting URL, whether it may go or not."""
        if self._best_first is None:
            self._best_first = LazyHeap(self._alive, self.waiting.values())
        return self._best_first.first()

    def worst(self) -> QueueEntry | None:
        """The waiting URL with the lowest score, the latest of these."""
        if self._worst_first is None:
            self._worst_first = LazyHeap(lambda item: self._alive(item[2]), map(_worst_key, self.waiting.values()))
        item = self._worst_first.first()
        return item[2] if item else None

    # ------------------------------------------------------------ the changes

    def _waits(self, change: changes.Waits) -> None:
        record = change.record
        old = self.waiting.get(record.key)
        if old is not None:
            self._replace(old, record)
            return
        entry = self._enter(QueueEntry(-record.score, next(self._arrivals), 0, record, queue_of(record.url)))
        self.schedule.add(entry)

    def _rescored(self, change: changes.Rescored) -> None:
        old = self.waiting[change.url]
        self._replace(old, replace(old.record, score=change.score))

    def _leased(self, change: changes.Leased) -> None:
        self.schedule.lease(self.waiting[change.url].host)
        self.leases[change.url] = self._leave(change.url)

    def _returned(self, change: changes.Returned) -> None:
        old = self.leases.pop(change.url)
        self.schedule.free(old.host)
        record = old.record
        if record.not_before != change.not_before:
            record = replace(record, not_before=change.not_before)
        entry = self._enter(QueueEntry(old.rank, old.arrival, next(self._revisions), record, old.host))
        self.schedule.add_back(entry)

    def _ended(self, change: changes.Ended) -> None:
        url = change.url
        lease = self.leases.pop(url, None)
        if lease is not None:
            self.schedule.free(lease.host)
        elif url in self.waiting:
            self._leave(url)
        self.done.add(url)

    def _evicted(self, change: changes.Evicted) -> None:
        if change.url is not None:
            self._leave(change.url)
        self.evicted = change.total

    def _asks(self, change: changes.Asks) -> None:
        self.politeness.crawl_delay(change.host, change.seconds)

    # ------------------------------------------------------------ the orders over all waiting URLs

    def _alive(self, entry: QueueEntry) -> bool:
        return self.waiting.get(entry.record.key) is entry

    def _enter(self, entry: QueueEntry) -> QueueEntry:
        self.waiting[entry.record.key] = entry
        if self._best_first is not None:
            self._best_first.push(entry)
        if self._worst_first is not None:
            self._worst_first.push(_worst_key(entry))
        return entry

    def _leave(self, url: str) -> QueueEntry:
        entry = self.waiting.pop(url)
        self._report_death()
        self.schedule.remove(entry)
        return entry

    def _replace(self, old: QueueEntry, record: CrawlUrl) -> None:
        """Another record for a waiting URL; its place in line stays."""
        entry = self._enter(QueueEntry(-record.score, old.arrival, next(self._revisions), record, old.host))
        self._report_death()
        self.schedule.replace(old, entry)

    def _report_death(self) -> None:
        for order in (self._best_first, self._worst_first):
            if order is not None:
                order.died()


def _worst_key(entry: QueueEntry) -> tuple[float, int, QueueEntry]:
    return -entry.rank, -entry.arrival, entry
