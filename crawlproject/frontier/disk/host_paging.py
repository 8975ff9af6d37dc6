"""The schedule of a frontier whose URLs do not fit into memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from crawlproject.frontier.disk.spilled_queue import Entry, SpilledQueue
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_schedule import HostSchedule

_SENT_BACK = 256  # hosts that are looked at together


class DiskEntry(NamedTuple):
    """A waiting URL as the schedule sees it: ``arrival`` is its number."""

    rank: float
    arrival: int
    host: Hashable
    not_before: float


class Places(Protocol):
    """Who remembers in which line a URL waits, and how many wait on each host."""

    on_host: array[int]

    def slip(self, entry: Entry) -> DiskEntry: ...
    def is_parked(self, number: int) -> bool: ...
    def park(self, number: int) -> None: ...
    def delay(self, number: int) -> None: ...
    def unpark(self, number: int) -> None: ...


class PagedHostQueue:
    """The line of one host, as ``HostQueue`` wants it: slips in, slips out."""

    __slots__ = ("_entry", "_host", "_line", "_new_line", "_places", "_slip")

    def __init__(self, host: Hashable, new_line: Callable[[], SpilledQueue], places: Places) -> None:
        self._host = host
        self._new_line = new_line
        self._line: SpilledQueue | None = None  # many hosts never need one
        self._places = places
        self._entry: Entry | None = None
        self._slip: DiskEntry | None = None

    def push(self, slip: DiskEntry) -> None:
        if slip.not_before:
            self._places.park(slip.arrival)  # its time has come
        if self._line is None:
            self._line = self._new_line()
        self._line.push((slip.rank, slip.arrival))

    def first(self) -> DiskEntry | None:
        entry = self._line.first() if self._line is not None else None
        if entry is None:
            return None
        if entry != self._entry:
            self._entry, self._slip = entry, DiskEntry(*entry, self._host, 0.0)
        return self._slip

    def died(self) -> None:
        if self._line is not None:
            self._line.died()

    def all_in_memory(self) -> list[Entry] | None:
        """All entries when there are so few that none is on disk."""
        return [] if self._line is None else self._line.all_in_memory()

    def load(self, ranks: np.ndarray, numbers: np.ndarray) -> None:
        if self._line is None:
            self._line = self._new_line()
        self._line.load(ranks, numbers)


class PagedSchedule:
    """A ``HostSchedule`` of the hosts in use, fed from the line of all other URLs.

    Before a choice is made, URLs of hosts that cannot be visited move from the head of that line into the schedule, until
    the better of the head and the best open host can be taken: so every choice is the same as if all URLs were in the
    schedule. A URL that comes goes into the schedule at once when its host is there, when it must wait for a time, or
    when the host has ``crowd`` URLs already: else a host that rests could hold up a choice with all its URLs. Thus
    most hosts, those with few URLs that have not had their turn, take no memory at all. When more than ``most`` hosts
    are in use, some of those that may be visited, but have nothing better than others, go back.
    """

    def __init__(self, line: SpilledQueue, hosts: HostSchedule, places: Places, crowd: int, most: int) -> None:
        self._line = line
        self._hosts = hosts
        self.known = hosts.known
        self._on_host: Any = places.on_host
        self._places = places
        self._crowd = crowd
        self._most = self._next_look = most
        self.lease = hosts.lease
        self.free = hosts.free
        self.rest = hosts.rest
        self.pick = hosts.pick
        self.end_visit = hosts.end_visit
        self.give_back_pick = hosts.give_back_pick
        self.fit = hosts.fit
        self.bars = hosts.bars
        self.spare_dormant = hosts.spare_dormant

    def add(self, slip: DiskEntry) -> None:
        if slip.not_before:
            self._places.delay(slip.arrival)
        elif slip.host in self.known or self._on_host[slip.host] > self._crowd:
            self._places.park(slip.arrival)
        else:
            self._line.push((slip.rank, slip.arrival))
            return
        self._hosts.add(slip)

    add_back = add

    def remove(self, slip: DiskEntry) -> None:
        """It does not wait any more, or not here."""
        if self._places.is_parked(slip.arrival):
            self._places.unpark(slip.arrival)
            self._hosts.remove(slip)
        else:
            self._line.died()

    def replace(self, old: DiskEntry, new: DiskEntry) -> None:
        self.remove(old)
        self.add(new)

    def visit(self, name: Hashable, slip: DiskEntry) -> None:
        """``lease``, ``remove`` and ``pick`` in one."""
        if self._places.is_parked(slip.arrival):
            self._hosts.visit(name, slip)
        else:
            self._line.drop((slip.rank, slip.arrival))
            self._hosts.visit(name, None)
        if len(self.known) > self._next_look:
            self._send_back()

    def choose(self, now: float) -> Any:
        return self.choose_open(now) or self._hosts.choose_barred()

    def choose_open(self, now: float) -> Any:
        hosts, line = self._hosts, self._line
        hosts.pass_time(now)
        while True:
            host = hosts.first_open()
            entry = line.first()
            if entry is None or (host is not None and host.key < entry):
                return host.best() if host else None
            slip = self._places.slip(entry)
            if slip.host not in self.known and not hosts.bars(slip.host):
                return slip
            line.drop(entry)
            self._places.park(slip.arrival)
            hosts.add(slip)

    def next_due(self, now: float) -> float | None:
        return now if self.choose(now) is not None else self._hosts.first_rested()

    def first_rested(self) -> float | None:
        return self._hosts.first_rested()

    def best(self) -> float | None:
        """The least rank of all waiting URLs."""
        entry, slip = self._line.first(), self._hosts.best()
        ranks = [entry[0]] if entry else []
        if slip is not None:
            ranks.append(slip.rank)
        return min(ranks, default=None)

    def _send_back(self) -> None:
        """Let the line of all have the URLs of hosts that need no line of their own now."""
        before = len(self.known)
        for host in self._hosts.last_open(_SENT_BACK):
            entries = host.ready.all_in_memory() if host.later is None else None  # type: ignore[attr-defined]
            if entries is not None:
                self._hosts.forget(host)
                for entry in entries:
                    self._places.unpark(entry[1])
                    self._line.push(entry)
        few = before - len(self.known) < _SENT_BACK // 8  # the others rest, or have too much to move
        self._next_look = max(self._most, before + _SENT_BACK // 2 if few else 0)

    def hosts_known(self) -> int:
        """Hosts in the schedule."""
        return len(self.known)

    def picks(self) -> Iterator[Any]:
        return self._hosts.picks()

    def clocks(self) -> Iterator[tuple[Any, float]]:
        return self._hosts.clocks()

    def busiest(self, n: int, size: Callable[[HostQueue], int]) -> list[HostQueue]:
        """The ``n`` hosts in use with the most waiting URLs."""
        return self._hosts.busiest(n, size)

    def resting(self) -> int:
        return self._hosts.resting()

    def load(self, ranks: np.ndarray, numbers: np.ndarray, host: Hashable | None = None) -> None:
        """Add many URLs at once: to the line of all, or to that of their host; they stand in the right place already."""
        if host is None:
            self._line.load(ranks, numbers)
            return
        queue = self._hosts.queue(host)
        queue.ready.load(ranks, numbers)  # type: ignore[attr-defined]
        queue.size += len(ranks)
        self._hosts.place(host)
