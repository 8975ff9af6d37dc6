"""The queues of the waiting URLs of a frontier on disk, and how many wait on each host."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from crawlproject.frontier.best_n_first import BestNFirstSchedule
from crawlproject.frontier.disk.calendar import Calendar
from crawlproject.frontier.disk.candidates import CandidateQueue, HeldQueue
from crawlproject.frontier.disk.files import DiskFiles
from crawlproject.frontier.disk.host_counts import HostCounts
from crawlproject.frontier.disk.host_paging import PagedSchedule
from crawlproject.frontier.disk.memory_limits import MemoryLimits
from crawlproject.frontier.disk.paged_host_queue import DiskEntry, PagedHostQueue
from crawlproject.frontier.disk.spill_file import SpillFile
from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue
from crawlproject.frontier.disk.url_table import HELD, LATER, LEASED, PAGED, SHARED, UNKNOWN, WAITING
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.k_rule import KRule

_CHUNK = 1 << 20  # rows that are sorted together at the opening


class UrlQueues:
    """The schedule and its queues, made anew from the rows at every opening.

    ``waiting`` URLs are counted here, and the hosts of the k rule.
    """

    def __init__(self, files: DiskFiles, *, rule: KRule, commit: int, random: Random, limits: MemoryLimits) -> None:
        self._files = files
        self._limits = limits
        self._rows = files.rows
        self._spill = SpillFile(files.folder / "lines")
        self.rule = rule
        self.waiting = 0
        self.counts = HostCounts()
        self._calendar = Calendar(self._spill, files.rows, files.held_until, limit=limits.shared)
        self._worst: SpilledQueue | None = None
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

    # ------------------------------------------------------------ URLs come and leave

    def enter_new(self, number: int, score: float, offset: int, host: int, not_before: float) -> None:
        """A URL waits; its record is at ``offset``."""
        self._count(host)
        if not_before or self.candidates is not None:
            self._rows.changed[number] = score, offset, host, SHARED
            self.schedule.add(DiskEntry(-score, number, host, not_before))
        else:
            self.pool.add_new(number, score, offset, host)
        if self._worst is not None:
            self._worst.push((score, -number))
        if not_before or self.counts.asleep[host]:
            self.pool.turn(host)

    def enter_again(self, entry: DiskEntry) -> None:
        """A URL that was leased waits."""
        self._count(entry.host)
        if self._worst is not None:
            self._worst.push((-entry.rank, -entry.arrival))
        self.schedule.add_back(entry)
        self.pool.turn(entry.host)

    def leave(self, entry: DiskEntry) -> None:
        """A URL no longer waits. Its row is still that of a waiting URL."""
        was_last = self._left(entry)
        self.schedule.remove(entry)
        self.pool.turn(entry.host)
        if was_last:
            self.pool.count_hosts(-1)

    def take(self, entry: DiskEntry) -> None:
        """The URL that was chosen is being fetched."""
        was_last = self._left(entry)
        self.schedule.take(entry)
        self.pool.turn(entry.host)
        if was_last:
            self.pool.count_hosts(-1)

    def replace(self, old: DiskEntry, new: DiskEntry) -> None:
        """A waiting URL has another score or time; its row says so already."""
        if self._worst is not None:
            self._worst.push((-new.rank, -new.arrival))
            self._worst.died()
        self.schedule.replace(old, new)

    def _count(self, host: Any) -> None:
        """One URL more of the host waits."""
        on_host = self.counts.waiting
        if host >= len(on_host):
            self.counts.grow(host)
        on_host[host] = waiting = on_host[host] + 1
        self.waiting += 1
        if waiting == 1:
            self.pool.count_hosts(1)

    def _left(self, entry: DiskEntry) -> bool:
        """Count; whether it was the last URL of its host."""
        host: Any = entry.host
        self.counts.waiting[host] -= 1
        self.waiting -= 1
        if self._worst is not None:
            self._worst.died()
        return not self.counts.waiting[host]

    # ------------------------------------------------------------ asked

    def entry(self, number: int) -> DiskEntry:
        """The entry of a URL by its number, from its row."""
        row = self._rows[number]
        return DiskEntry(-row.score, number, row.host, self._files.held_until[number])

    def entry_of(self, queued: Entry) -> DiskEntry:
        """The entry of a rank and number that were queued; the row may have another score by now."""
        rank, number = queued
        return DiskEntry(rank, number, self._rows[number].host, self._files.held_until[number])

    def best(self) -> float | None:
        """The best score of all waiting URLs; one look at every host in memory, of which there may be many."""
        later = ((numbers[of], rows[of]) for numbers, rows in self._waiting_rows() for of in [rows["state"] == LATER])
        best = self.pool.best_rank(), self._calendar.best_rank(later)
        scores = [-rank for rank in best if rank is not None]
        scores += [self._rows[number].score for number in self.committed]
        return max(scores, default=None)

    def worst(self) -> int | None:
        """The number of the URL to evict. The order is built when first asked for."""
        if self._worst is None:
            self._worst = SpilledQueue(
                self._spill,
                self._is_worst_entry,
                lambda scores, numbers: self._rows.match_many(-numbers, scores, WAITING),
                limit=self._limits.shared,
                chunk=64,
            )
            for numbers, rows in self._waiting_rows():
                self._worst.load(rows["score"], -numbers)
        first = self._worst.first()
        return -first[1] if first else None

    def close(self) -> None:
        self._spill.close()

    # ------------------------------------------------------------ the opening

    def load(self, now: float) -> list[int]:
        """Queue all waiting URLs, those that were leased too; the hosts of the latter."""
        files, rows_of = self._files, self._rows
        leased: list[int] = []
        on_host, held, known = (np.zeros(files.hosts.total, np.int64) for _ in range(3))
        for first, rows in rows_of.chunks(files.urls_known):
            was_leased = rows["state"] == LEASED
            for number in np.flatnonzero(was_leased).tolist():
                files.held_until[first + number] = 0.0
            leased += rows["host"][was_leased].tolist()
            rows["state"][was_leased] = SHARED
            rows["state"][np.isin(rows["state"], (PAGED, HELD, LATER))] = SHARED
            known += np.bincount(rows["host"][~np.isin(rows["state"], list(UNKNOWN))], minlength=len(known))
            waiting = np.flatnonzero(rows["state"] == SHARED)
            self.waiting += len(waiting)
            on_host += np.bincount(rows["host"][waiting], minlength=len(on_host))
            is_held = files.held_until.many(waiting + first) > now
            held += np.bincount(rows["host"][waiting[is_held]], minlength=len(held))
        files.hosts.load_known(known)
        self.pool.total, asleep = self.counts.load(on_host, held)
        self.rule.set_hosts(self.pool.total - asleep, asleep)
        for numbers, rows in self._waiting_rows():
            times = files.held_until.many(numbers)
            if self.candidates is not None and self.held_candidates is not None:
                timed = times > 0
                self.candidates.load(-rows["score"][~timed], numbers[~timed])
                self.held_candidates.load(times[timed], numbers[timed])
            later = times > now
            self._calendar.load(times[later], numbers[later])
            numbers, rows = numbers[~later], rows[~later]
            self._load(numbers, rows, (on_host - held)[rows["host"]] > self._limits.crowd)
        return leased

    def _load(self, numbers: np.ndarray, rows: np.ndarray, crowded: np.ndarray) -> None:
        self.pool.shared.load(-rows["score"][~crowded], numbers[~crowded])
        numbers, rows = numbers[crowded], rows[crowded]
        order = np.argsort(rows["host"], kind="stable")
        numbers, rows = numbers[order], rows[order]
        self._rows.set_states(numbers, PAGED)
        hosts, starts = np.unique(rows["host"], return_index=True)
        for host, (start, end) in zip(hosts.tolist(), pairwise([*starts, len(numbers)]), strict=True):
            self.pool.load(host, -rows["score"][start:end], numbers[start:end])

    def _waiting_rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Numbers and copies of the rows of all waiting URLs, by large chunks."""
        numbers: list[np.ndarray] = []
        rows: list[np.ndarray] = []
        for first, chunk in self._rows.snapshot(self._files.urls_known):
            inside = np.flatnonzero(np.isin(chunk["state"], list(WAITING)))
            numbers.append(inside + first)
            rows.append(chunk[inside])
            if sum(map(len, numbers)) >= _CHUNK:
                yield np.concatenate(numbers), np.concatenate(rows)
                numbers, rows = [], []
        if numbers:
            yield np.concatenate(numbers), np.concatenate(rows)

    # ------------------------------------------------------------ making queues

    def _new_pool(self, among: Callable[[Any], bool] | None) -> PagedSchedule:
        """The schedule of all waiting URLs, or of those ``among`` them."""
        rows, limits = self._rows, self._limits

        def alive(state: int) -> Callable[[Entry], bool]:
            if among is None:
                return lambda entry: rows.matches(entry[1], -entry[0], state)
            return lambda entry: rows.matches(entry[1], -entry[0], state) and among(self.entry_of(entry))

        def alive_many(state: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
            return lambda ranks, numbers: rows.match_many(numbers, -ranks, (state,))

        paged, all_paged, is_held = alive(PAGED), alive_many(PAGED), alive(HELD)

        def held(entry: DiskEntry) -> bool:
            return is_held(entry[:2]) and self._files.held_until[entry.arrival] == entry.not_before

        def new_host_queue() -> SpilledQueue:
            return SpilledQueue(self._spill, paged, all_paged, limit=limits.host, chunk=16)

        def new_queue(host: Hashable) -> HostQueue:
            return HostQueue(host, held, PagedHostQueue(host, new_host_queue, self._calendar))

        return PagedSchedule(
            new_queue,
            self.rule,
            shared=SpilledQueue(self._spill, alive(SHARED), alive_many(SHARED), limit=limits.shared, chunk=64),
            rows=rows,
            calendar=self._calendar,
            counts=self.counts,
            held_until=self._files.held_until,
            crowd=limits.crowd,
            most=limits.hosts,
            ahead=limits.ahead,
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
        return row.score == -entry.rank and row.state in WAITING and not_before == entry.not_before

    def _is_worst_entry(self, entry: Entry) -> bool:
        row = self._rows[-entry[1]]
        return row.score == entry[0] and row.state in WAITING and -entry[1] not in self.committed
