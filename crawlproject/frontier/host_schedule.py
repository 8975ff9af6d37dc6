"""Which host may be visited now, which one first, and when the next one may."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from heapq import nsmallest
from typing import Any

from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_states import HELD, HELD_SNOOZED, READY, SNOOZED, HostStates


class HostSchedule(HostStates):
    """What happens to hosts and their URLs, and which URL is next.

    The caller lets an entry die before it reports its removal here. Without ``waiting_on`` the schedule has all waiting
    URLs, and counts the hosts of the k rule; with it, the caller does.
    """

    # ------------------------------------------------------------ URLs come and leave

    def add(self, entry: Any) -> None:
        host = self.queue(entry.host)
        host.add(entry)
        if host.state == READY and not entry.not_before and host.key < (entry.rank, entry.arrival):
            return  # the host has a better one: nothing else changes
        self.place(host)
        if host.size == 1 and self._waiting_on is None:
            self.rule.count_host(1)

    def add_back(self, entry: Any) -> None:
        """``entry`` was leased and waits again."""
        self.add(entry)

    def remove(self, entry: Any) -> None:
        """``entry`` is no longer alive."""
        host = self._queues[entry.host]
        host.remove(entry)
        self.place(host)
        if not host.size and self._waiting_on is None:
            self.rule.count_host(-1)

    def replace(self, old: Any, new: Any) -> None:
        """The URL of both has another record, score or time."""
        host = self._queues[new.host]
        host.remove(old)
        host.add(new)
        self.place(host)

    def recount(self, name: Hashable) -> None:
        """The number that ``waiting_on`` gives for the host has changed."""
        host = self._queues.get(name)
        if host is not None and (host.dormant_item is not None or host.held is not None or host.blocked_until):
            self.place(host)

    # ------------------------------------------------------------ visits

    def take(self, entry: Any) -> None:
        """``entry``, which was chosen, is no longer alive: its URL is being fetched."""
        host = self.queue(entry.host)
        host.leased = True
        host.remove(entry)
        self.place(host)
        if not host.size and self._waiting_on is None:
            self.rule.count_host(-1)

    def lease(self, name: Hashable) -> None:
        """A URL of the host is being fetched."""
        host = self.queue(name)
        host.leased = True
        self.place(host)

    def free(self, name: Hashable) -> None:
        """No URL of the host is being fetched any more."""
        host = self._queues.get(name) or self.queue(name)
        host.leased = False
        self.place(host)

    def rest(self, name: Hashable, until: float) -> None:
        """No visit before ``until``, nor before the end of an earlier rest."""
        host = self._queues.get(name) or self.queue(name)
        if until > host.due:
            host.due = until
        if not host.leased:
            self.place(host)

    def block(self, name: Hashable, until: float) -> None:
        """No visit before ``until``, whatever was said before; a time that is past lifts the block."""
        host = self.queue(name)
        self.set_block(host, until)
        self.place(host)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Any:
        """The first URL of the hosts that may be taken. It stays in the schedule."""
        return self.choose_ready(now) or self.choose_held()

    def choose_ready(self, now: float) -> Any:
        """The same among the hosts that the k rule does not bar."""
        self.pass_time(now)
        host = self.first(READY)
        return host.best() if host else None

    def choose_held(self) -> Any:
        """When fewer than k hosts wait, the crawl never stops for the rule: the first URL of the host picked longest ago."""
        host = self.first(HELD)
        return host.best() if host and self.rule.has_few_hosts(self.now) else None

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``choose`` gives a URL, if nothing else happens; None: at no time."""
        return now if self.choose(now) is not None else self.first_wake()

    def first_wake(self) -> float | None:
        """The earliest time at which a snoozed host may be taken, by the k rule too."""
        free, barred = self.first_time(SNOOZED), self.first_time(HELD_SNOOZED)
        if barred is None or (free is not None and free <= barred) or not self.rule.has_few_hosts(barred):
            return free
        return barred

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
