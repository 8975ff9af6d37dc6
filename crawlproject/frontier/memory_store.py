"""The URLs and hosts of a frontier in memory, and the effect of each change on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from operator import attrgetter
from random import Random
from typing import Any

from crawlproject.frontier import changes
from crawlproject.frontier.base import BlockedHost, HostStats, UrlState
from crawlproject.frontier.best_n_first import BestNFirstSchedule
from crawlproject.frontier.changes import LEAST_CLASS_SCORE, Change, class_in_score
from crawlproject.frontier.host_queue import HostQueue, LazyHeap, QueueEntry, queue_of
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.k_rule import KRule, OneClass
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl


class MemoryStore:
    """A ``UrlStore`` of dicts and heaps. Hosts are known by name.

    ``commit`` is N of Best-N-First, whose batches ``random`` shuffles. The two orders over all waiting URLs, best first and
    worst first, are built on first use: a rehearsal needs neither, and many crawls never fill up.
    """

    def __init__(self, *, rule: KRule, commit: int, politeness: Politeness, random: Random) -> None:
        self.politeness = politeness
        self.evicted = 0
        self.history_lines = 0
        self.entries: dict[str, QueueEntry] = {}  # that wait
        self.leases: dict[str, QueueEntry] = {}
        self.finished: set[str] = set()
        self._committed: Mapping[int, QueueEntry] = {}
        self.schedule, self.hosts = self._new_schedule(rule, commit, random)
        self._arrivals = count()
        self._revisions = count(1)
        self._best_first: LazyHeap[QueueEntry] | None = None
        self._worst_first: LazyHeap[tuple[int, float, int, QueueEntry]] | None = None
        self.host_of = queue_of
        self.chosen = attrgetter("record")
        self.rest = self.schedule.rest
        self.block = self.schedule.block
        self.give_back_pick = self.hosts.rule.give_back

    def state_of(self, url: str) -> UrlState:
        if url in self.entries:
            return "waiting"
        if url in self.finished:
            return "done"
        return "leased" if url in self.leases else ""

    def score_of(self, url: str) -> float | None:
        entry = self.entries.get(url)
        return entry.record.score if entry else None

    def record_of(self, url: str) -> CrawlUrl:
        return self.entries[url].record

    def lease_of(self, url: str) -> CrawlUrl | None:
        entry = self.leases.get(url)
        return entry.record if entry else None

    def host_named(self, name: str) -> str:
        return name

    def waiting(self) -> Iterator[CrawlUrl]:
        return (entry.record for entry in self.entries.values())

    def waiting_groups(self, now: float) -> Iterator[tuple[CrawlUrl, int]]:
        counts: Counter[tuple[str, int, bool]] = Counter()
        first: dict[tuple[str, int, bool], CrawlUrl] = {}
        for entry in self.entries.values():
            url = entry.record
            group = entry.host, url.precedence, url.not_before > now
            counts[group] += 1
            first.setdefault(group, url)
        return ((first[group], number) for group, number in counts.items())

    def finished_urls(self, known: Callable[[str], bool] | None = None) -> Iterator[CrawlUrl]:
        """Only the keys of these URLs are kept."""
        return (CrawlUrl(key, 0.0) for key in self.finished if not (known and known(key)))

    def count_waiting(self) -> int:
        return len(self.entries)

    def count_buffered(self) -> int:
        return len(self.entries) - len(self._committed)

    def count_leases(self) -> int:
        return len(self.leases)

    def best(self) -> float | None:
        if self._best_first is None:
            self._best_first = LazyHeap(self._alive, self.entries.values())
        entry = self._best_first.first()
        return entry.record.score if entry else None

    def worst(self) -> CrawlUrl | None:
        if self._worst_first is None:
            self._worst_first = LazyHeap(self._may_be_evicted, map(_worst_key, self.entries.values()))
        item = self._worst_first.first()
        return item[-1].record if item else None

    def blocked(self) -> Iterator[BlockedHost]:
        for host, entries in self.schedule.blocks():
            best = max((entry.record.score for entry in entries), default=None)
            yield BlockedHost(str(host.name), host.blocked_until, best)

    def busiest(self, n: int) -> list[HostStats]:
        return [
            HostStats(str(host.name), host.size, first.record.score if first else None, host.due, host.leased)
            for host, first in ((host, host.ready.first()) for host in self.hosts.busiest(n, lambda host: host.size))
        ]

    # ------------------------------------------------------------ as a whole

    def apply(self, change: Change) -> None:
        """Apply a change. Raises ``KeyError`` when it does not fit."""
        getattr(self, changes.METHODS[type(change)])(*change)

    def follow(self, follower: Callable[[Change], object], commit: Callable[[], None]) -> None:
        """From now on, call ``follower`` after each change with that change, and ``commit`` at the end of each step."""
        setattr(self, "commit", commit)  # noqa: B010
        for kind, name in changes.METHODS.items():
            setattr(self, name, _reporting(getattr(self, name), kind, follower))

    def commit(self) -> None:
        """Does nothing: memory does not survive a crash."""

    def close(self) -> None:
        """Does nothing: there is nothing to save."""

    def history(self) -> Iterator[Change]:
        """The fewest changes that lead from an empty store to this one, without the batch of Best-N-First."""
        known = sorted([*self.entries.values(), *self.leases.values()], key=lambda entry: entry.arrival)
        yield from (changes.Waits(entry.record) for entry in known)
        yield from map(changes.Ended, self.finished)
        yield changes.Recorded(self.history_lines)
        yield changes.Evicted(None, self.evicted)
        yield from map(changes.Picked, self.hosts.rule.picks())
        yield from map(changes.Leased, self.leases)
        yield from (changes.Rests(host, until) for host, until in self.hosts.clocks())
        yield from (changes.Asks(host, seconds) for host, seconds in self.politeness.crawl_delays())
        yield from (changes.Blocked(str(host.name), host.blocked_until) for host in self.hosts.blocked())

    def read_classes_in_scores(self) -> None:
        """Convert the URLs, which an earlier version wrote: give each the class that its score encodes."""
        for known, is_waiting in ((self.entries, True), (self.leases, False)):
            for url, old in [(url, old) for url, old in known.items() if old.record.score >= LEAST_CLASS_SCORE]:
                precedence, score = class_in_score(old.record.score)
                record = replace(old.record, precedence=precedence, score=score)
                if is_waiting:
                    self._replace(old, record)
                else:
                    known[url] = old._replace(precedence=precedence, rank=-score, record=record)

    # ------------------------------------------------------------ the changes

    def wait(self, record: CrawlUrl) -> None:
        old = self.entries.get(record.key)
        if old is not None:
            self._replace(old, record)
            return
        arrival, host = next(self._arrivals), queue_of(record.url)
        self.schedule.add(self._enter(QueueEntry(record.precedence, -record.score, arrival, 0, record, host)))

    def rescore(self, url: str, score: float) -> None:
        old = self.entries[url]
        self._replace(old, replace(old.record, score=score))

    def hold(self, url: str, until: float) -> None:
        old = self.entries[url]
        self._replace(old, replace(old.record, not_before=until))

    def set_precedence(self, url: str, precedence: int) -> None:
        old = self.entries[url]
        self._replace(old, replace(old.record, precedence=precedence))

    def lease(self, url: str) -> None:
        entry = self.entries.pop(url)
        self._report_death()
        self.leases[url] = entry
        self.schedule.take(entry)

    def give_back(self, url: str, not_before: float) -> None:
        self.schedule.add_back(self._return(url, not_before, self.leases[url].record.score))

    def refetch(self, url: str, refetch_at: float, score: float) -> None:
        self.schedule.add(self._return(url, refetch_at, score))

    def end(self, url: str) -> None:
        lease = self.leases.pop(url, None)
        if lease is not None:
            self.schedule.free(lease.host)
        elif url in self.entries:
            self._leave(url)
        self.finished.add(url)

    def forget(self, url: str) -> None:
        self.finished.remove(url)

    def record_lines(self, lines: int) -> None:
        self.history_lines = lines

    def evict(self, url: str | None, total: int) -> None:
        if url is not None:
            self._leave(url)
        self.evicted = total

    def pick(self, host: str) -> None:
        self.hosts.rule.pick(host, len(self.leases))

    def ask(self, name: str, seconds: float) -> None:
        self.politeness.crawl_delay(name, seconds)

    # ------------------------------------------------------------ inside

    def _new_schedule(self, rule: KRule, commit: int, random: Random) -> tuple[Any, HostSchedule]:
        """The schedule, and the part of it that contains all hosts."""

        def new(alive: Callable[[Any], bool], waiting_on: Callable[[Any], int] | None = None) -> HostSchedule:
            classes = OneClass() if waiting_on else None
            return HostSchedule(lambda name: HostQueue(name, alive), rule, waiting_on=waiting_on, classes=classes)

        if commit == 1:
            schedule = new(self._alive)
            return schedule, schedule
        best_n_first = BestNFirstSchedule(self._alive, new, rule=rule, n=commit, random=random)
        self._committed = best_n_first.committed
        return best_n_first, best_n_first.pool

    def _alive(self, entry: QueueEntry) -> bool:
        return self.entries.get(entry.record.key) is entry

    def _may_be_evicted(self, item: tuple[int, float, int, QueueEntry]) -> bool:
        return item[-1].arrival not in self._committed and self._alive(item[-1])

    def _enter(self, entry: QueueEntry) -> QueueEntry:
        self.entries[entry.record.key] = entry
        if self._best_first is not None:
            self._best_first.push(entry)
        if self._worst_first is not None:
            self._worst_first.push(_worst_key(entry))
        return entry

    def _report_death(self) -> None:
        for order in (self._best_first, self._worst_first):
            if order is not None:
                order.died()

    def _leave(self, url: str) -> None:
        entry = self.entries.pop(url)
        self._report_death()
        self.schedule.remove(entry)

    def _return(self, url: str, not_before: float, score: float) -> QueueEntry:
        """The entry of a URL that was leased, in its old place."""
        old = self.leases.pop(url)
        self.schedule.free(old.host)
        record = old.record
        if (record.not_before, record.score) != (not_before, score):
            record = replace(record, not_before=not_before, score=score)
        return self._enter(QueueEntry(record.precedence, -score, old.arrival, next(self._revisions), record, old.host))

    def _replace(self, old: QueueEntry, record: CrawlUrl) -> None:
        """Give a waiting URL another record. It keeps its place."""
        entry = self._enter(
            QueueEntry(record.precedence, -record.score, old.arrival, next(self._revisions), record, old.host)
        )
        self._report_death()
        self.schedule.replace(old, entry)


def _worst_key(entry: QueueEntry) -> tuple[int, float, int, QueueEntry]:
    return -entry.precedence, -entry.rank, -entry.arrival, entry


def _reporting(
    change: Callable[..., None], kind: type[Change], follower: Callable[[Change], object]
) -> Callable[..., None]:
    new = partial(tuple.__new__, kind)

    def reporting(*values: Any) -> None:
        change(*values)
        follower(new(values))

    return reporting
