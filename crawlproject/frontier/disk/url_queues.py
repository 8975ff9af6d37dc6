"""Where the waiting URLs of a frontier on disk stand, and how many wait on each host."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from crawlproject.frontier.best_n_first import BestNFirstSchedule
from crawlproject.frontier.disk.host_paging import DiskEntry, PagedHostQueue, PagedSchedule
from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue, SpillFile
from crawlproject.frontier.disk.store import DiskStore
from crawlproject.frontier.disk.url_table import DELAYED, IN_LINE, LEASED, PARKED, UNKNOWN, WAITING, UrlRow
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_schedule import HostSchedule

_CHUNK = 1 << 20  # rows that are sorted together at the opening


@dataclass(frozen=True)
class MemoryLimits:
    """How much of the lines is in memory: new URLs of the line of ``all`` and of each ``host`` before they become a run.

    A host that has more than ``crowd`` URLs gets a line of its own at once. About ``hosts`` of those that have one, and of
    those that rest, are in memory, at a kilobyte each.
    """

    all: int = 32_768
    host: int = 64
    crowd: int = 256
    hosts: int = 50_000


class UrlQueues:
    """The schedule and its lines, made anew from the rows at every opening.

    ``waiting`` URLs and ``hosts_waiting`` are counted here.
    """

    def __init__(self, store: DiskStore, *, batch_size: int, commit: int, random: Random, room: MemoryLimits) -> None:
        self._store = store
        self._room = room
        self._rows = store.rows
        self._file = SpillFile(store.folder / "lines")
        self.waiting = 0
        self.hosts_waiting = 0
        self.on_host = array("I")
        self._worst: SpilledQueue | None = None
        self._all: _AllLine | None = None
        self._batch_size = batch_size
        if commit == 1:
            self.schedule: Any = self._new_schedule(None, self._count_hosts)
        else:
            self.schedule = BestNFirstSchedule(
                self._waits,
                self._new_schedule,
                self._new_all_line,
                batch_size=batch_size,
                n=commit,
                random=random,
                hosts_waiting=self._count_hosts,
            )

    # ------------------------------------------------------------ URLs come and go

    def enter_new(self, rank: float, number: int, host: int, not_before: float) -> None:
        """A URL that was not known waits."""
        self._entered(rank, number, host)
        if not_before or self._all is not None or host in self._pool.known or self.on_host[host] > self._room.crowd:
            self.schedule.add(DiskEntry(rank, number, host, not_before))
        else:
            self._line.push((rank, number))  # what the schedule would do, without the way there

    def enter_again(self, slip: DiskEntry) -> None:
        """A URL that was leased waits."""
        self._entered(slip.rank, slip.arrival, slip.host)
        self.schedule.add_back(slip)

    def _entered(self, rank: float, number: int, host: Any) -> None:
        on_host = self.on_host
        if host >= len(on_host):
            on_host.frombytes(bytes(4 * (host + 1 - len(on_host))))
        on_host[host] += 1
        self.waiting += 1
        if on_host[host] == 1:
            self.hosts_waiting += 1
            if self.hosts_waiting <= self._batch_size:  # beyond, the k rule's window does not grow
                self.schedule.fit()
        if self._worst is not None:
            self._worst.push((-rank, -number))

    def leave(self, slip: DiskEntry) -> None:
        """A URL waits no more."""
        self.schedule.remove(slip)
        if self._left(slip):
            self.schedule.fit()

    def visit(self, slip: DiskEntry) -> None:
        """The URL that was chosen is being fetched."""
        self._left(slip)
        self.schedule.visit(slip.host, slip)

    def _left(self, slip: DiskEntry) -> bool:
        """Count; whether it was the last URL of its host."""
        host: Any = slip.host
        self.on_host[host] -= 1
        self.waiting -= 1
        if self._worst is not None:
            self._worst.died()
        if self.on_host[host]:
            return False
        self.hosts_waiting -= 1
        return self.hosts_waiting < self._batch_size

    def replace(self, old: DiskEntry, new: DiskEntry) -> None:
        """A waiting URL has another score or time; its row says so already."""
        if self._worst is not None:
            self._worst.push((-new.rank, -new.arrival))
            self._worst.died()
        self.schedule.replace(old, new)

    # ------------------------------------------------------------ asked

    def best(self) -> float | None:
        """The least rank of all waiting URLs."""
        best = self._pool.best()
        if not isinstance(self.schedule, BestNFirstSchedule):
            return best
        ranks = [-self._rows[number].score for number in self.schedule.committed()]
        return min(ranks if best is None else [best, *ranks], default=None)

    def worst(self) -> int | None:
        """The number of the URL with the lowest score, the latest of these. The order is built when first asked for."""
        if self._worst is None:
            self._worst = SpilledQueue(
                self._file, self._is_worst_entry, self._are_worst_entries, limit=self._room.all, chunk=64
            )
            for numbers, rows in self._waiting_rows():
                self._worst.load(rows["score"], -numbers)
        entry = self._worst.first()
        return -entry[1] if entry else None

    def hosts_in_memory(self) -> int:
        """Hosts that the schedule knows."""
        return self._pool.hosts_known()

    def close(self) -> None:
        self._file.close()

    # ------------------------------------------------------------ the opening

    def load(self) -> list[int]:
        """Let all waiting URLs stand where they belong, those that were leased too; the hosts of the latter."""
        leased: list[int] = []
        on_host = np.zeros(self._store.hosts_known, np.uint32)
        known_on = np.zeros(self._store.hosts_known, np.int64)
        for first, rows in self._rows.chunks(self._store.urls_known):
            held = rows["state"] == LEASED
            for number in np.flatnonzero(held).tolist():
                self._store.later.pop(first + number, None)
            leased += rows["host"][held].tolist()
            rows["state"][held] = WAITING
            rows["state"][(rows["state"] == PARKED) | (rows["state"] == DELAYED)] = WAITING
            known_on += np.bincount(rows["host"][~np.isin(rows["state"], list(UNKNOWN))], minlength=len(known_on))
            waiting = rows["host"][rows["state"] == WAITING]
            self.waiting += len(waiting)
            on_host += np.bincount(waiting, minlength=len(on_host)).astype(np.uint32)
        self.on_host.frombytes(on_host.tobytes())
        self._store.count_known(known_on)
        self.hosts_waiting = int(np.count_nonzero(on_host))
        later = np.fromiter(self._store.later, np.int64, len(self._store.later))
        for numbers, rows in self._waiting_rows():
            if len(later):
                now = ~np.isin(numbers, later)
                numbers, rows = numbers[now], rows[now]
            self._load(numbers, rows, on_host[rows["host"]] > self._room.crowd)
        for number in self._store.later:
            row = self._rows[number]
            if row.state == WAITING:
                self.schedule.add(DiskEntry(-row.score, number, row.host, self._store.later[number]))
        self.schedule.fit()
        return leased

    def _load(self, numbers: np.ndarray, rows: np.ndarray, crowded: np.ndarray) -> None:
        if self._all is not None:
            self._all.load(-rows["score"], numbers)
        self._pool.load(-rows["score"][~crowded], numbers[~crowded])
        numbers, rows = numbers[crowded], rows[crowded]
        order = np.argsort(rows["host"], kind="stable")
        numbers, rows = numbers[order], rows[order]
        self._rows.set_states(numbers, PARKED)
        hosts, starts = np.unique(rows["host"], return_index=True)
        for host, (start, end) in zip(hosts.tolist(), pairwise([*starts, len(numbers)]), strict=True):
            self._pool.load(-rows["score"][start:end], numbers[start:end], host)

    def _waiting_rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Numbers and copies of the rows of all waiting URLs, by large chunks."""
        numbers: list[np.ndarray] = []
        rows: list[np.ndarray] = []
        for first, chunk in self._rows.snapshot(self._store.urls_known):
            inside = np.flatnonzero(np.isin(chunk["state"], list(IN_LINE)))
            numbers.append(inside + first)
            rows.append(chunk[inside])
            if sum(map(len, numbers)) >= _CHUNK:
                yield np.concatenate(numbers), np.concatenate(rows)
                numbers, rows = [], []
        if numbers:
            yield np.concatenate(numbers), np.concatenate(rows)

    # ------------------------------------------------------------ the places of the feed

    def slip(self, entry: Entry) -> DiskEntry:
        rank, number = entry
        return DiskEntry(rank, number, self._rows[number].host, self._store.later.get(number, 0.0))

    def is_parked(self, number: int) -> bool:
        return self._rows[number].state != WAITING

    def park(self, number: int) -> None:
        self._set_state(number, PARKED)

    def delay(self, number: int) -> None:
        self._set_state(number, DELAYED)

    def unpark(self, number: int) -> None:
        self._set_state(number, WAITING)

    def _set_state(self, number: int, state: int) -> None:
        score, offset, host, _ = self._rows[number]
        self._rows.changed[number] = UrlRow(score, offset, host, state)

    # ------------------------------------------------------------ making lines

    def _new_schedule(self, among: Callable[[Any], bool] | None, hosts_waiting: Callable[[], int]) -> PagedSchedule:
        """The schedule of all waiting URLs, or of those ``among`` them."""
        rows = self._rows

        def alive(state: int) -> Callable[[Entry], bool]:
            if among is None:
                return lambda entry: rows.stands(entry[1], -entry[0], state)
            return lambda entry: rows.stands(entry[1], -entry[0], state) and among(self.slip(entry))

        def alive_many(state: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
            return lambda ranks, numbers: rows.stand(numbers, -ranks, (state,))

        parked, all_parked, is_delayed = alive(PARKED), alive_many(PARKED), alive(DELAYED)

        def delayed(slip: DiskEntry) -> bool:
            return is_delayed(slip[:2]) and self._store.later.get(slip.arrival) == slip.not_before

        def new_host_line() -> SpilledQueue:
            return SpilledQueue(self._file, parked, all_parked, limit=self._room.host, chunk=16)

        def new_queue(host: Hashable) -> HostQueue:
            return HostQueue(host, delayed, PagedHostQueue(host, new_host_line, self))

        line = SpilledQueue(self._file, alive(WAITING), alive_many(WAITING), limit=self._room.all, chunk=64)
        self._line = line
        self._pool = PagedSchedule(
            line, HostSchedule(new_queue, self._batch_size, hosts_waiting), self, self._room.crowd, self._room.hosts
        )
        return self._pool

    def _new_all_line(self, among: Callable[[Any], bool]) -> _AllLine:
        line = SpilledQueue(
            self._file,
            lambda entry: among(self.slip(entry)),
            lambda ranks, numbers: self._rows.stand(numbers, -ranks, IN_LINE),
            limit=self._room.all,
            chunk=64,
        )
        self._all = _AllLine(line, self.slip)
        return self._all

    def _count_hosts(self) -> int:
        return self.hosts_waiting

    def _waits(self, slip: DiskEntry) -> bool:
        row = self._rows[slip.arrival]
        not_before = self._store.later.get(slip.arrival, 0.0)
        return row.score == -slip.rank and row.state in IN_LINE and not_before == slip.not_before

    def _is_worst_entry(self, entry: Entry) -> bool:
        row = self._rows[-entry[1]]
        return row.score == entry[0] and row.state in IN_LINE

    def _are_worst_entries(self, scores: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return self._rows.stand(-numbers, scores, IN_LINE)


class _AllLine:
    """The line of all waiting URLs that Best-N-First commits from: slips in, slips out."""

    def __init__(self, line: SpilledQueue, slip: Callable[[Entry], DiskEntry]) -> None:
        self._line = line
        self._slip = slip
        self.died = line.died
        self.load = line.load

    def push(self, slip: DiskEntry) -> None:
        self._line.push((slip.rank, slip.arrival))

    def pop(self) -> DiskEntry | None:
        entry = self._line.pop()
        return self._slip(entry) if entry else None
