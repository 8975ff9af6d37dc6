"""Which host may be visited now, which comes first, and when the next host may be visited."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from heapq import nsmallest
from math import inf
from typing import Any

from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_states import HELD, HELD_SNOOZED, LATE, LATE_SNOOZED, READY, SNOOZED, HostStates
from crawlproject.frontier.politeness import AddressClocks
from crawlproject.records import ACTIVE, INACTIVE, SPARE, WASTE


class HostSchedule(HostStates):
    """Tracks what happens to hosts and their URLs, and chooses the next URL.

    The caller lets an entry die before it reports the removal here. Without ``waiting_on`` the schedule has all waiting URLs
    and counts the hosts; otherwise the caller counts them (``count_hosts``). ``total`` is the number of hosts with waiting URLs.
    """

    total = 0

    # ------------------------------------------------------------ adding and removing URLs

    def add(self, entry: Any) -> None:
        host = self.queue(entry.host)
        host.add(entry)
        if host.size > 1 and host.held is None and not entry.not_before and host.first_key < entry[:3]:
            return  # nothing else changes
        self.place(host)
        if host.size == 1 and self._waiting_on is None:
            self.count_hosts(1)

    def add_back(self, entry: Any) -> None:
        """``entry`` was leased and waits again."""
        self.add(entry)

    def remove(self, entry: Any) -> None:
        """``entry`` is no longer alive."""
        host = self._queues[entry.host]
        host.remove(entry)
        if host.size and host.held is None and host.first_key < entry[:3]:
            return  # nothing else changes
        self.place(host)
        if not host.size and self._waiting_on is None:
            self.count_hosts(-1)

    def replace(self, old: Any, new: Any) -> None:
        """Replace the entry of a URL, whose record, score or time changed."""
        host = self._queues[new.host]
        host.remove(old)
        host.add(new)
        if host.held is None and not new.not_before and host.first_key < min(old[:3], new[:3]):
            return  # nothing else changes
        self.place(host)

    def recount(self, name: Hashable) -> None:
        """The count that ``waiting_on`` returns for the host has changed."""
        host = self._queues.get(name)
        if host is not None and (host.dormant_item is not None or host.held is not None or host.blocked_until):
            self.place(host)

    def count_hosts(self, change: int) -> None:
        """One host more (1) or fewer (-1) has waiting URLs."""
        self.total += change
        if not self._counts_by_class:
            self.rule.count_host(change)

    # ------------------------------------------------------------ classes

    def set_host_precedence(self, name: Hashable, precedence: int) -> None:
        self.classes.demote(name, precedence)
        host = self._queues.get(name)
        if host is not None:
            self.place(host)

    def set_ceiling(self, precedence: int) -> None:
        self.classes.ceiling = precedence

    def set_awake_elsewhere(self, precedence: int | None) -> None:
        self.classes.elsewhere = precedence

    def set_floor(self, floor: float, spare: float) -> None:
        """Set the floors: a score of ``floor`` or more is active, one of ``spare`` or more is spare.

        O(hosts that are not inactive, those that rest or are in process, and those that change).
        """
        had_floor = self.classes.has_floor
        self.classes.set_floor(-floor, -spare)
        if had_floor != self.classes.has_floor:  # the time of a held URL changes the class of a host only with a floor
            self._floor_comes_or_goes()
            concerned = list(self._queues.values())
        else:
            concerned = [host for host in self._near_the_floor() if self._changes_class(host)]
        for host in concerned:
            if host.name in self._queues:  # a host without URLs may be forgotten by now
                self.place(host)

    def _floor_comes_or_goes(self) -> None:
        """A hook that runs before all hosts are placed again because a floor was introduced or removed."""

    def _near_the_floor(self) -> Iterator[HostQueue]:
        """The hosts whose class may change with the floors."""
        yield from self._in_process.values()
        for state in (READY, SNOOZED, HELD, HELD_SNOOZED, LATE + SPARE, LATE_SNOOZED + SPARE, LATE_SNOOZED + INACTIVE):
            yield from (item[-1] for item in self._heaps.get(state, ()))
        if LATE + INACTIVE in self._heaps:
            yield from (item[-1] for item in self._heaps[LATE + INACTIVE].until(self.classes.spare))

    def _changes_class(self, host: HostQueue) -> bool:
        return host.size > 0 and self._class_of(host, host.ready.first()) != host.precedence

    # ------------------------------------------------------------ visits

    def take(self, entry: Any) -> None:
        """``entry``, which was chosen, is no longer alive: its URL is now being fetched."""
        host = self._queues[entry.host]
        host.leased = True
        if self.addresses is not None:
            self.addresses.visit(host.name)
        host.remove(entry)
        self.place(host)
        if not host.size and self._waiting_on is None:
            self.count_hosts(-1)

    def lease(self, name: Hashable) -> None:
        """A URL of the host is being fetched."""
        host = self.queue(name)
        host.leased = True
        if self.addresses is not None:
            self.addresses.visit(name)
        self.place(host)

    def opens(self, name: Hashable, now: float) -> float:
        """The time from which a host may be visited, at least ``now``; infinity if it or its address is in process."""
        host, addresses = self._queues.get(name), self.addresses
        times = [now]
        if host is not None:
            times += [inf if host.leased else host.due, host.blocked_until]
        if addresses is not None:
            times.append(inf if addresses.is_visited(name) else addresses.due(name))
        return max(times)

    def are_one(self, name: Hashable, other: Hashable) -> bool:
        """Whether two hosts are known to be names of one server."""
        return name == other or (self.addresses is not None and self.addresses.are_one(name, other))

    def free(self, name: Hashable) -> None:
        """No URL of the host is being fetched any longer."""
        host = self._queues.get(name) or self.queue(name)
        host.leased = False
        freed = self.addresses.leave(name) if self.addresses is not None else ()
        self.place(host)
        if freed:
            self._place_all(freed)

    def rest(self, name: Hashable, until: float) -> None:
        """Do not visit the host before ``until``, nor before the end of an earlier rest."""
        host = self._queues.get(name) or self.queue(name)
        if until > host.due:
            host.due = until
        if self.addresses is not None:
            self.addresses.rest(name, until, self.now)
        if not host.leased:
            self.place(host)

    def block(self, name: Hashable, until: float) -> None:
        """Do not visit the host before ``until``, whatever an earlier call said; a past time lifts the block."""
        host = self.queue(name)
        self.set_block(host, until)
        self.place(host)

    def set_address(self, name: Hashable, address: str) -> bool:
        """Note the address of the host. Return whether no other host there is being visited, and the address has rested."""
        host = self._queues.get(name)
        in_process = host is not None and host.leased
        self.addresses = addresses = self.addresses or AddressClocks()
        freed = addresses.move(name, address, in_process=in_process)
        if host is not None and not in_process:
            self.place(host)
        self._place_all(freed)
        return addresses.may_stay(name, self.now) if in_process else not self.is_address_barred(name)

    def _place_all(self, names: Iterable[Hashable]) -> None:
        for name in names:
            host = self._queues.get(name)
            if host is not None:
                self.place(host)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Any:
        """The first URL among the hosts that may be taken. It stays in the schedule."""
        self.pass_time(now)
        ceiling = self.classes.ceiling
        entry = self._choose_up_to(ceiling)
        if entry is None and ceiling < WASTE and (limit := self._limit()) > ceiling:
            entry = self._choose_up_to(limit)
        return entry

    def choose_ready(self, now: float) -> Any:
        """The same, among the hosts up to ``ACTIVE`` that the k rule does not bar."""
        self.pass_time(now)
        return self._first_ready(ACTIVE)

    def choose_held(self, limit: int = ACTIVE) -> Any:
        """The first URL of the barred host picked longest ago, up to this class, if the rule allows a barred host."""
        host = self.first(HELD) if limit >= ACTIVE else self._first_held(limit)
        return host.ready.first() if host and self.rule.allows_barred(self.now) else None

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``choose`` finds a URL if nothing else happens; None if there is none."""
        return now if self.choose(now) is not None else self.first_wake()

    def first_wake(self) -> float | None:
        """The earliest time at which a snoozed host may be taken, also by the k rule.

        It may also be a time at which a host with held URLs changes its class.
        """
        barred = self.first_time(HELD_SNOOZED)
        if barred is not None and not self.rule.allows_barred(barred):
            barred = None
        times = [self.first_time(SNOOZED), barred]
        times += [self.first_time(LATE_SNOOZED + late) for late in self._late if late <= self._limit()]
        if self.classes.has_floor or self._ripens_to_class:
            item = self._ripening.first()
            times.append(item and item[0])
        return min((time for time in times if time is not None), default=None)

    def _limit(self) -> int:
        """The highest class of which a URL may be taken at present."""
        if self.classes.ceiling == WASTE:
            return WASTE
        awake = [lowest for lowest in (self.lowest_awake(), self.classes.elsewhere) if lowest is not None]
        return max(self.classes.ceiling, min(awake)) if awake else WASTE

    def lowest_awake(self) -> int | None:
        """The lowest class that has an awake host."""
        return self.classes.lowest_awake()

    def _choose_up_to(self, limit: int) -> Any:
        """The first URL among the hosts of the classes up to this one."""
        entry = self._first_ready(ACTIVE if limit > ACTIVE else limit) or self.choose_held(limit)
        if entry is None and limit > ACTIVE and (late := self._late_classes()):
            entries = (self._first_late(precedence) for precedence in late if precedence <= limit)
            entry = next(filter(None, entries), None)
        return entry

    def _late_classes(self) -> Sequence[int]:
        """The classes above ``ACTIVE`` that may have hosts, ascending."""
        return self._late

    def _first_ready(self, limit: int) -> Any:
        """The first URL of the hosts that the k rule applies to and does not bar, up to this class."""
        host = self.first(READY)
        return host.ready.first() if host and (limit == ACTIVE or is_up_to(host, limit)) else None

    def _first_held(self, limit: int) -> HostQueue | None:
        """The barred host picked longest ago, up to this class. A linear search: the rule bars few hosts."""
        for *_, host in sorted(self._heaps[HELD]):
            if is_up_to(host, limit) and host.due <= self.now and not self.is_address_barred(host.name):
                found: HostQueue = host
                return found
        return None

    def _first_late(self, precedence: int) -> Any:
        """The best URL among the hosts of a class that the k rule does not apply to."""
        host = self.first(LATE + precedence)
        return host.ready.first() if host else None

    # ------------------------------------------------------------ queries

    def busiest(self, n: int, size: Callable[[HostQueue], int]) -> list[HostQueue]:
        """The ``n`` hosts with the most waiting URLs, by ``size``."""
        return nsmallest(n, (host for host in self._queues.values() if host.size), key=lambda host: -size(host))

    def best(self) -> Any:
        """The first entry that waits here, whether it may be taken or not. Looks at every host."""
        heads = (head for host in self._queues.values() for head in host.heads())
        return min(heads, key=lambda head: (head.precedence, head.rank, head.arrival), default=None)

    def blocks(self) -> Iterator[tuple[HostQueue, list[Any]]]:
        """The blocked hosts, each with the entry that would be taken first without the block, if any."""
        for host in self.blocked():
            host.release_held(self.now)
            best = host.ready.first()
            yield host, [] if best is None else [best]


def is_up_to(host: HostQueue, limit: int) -> bool:
    """Whether the host has a URL that may be taken, in a class up to this one."""
    return host.precedence is not None and host.precedence <= limit
