"""Which host may be visited now, which one first, and when the next one may."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import nsmallest
from typing import Any

from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_states import (
    BY_RANK,
    HELD,
    HELD_SNOOZED,
    INACTIVE,
    READY,
    SNOOZED,
    SPARE,
    SPARE_SNOOZED,
    HostStates,
)


class HostSchedule(HostStates):
    """What happens to hosts and their URLs, and which URL is next.

    The caller lets an entry die before it reports its removal here. Without ``waiting_on`` the schedule has all waiting
    URLs, and counts the hosts; with it, the caller does (``count_hosts``). ``total`` hosts have waiting URLs.
    """

    total = 0

    # ------------------------------------------------------------ URLs come and leave

    def add(self, entry: Any) -> None:
        host = self.queue(entry.host)
        host.add(entry)
        if host.size > 1 and host.held is None and not entry.not_before and self._has_better(host, entry):
            return  # nothing else changes
        self.place(host)
        if host.size == 1 and self._waiting_on is None:
            self.count_hosts(1)

    def _has_better(self, host: HostQueue, entry: Any) -> bool:
        """Whether neither the level nor the place of a host with URLs that may be taken changes with another one."""
        if host.state in BY_RANK:
            return host.key < (entry.rank, entry.arrival)
        return host.level is not None and self.levels.of(entry) >= host.level

    def _was_behind(self, host: HostQueue, entry: Any) -> bool:
        """Whether neither the level nor the place of a host came from this URL."""
        if host.state in BY_RANK:
            return host.key < (entry.rank, entry.arrival)
        return host.level is not None and self.levels.of(entry) > host.level

    def _stays(self, host: HostQueue, old: Any, new: Any) -> bool:
        """Whether neither the level nor the place of a host changes with ``new`` in place of ``old``, which may both be taken."""
        if host.state in BY_RANK:
            return host.key < (old.rank, old.arrival) and host.key < (new.rank, new.arrival)
        level = self.levels.of(new)
        return level == host.level or (self._has_better(host, new) and self._was_behind(host, old))

    def add_back(self, entry: Any) -> None:
        """``entry`` was leased and waits again."""
        self.add(entry)

    def remove(self, entry: Any) -> None:
        """``entry`` is no longer alive."""
        host = self._queues[entry.host]
        host.remove(entry)
        if host.size and host.held is None and self._was_behind(host, entry):
            return  # nothing else changes
        self.place(host)
        if not host.size and self._waiting_on is None:
            self.count_hosts(-1)

    def replace(self, old: Any, new: Any) -> None:
        """The URL of both has another record, score or time."""
        host = self._queues[new.host]
        host.remove(old)
        host.add(new)
        if host.held is None and not new.not_before and self._stays(host, old, new):
            return  # nothing else changes
        self.place(host)

    def recount(self, name: Hashable) -> None:
        """The number that ``waiting_on`` gives for the host has changed."""
        host = self._queues.get(name)
        if host is not None and (host.dormant_item is not None or host.held is not None or host.blocked_until):
            self.place(host)

    def count_hosts(self, change: int) -> None:
        """One host more (1) or less (-1) has waiting URLs."""
        self.total += change
        if not self.levels.are_set:
            self.rule.count_host(change)

    # ------------------------------------------------------------ the floor

    def set_floor(self, floor: float, spare: float) -> None:
        """Active is what scores ``floor`` or more, spare what scores ``spare`` or more.

        O(hosts that are active, in process, snoozed, or change).
        """
        levels, now_set = self.levels, floor > -math.inf
        snoozed = (item[-1] for item in self._heaps[SPARE_SNOOZED])
        changed = [*levels.active.values(), *self._in_process.values(), *snoozed]
        changed_all = now_set != levels.are_set
        if changed_all:
            changed = [host for host in self._queues.values() if host.size]
            for host in changed:
                levels.enter(host, None, 0.0)
        levels.set(-floor, -spare)
        if changed_all:
            asleep = self.rule.asleep
            self.rule.set_hosts(0 if now_set else self.total - asleep, asleep)
        for host in changed:
            if host.size:  # one without URLs has no level, and may be forgotten by now
                self.place(host)
        self._raise(SPARE, levels.floor)
        self._raise(INACTIVE, levels.spare)

    def _raise(self, state: int, rank: float) -> None:
        """Place the hosts of a state whose best URL has this rank or a better one."""
        heap = self._heaps[state]
        while (item := heap.first()) and item[0] <= rank:
            self.place(item[-1])

    # ------------------------------------------------------------ visits

    def take(self, entry: Any) -> None:
        """``entry``, which was chosen, is no longer alive: its URL is being fetched."""
        host = self.queue(entry.host)
        host.leased = True
        self.addresses.visit(host.name)
        host.remove(entry)
        self.place(host)
        if not host.size and self._waiting_on is None:
            self.count_hosts(-1)

    def lease(self, name: Hashable) -> None:
        """A URL of the host is being fetched."""
        host = self.queue(name)
        host.leased = True
        self.addresses.visit(name)
        self.place(host)

    def free(self, name: Hashable) -> None:
        """No URL of the host is being fetched any more."""
        host = self._queues.get(name) or self.queue(name)
        host.leased = False
        freed = self.addresses.leave(name)
        self.place(host)
        self._place_all(freed)

    def rest(self, name: Hashable, until: float) -> None:
        """No visit before ``until``, nor before the end of an earlier rest."""
        host = self._queues.get(name) or self.queue(name)
        if until > host.due:
            host.due = until
        self.addresses.rest(name, until, self.now)
        if not host.leased:
            self.place(host)

    def block(self, name: Hashable, until: float) -> None:
        """No visit before ``until``, whatever was said before; a time that is past lifts the block."""
        host = self.queue(name)
        self.set_block(host, until)
        self.place(host)

    def set_address(self, name: Hashable, address: str) -> bool:
        """The host is at ``address``, with all others of which that was said; whether no other is visited and it has rested."""
        host = self._queues.get(name)
        in_process = host is not None and host.leased
        freed = self.addresses.move(name, address, in_process=in_process)
        if host is not None and not in_process:
            self.place(host)
        self._place_all(freed)
        return self.addresses.may_stay(name, self.now) if in_process else not self.is_address_barred(name)

    def _place_all(self, names: Iterable[Hashable]) -> None:
        for name in names:
            host = self._queues.get(name)
            if host is not None:
                self.place(host)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Any:
        """The first URL of the hosts that may be taken. It stays in the schedule."""
        entry = self.choose_ready(now) or self.choose_held()
        while entry is None and self.levels.are_set:
            entry = self.choose_spare()
            if entry is None and (self.levels.any_awake() or not self._lower()):
                break
        return entry

    def choose_ready(self, now: float) -> Any:
        """The same among the active hosts that the k rule does not bar."""
        self.pass_time(now)
        return self._first_of(READY, self.levels.floor)

    def choose_held(self) -> Any:
        """The first URL of the barred host picked longest ago, if the rule allows one."""
        host = self.first(HELD)
        return host.best() if host and self.rule.allows_barred(self.now) else None

    def choose_spare(self) -> Any:
        """The first URL of the spare hosts, which the k rule does not concern."""
        spare = self.levels.spare
        while (entry := self._first_of(SPARE, spare)) is not None and entry.rank > spare:
            self.place(self._queues[entry.host])
        return entry

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``choose`` gives a URL, if nothing else happens; None: at no time."""
        return now if self.choose(now) is not None else self.first_wake()

    def first_wake(self) -> float | None:
        """The earliest time at which a snoozed host may be taken, by the k rule too; with a floor it may turn out inactive."""
        barred = self.first_time(HELD_SNOOZED)
        if barred is not None and not self.rule.allows_barred(barred):
            barred = None
        item = self._ripening.first() if self.levels.are_set else None  # the URL may be above the floors
        times = (self.first_time(SNOOZED), self.first_time(SPARE_SNOOZED), barred, item and item[0])
        return min((time for time in times if time is not None), default=None)

    def _first_of(self, state: int, last: float) -> Any:
        """The first URL of the hosts in a state; of those that are not in memory, only up to rank ``last``."""
        host = self.first(state)
        return host.best() if host else None

    def _lower(self) -> bool:
        """No active or spare host is awake: the best of the others become spare. Whether there are any."""
        item = self._heaps[INACTIVE].first()
        if item is None:
            return False
        self._lower_to(item[0])
        return True

    def _lower_to(self, rank: float) -> None:
        self.levels.spare = rank
        self._raise(INACTIVE, rank)
        for host in list(self._in_process.values()):
            self.place(host)

    # ------------------------------------------------------------ what is known

    def busiest(self, n: int, size: Callable[[HostQueue], int]) -> list[HostQueue]:
        """The ``n`` hosts with the most waiting URLs, by ``size``."""
        return nsmallest(n, (host for host in self._queues.values() if host.size), key=lambda host: -size(host))

    def best(self) -> Any:
        """The entry of least rank that waits here, whether it may be taken or not: one look at every host."""
        heads = (head for host in self._queues.values() for head in host.heads())
        return min(heads, key=lambda head: (head.rank, head.arrival), default=None)

    def blocks(self) -> Iterator[tuple[HostQueue, list[Any]]]:
        """The blocked hosts, each with the entry that would be taken first without the block, if any."""
        for host in self.blocked():
            host.release_held(self.now)
            best = host.best()
            yield host, [] if best is None else [best]
