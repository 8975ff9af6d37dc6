"""The queues of the waiting URLs of a frontier on disk, and the number of waiting URLs of each host."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any

import numpy as np

from crawlproject.frontier.best_n_first import BestNFirstSchedule
from crawlproject.frontier.disk.calendar import Calendar
from crawlproject.frontier.disk.class_queues import ClassQueues
from crawlproject.frontier.disk.files import DiskFiles
from crawlproject.frontier.disk.host_counts import ASLEEP, COUNTED, HostCounts
from crawlproject.frontier.disk.host_paging import PagedSchedule
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.disk.opening import CrowdedHosts, tally_hosts
from crawlproject.frontier.disk.paged_host_queue import CandidateQueue, DiskEntry, HeldQueue, PagedHostQueue
from crawlproject.frontier.disk.spill_file import Entry, SpillFile
from crawlproject.frontier.disk.spilled_queue import SpilledQueue
from crawlproject.frontier.disk.url_table import (
    CLASS_BITS,
    HELD,
    LATER,
    PAGED,
    SHARED,
    WAITING,
    UrlRow,
    classes_of,
    in_states,
)
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.k_rule import KRule, OneClass
from crawlproject.records import ACTIVE, WASTE

_CHUNK = 1 << 20  # rows that are sorted together at the opening


class UrlQueues:
    """The schedule and its queues, built anew from the rows at every opening.

    Counts the ``waiting`` URLs, and the hosts for the k rule.
    """

    def __init__(self, files: DiskFiles, *, rule: KRule, commit: int, random: Random, limits: MemoryLimits) -> None:
        self._files = files
        self._limits = limits
        self._rows = files.rows
        self._spill = SpillFile(files.folder / "lines")
        self.close = self._spill.close
        self.rule = rule
        self.waiting = 0
        self.counts = HostCounts(by_class=commit == 1)
        self._calendar = Calendar(self._spill, files.rows, files.held_until, self.counts, limit=limits.shared)
        self._worst: ClassQueues | None = None  # the highest class first
        self.candidates: CandidateQueue | None = None
        self.held_candidates: HeldQueue | None = None
        self.committed: Mapping[int, Any] = {}
        self.schedule: Any
        if commit == 1:
            self.schedule = self.pool = self._new_pool(None)
        else:
            self.schedule = BestNFirstSchedule(
                self._is_current,
                lambda among, waiting_on: self._new_pool(among),
                self._new_candidates,
                self._new_held_candidates,
                rule=self.rule,
                n=commit,
                random=random,
                waiting_on=self.counts.awake,
            )
            self.pool = self.schedule.pool
            self.committed = self.schedule.committed

    # ------------------------------------------------------------ adding and removing URLs

    def enter_new(self, number: int, score: float, offset: int, host: int, not_before: float, precedence: int) -> None:
        """Queue a URL, whose record is at ``offset``."""
        self._count(host)
        if not_before or self.candidates is not None:
            self._rows.changed[number] = score, offset, host, SHARED | CLASS_BITS[precedence]
            self.schedule.add(DiskEntry(precedence, -score, number, host, not_before))
        else:
            self.pool.add_new(number, score, offset, host, precedence)
        if self._worst is not None:
            self._worst.push(WASTE - precedence, (score, -number))
        if not_before or precedence != ACTIVE or self.counts.part[host] != COUNTED:
            self.pool.turn(host)

    def enter_again(self, entry: DiskEntry) -> None:
        """Queue a URL that was leased."""
        self._count(entry.host)
        if self._worst is not None:
            self._worst.push(WASTE - entry.precedence, (-entry.rank, -entry.arrival))
        self.schedule.add_back(entry)
        self.pool.turn(entry.host)

    def leave(self, entry: DiskEntry) -> None:
        """A URL no longer waits. Its row must still be that of a waiting URL."""
        was_last = self._left(entry)
        self.schedule.remove(entry)
        self.pool.turn(entry.host)
        if was_last:
            self.pool.count_hosts(-1)

    def take(self, entry: DiskEntry) -> None:
        """The chosen URL is now being fetched."""
        was_last = self._left(entry)
        self.schedule.take(entry)
        self.pool.turn(entry.host)
        if was_last:
            self.pool.count_hosts(-1)

    def replace(self, old: DiskEntry, new: DiskEntry) -> None:
        """Give a waiting URL another class, score or time. Its row must have it already."""
        if self._worst is not None:
            self._worst.push(WASTE - new.precedence, (-new.rank, -new.arrival))
            self._worst.died(WASTE - old.precedence)
        self.schedule.replace(old, new)

    def _count(self, host: Any) -> None:
        """Count one more waiting URL of the host."""
        on_host = self.counts.waiting
        if host >= len(on_host):
            self.counts.grow(host)
        on_host[host] = waiting = on_host[host] + 1
        self.waiting += 1
        if waiting == 1:
            self.pool.count_hosts(1)

    def _left(self, entry: DiskEntry) -> bool:
        """Count one waiting URL less. Return whether it was the last of its host."""
        host: Any = entry.host
        self.counts.waiting[host] -= 1
        self.waiting -= 1
        if self._worst is not None:
            self._worst.died(WASTE - entry.precedence)
        return not self.counts.waiting[host]

    # ------------------------------------------------------------ queries

    def entry(self, number: int) -> DiskEntry:
        """The entry of the URL with this number, from its row."""
        return self.entry_in(number, self._rows[number])

    def entry_in(self, number: int, row: UrlRow) -> DiskEntry:
        """The entry of a URL with this row."""
        return DiskEntry(row.precedence, -row.score, number, row.host, self._files.held_until[number])

    def entry_of(self, precedence: int, queued: Entry) -> DiskEntry:
        """The entry of a rank and number that were queued in a class. The row may have another score or class by now."""
        rank, number = queued
        return DiskEntry(precedence, rank, number, self._rows[number].host, self._files.held_until[number])

    def best(self) -> float | None:
        """The best score in the lowest class of URLs. Looks at every host in memory, of which there may be many."""
        waiting = ((numbers, rows, in_states(rows, {LATER})) for numbers, rows in self._waiting_rows())
        later = ((numbers[inside], rows[inside]) for numbers, rows, inside in waiting)
        firsts = [self.pool.first_in_order(), self._calendar.first_in_order(later)]
        firsts += [self.entry(number)[:3] for number in self.committed]
        first = min((first for first in firsts if first is not None), default=None)
        return -first[1] if first is not None else None

    def worst(self) -> int | None:
        """The number of the URL to evict. The order is built on first use."""
        if self._worst is None:
            self._worst = ClassQueues(self._new_worst)
            for numbers, rows in self._waiting_rows():
                self._worst.load(WASTE - classes_of(rows), rows["score"], -numbers)
        first = self._worst.first()
        return -first[2] if first else None

    # ------------------------------------------------------------ the opening

    def load(self, now: float) -> list[int]:
        """Queue all waiting URLs and those that were leased. Return the hosts of the latter. Raises ``BadCrawlDir``."""
        files = self._files
        tallies = tally_hosts(files, now)
        files.hosts.load_known(tallies.known)
        self.waiting = int(tallies.waiting.sum())
        self.pool.total = int(np.count_nonzero(tallies.waiting))
        self.counts.load(tallies.waiting, tallies.held, tallies.early, tallies.late)
        self.rule.set_hosts(self.counts.number(COUNTED), self.counts.number(ASLEEP))
        crowded = CrowdedHosts(self._spill, tallies.waiting - tallies.held, self._limits.crowd)
        for numbers, rows in self._waiting_rows():
            times = files.held_until.many(numbers)
            if self.candidates is not None and self.held_candidates is not None:
                timed = times > 0
                self.candidates.load(classes_of(rows)[~timed], -rows["score"][~timed], numbers[~timed])
                self.held_candidates.load(times[timed], numbers[timed])
            later = times > now
            self._calendar.load(times[later], numbers[later])
            numbers, rows = numbers[~later], rows[~later]
            is_shared = crowded.take(numbers, rows)
            self._rows.set_states(numbers[~is_shared], PAGED)
            self.pool.shared.load(classes_of(rows)[is_shared], -rows["score"][is_shared], numbers[is_shared])
        for host, classes, ranks, numbers in crowded:
            self.pool.load(host, classes, ranks, numbers)
        self._rows.give_back()
        return tallies.leased

    def _waiting_rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The numbers of all waiting URLs and copies of their rows, in large chunks."""
        numbers: list[np.ndarray] = []
        rows: list[np.ndarray] = []
        for first, chunk in self._rows.snapshot(self._files.urls_known):
            inside = np.flatnonzero(in_states(chunk, WAITING))
            numbers.append(inside + first)
            rows.append(chunk[inside])
            if sum(map(len, numbers)) >= _CHUNK:
                yield np.concatenate(numbers), np.concatenate(rows)
                numbers, rows = [], []
        if numbers:
            yield np.concatenate(numbers), np.concatenate(rows)

    # ------------------------------------------------------------ making queues

    def _new_pool(self, among: Callable[[Any], bool] | None) -> PagedSchedule:
        """The schedule of all waiting URLs, or of those for which ``among`` is True."""
        rows, limits = self._rows, self._limits

        @cache
        def alive(state: int, precedence: int) -> Callable[[Entry], bool]:
            standing = state | CLASS_BITS[precedence]
            if among is None:
                return lambda entry: rows.matches(entry[1], -entry[0], standing)
            return lambda entry: rows.matches(entry[1], -entry[0], standing) and among(self.entry_of(precedence, entry))

        @cache
        def alive_many(state: int, precedence: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
            return lambda ranks, numbers: rows.match_many(numbers, -ranks, (state,), precedence)

        def held(entry: DiskEntry) -> bool:
            is_held = alive(HELD, entry.precedence)((entry.rank, entry.arrival))
            return is_held and self._files.held_until[entry.arrival] == entry.not_before

        def new_host_queue(precedence: int) -> SpilledQueue:
            paged, all_paged = alive(PAGED, precedence), alive_many(PAGED, precedence)
            return SpilledQueue(self._spill, paged, all_paged, limit=limits.host, chunk=16)

        def new_shared_queue(precedence: int) -> SpilledQueue:
            shared, all_shared = alive(SHARED, precedence), alive_many(SHARED, precedence)
            return SpilledQueue(self._spill, shared, all_shared, limit=limits.shared, chunk=64)

        def new_queue(host: Hashable) -> HostQueue:
            return HostQueue(host, held, PagedHostQueue(host, new_host_queue, self._calendar))

        return PagedSchedule(
            new_queue,
            self.rule,
            shared=ClassQueues(new_shared_queue),
            rows=rows,
            calendar=self._calendar,
            counts=self.counts,
            held_until=self._files.held_until,
            crowd=limits.crowd,
            most=limits.hosts,
            ahead=limits.ahead,
            classes=OneClass() if among else None,
        )

    def _new_candidates(self, among: Callable[[Any], bool]) -> CandidateQueue:
        self.candidates = CandidateQueue(self._spill, self._rows, self.entry_of, among, self._limits.shared)
        return self.candidates

    def _new_held_candidates(self, among: Callable[[Any], bool]) -> HeldQueue:
        held_until, limit = self._files.held_until, self._limits.shared
        self.held_candidates = HeldQueue(self._spill, self._rows, held_until, self.entry, among, limit)
        return self.held_candidates

    def _is_current(self, entry: DiskEntry) -> bool:
        row = self._rows[entry.arrival]
        not_before = self._files.held_until[entry.arrival]
        is_same = row.score == -entry.rank and row.precedence == entry.precedence
        return is_same and row.state in WAITING and not_before == entry.not_before

    def _new_worst(self, below_waste: int) -> SpilledQueue:
        """The URLs of a class, the worst first."""
        rows, precedence = self._rows, WASTE - below_waste

        def is_current(entry: Entry) -> bool:
            row = rows[-entry[1]]
            is_same = row.score == entry[0] and row.precedence == precedence
            return is_same and row.state in WAITING and -entry[1] not in self.committed

        return SpilledQueue(
            self._spill,
            is_current,
            lambda scores, numbers: rows.match_many(-numbers, scores, WAITING, precedence),
            limit=self._limits.shared,
            chunk=64,
        )
