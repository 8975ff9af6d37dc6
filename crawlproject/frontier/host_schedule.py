"""Which host may be visited now, which one first, and when the next one may."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from heapq import nsmallest
from itertools import count
from typing import Any

from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.lazy_heap import LazyHeap
from crawlproject.frontier.recent_hosts import RecentHosts


class HostSchedule:
    """The hosts, each standing in the one heap that says what it waits for.

    ==================  ================================================  =============
    heap                its hosts                                         first of them
    ==================  ================================================  =============
    ``_open``           may be visited                                    best URL
    ``_resting``        wait for their clock, or for a ``not_before``     earliest
    ``_barred``         might be visited, were it not for the k rule      picked longest ago
    ``_barred_resting`` barred, and resting too                           earliest
    ``_idle``           have no URL, but their clock still runs           earliest
    ==================  ================================================  =============

    A leased host stands nowhere. So a choice never looks at a host that cannot be taken, however many of these have the
    best URLs, and each operation costs O(log n) amortised. A host with nothing to wait for leaves the memory.

    ``new_queue`` makes the empty queue of a host by its name. The caller lets an entry die before it tells the schedule.
    ``hosts_waiting`` counts the hosts that the k rule goes by, when these are more than the schedule knows; call ``fit``
    when that number changes.
    """

    def __init__(
        self,
        new_queue: Callable[[Any], HostQueue],
        batch_size: int,
        hosts_waiting: Callable[[], int] | None = None,
    ) -> None:
        self._new_queue = new_queue
        self._k = batch_size
        self._hosts_waiting = hosts_waiting or self.hosts
        self._now = -math.inf
        self._hosts: dict[Hashable, HostQueue] = {}
        self._waiting = 0  # hosts with URLs
        self._dormant = 0  # those of them whose URLs all wait for a later time
        self._spares_dormant = False
        self._leases = 0
        self._window = RecentHosts()
        self._serial = count()  # keeps hosts out of comparisons
        self._open: LazyHeap[Any] = LazyHeap(_stands)
        self._resting: LazyHeap[Any] = LazyHeap(_stands)
        self._barred: LazyHeap[Any] = LazyHeap(_stands)
        self._barred_resting: LazyHeap[Any] = LazyHeap(_stands)
        self._idle: LazyHeap[Any] = LazyHeap(_stands)
        self._ripening: LazyHeap[Any] = LazyHeap(_ripens)  # hosts that might be visited, whose best URL may change
        self._timed = (self._ripening, self._resting, self._barred_resting)

    def spare_dormant(self) -> None:
        """The k rule looks past hosts whose URLs all wait for a later time when it would stop the crawl for them."""
        self._spares_dormant = True

    # ------------------------------------------------------------ URLs come and go

    def add(self, entry: Any) -> None:
        host = self._host(entry.host)
        host.add(entry)
        if host.heap is self._open and not entry.not_before and host.key < (entry.rank, entry.arrival):
            return  # the host has a better one: nothing else changes
        self._place(host)
        if host.size == 1:
            self._waiting += 1
            self.fit()

    def add_back(self, entry: Any) -> None:
        """``entry`` was leased and waits again."""
        self.add(entry)

    def remove(self, entry: Any) -> None:
        """``entry`` is not alive any more."""
        host = self._hosts[entry.host]
        host.remove(entry)
        self._place(host)
        if host.size == 0:
            self._waiting -= 1
            self.fit()

    def replace(self, old: Any, new: Any) -> None:
        """The URL of both has a new record or score."""
        host = self._hosts[new.host]
        host.remove(old)
        host.add(new)
        self._place(host)

    # ------------------------------------------------------------ visits

    def lease(self, name: Hashable) -> None:
        """A URL of the host is being fetched."""
        host = self._host(name)
        host.leased = True
        self._leases += 1
        self._place(host)

    def free(self, name: Hashable) -> None:
        """Nothing of the host is being fetched any more."""
        host = self._host(name)
        host.leased = False
        self._leases -= 1
        self._place(host)

    def rest(self, name: Hashable, until: float) -> None:
        """No visit before ``until``, nor before what an earlier visit asked for."""
        host = self._host(name)
        host.due = max(host.due, until)
        self._place(host)

    def visit(self, name: Hashable, entry: Any) -> None:
        """``lease``, ``remove`` and ``pick`` in one; ``entry`` is None when the URL never waited here."""
        host = self._host(name)
        if entry is not None:
            host.remove(entry)
        host.leased = True
        self._leases += 1
        self._place(host)
        self._window.pick(name)
        self._window.remember(self._k - 1 + self._leases)
        self.fit()

    def end_visit(self, name: Hashable, until: float) -> None:
        """``free`` and ``rest`` in one."""
        host = self._host(name)
        host.leased = False
        self._leases -= 1
        if until > host.due:
            host.due = until
        self._place(host)

    def pick(self, name: Hashable) -> None:
        """The host was picked: the k rule bars it for a while."""
        self._window.pick(name)
        self._window.remember(self._k - 1 + self._leases)  # enough if the picks of all leases were given back
        self.fit()
        if name in self._hosts:
            self._place(self._hosts[name])

    def give_back_pick(self, name: Hashable) -> None:
        """The host's last pick does not count."""
        self._window.give_back(name)
        self.fit()
        if name in self._hosts:
            self._place(self._hosts[name])

    def fit(self) -> None:
        """Bring the k rule's window to its size: the last min(k, hosts that wait) - 1 picks bar."""
        for name in self._window.fit(max(0, min(self._k, self._hosts_waiting()) - 1)):
            host = self._hosts.get(name)
            if host is not None and host.size:  # the rule changes nothing for a host without URLs
                self._place(host)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Any:
        """The first URL of the eligible hosts. It stays where it is."""
        return self.choose_open(now) or self.choose_barred()

    def choose_open(self, now: float) -> Any:
        """The same among the hosts that the k rule does not bar."""
        self.pass_time(now)
        host = self.first_open()
        return host.best() if host else None

    def pass_time(self, now: float) -> None:
        """Let hosts move whose time has come."""
        self._now = now
        for heap in self._timed:
            if heap.may_begin_by(now):
                while (item := heap.first()) and item[0] <= now:
                    self._place(item[-1])

    def first_open(self) -> HostQueue | None:
        """The host of what ``choose_open`` gives, at the time that was passed."""
        return self._first(self._open)

    def choose_barred(self) -> Any:
        """When fewer than k hosts wait the crawl never stops for the rule: the first URL of the host picked longest ago."""
        host = self._first(self._barred) if self._are_few() else None
        return host.best() if host else None

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``choose`` gives a URL, if nothing else happens; None: no time will do."""
        return now if self.choose(now) is not None else self.first_rested()

    def first_rested(self) -> float | None:
        """The earliest time at which a host that may then be chosen has rested; of the others the k rule tells."""
        heaps = (self._resting, self._barred_resting) if self._are_few() else (self._resting,)
        return min((item[0] for heap in heaps if (item := heap.first())), default=None)

    # ------------------------------------------------------------ what is known

    def hosts(self) -> int:
        """Hosts with waiting URLs."""
        return self._waiting

    @property
    def known(self) -> Mapping[Hashable, HostQueue]:
        """The hosts that have URLs here, are being visited, or rest."""
        return self._hosts

    def busiest(self, n: int, size: Callable[[HostQueue], int]) -> list[HostQueue]:
        """The ``n`` hosts with the most waiting URLs, by ``size``."""
        return nsmallest(n, (host for host in self._hosts.values() if host.size), key=lambda host: -size(host))

    def best(self) -> Any:
        """The entry of least rank that waits here, whether it may go or not: one look at every host."""
        heads = (head for host in self._hosts.values() for head in host.heads())
        return min(heads, key=lambda head: (head.rank, head.arrival), default=None)

    def last_open(self, n: int) -> list[HostQueue]:
        """Up to ``n`` hosts that may be visited and are not among the best of these."""
        return [item[-1] for item in self._open.last(n)]

    def forget(self, host: HostQueue) -> None:
        """Its URLs wait elsewhere from now on; it may be visited."""
        self._move(host, None, ())
        del self._hosts[host.name]

    def queue(self, name: Hashable) -> HostQueue:
        """The queue of a host, to be filled from outside; ``place`` it afterwards."""
        return self._host(name)

    def place(self, name: Hashable) -> None:
        """The queue of the host has been filled."""
        self._place(self._hosts[name])

    def bars(self, name: Hashable) -> bool:
        """Whether the k rule bars the host now."""
        return self._window.bars(name)

    def picks(self) -> Iterator[Any]:
        """The hosts of the last picks, oldest first: as many as the k rule may still ask for."""
        return iter(self._window)

    def clocks(self) -> Iterator[tuple[Any, float]]:
        """The hosts that rest, each with the time of its next visit."""
        return ((name, host.due) for name, host in self._hosts.items() if host.due > self._now)

    def resting(self) -> int:
        """Hosts with waiting URLs that may not be visited yet, as the schedule saw them last; O(1)."""
        return len(self._resting) + len(self._barred_resting)

    # ------------------------------------------------------------ inside

    def _are_few(self) -> bool:
        """Whether fewer than k hosts wait for their turn."""
        return self._hosts_waiting() - (self._dormant if self._spares_dormant else 0) < self._k

    def _host(self, name: Hashable) -> HostQueue:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = self._new_queue(name)
        return host

    def _first(self, heap: LazyHeap[Any]) -> HostQueue | None:
        """The first host of the heap that is due; the others (the clock ran backwards) rest again."""
        while item := heap.first():
            host: HostQueue = item[-1]
            if host.due <= self._now:
                return host
            self._place(host)
        return None

    def _place(self, host: HostQueue) -> None:
        """Let the host stand where it belongs now."""
        if host.leased and host.heap is None:
            return
        heap, key = self._standing(host)
        if heap is not host.heap or key != host.key:
            self._move(host, heap, key)
        if host.later is not None:
            self._watch(host)
            dormant = host.size > 0 and host.best() is None
            self._dormant += dormant - host.dormant
            host.dormant = dormant
        if not host.size and not host.leased:
            self._forget_idle()

    def _move(self, host: HostQueue, heap: LazyHeap[Any] | None, key: tuple[float, ...]) -> None:
        left, host.heap, host.key = host.heap, heap, key
        host.item = None if heap is None else (*key, next(self._serial), host)
        if left is not None:
            left.died()
        if heap is not None:
            heap.push(host.item)

    def _forget_idle(self) -> None:
        """Forget the hosts that neither have a URL nor rest. Asked whenever a host becomes one of them."""
        while (item := self._idle.first()) and item[0] <= self._now:
            host: HostQueue = item[-1]
            self._move(host, None, ())
            del self._hosts[host.name]

    def _standing(self, host: HostQueue) -> tuple[LazyHeap[Any] | None, tuple[float, ...]]:
        """The heap where the host belongs, and its key there."""
        if host.leased:
            return None, ()
        if not host.size:
            return self._idle, (host.due,)
        if host.later is not None:
            host.ripen(self._now)
        best = host.best()
        opens = host.due if best is not None else host.opens()
        barred = self._window.bars(host.name)
        if best is None or opens > self._now:
            return self._barred_resting if barred else self._resting, (opens,)
        if barred:
            return self._barred, (self._window.last(host.name),)
        return self._open, (best.rank, best.arrival)

    def _watch(self, host: HostQueue) -> None:
        """Come back to a host that might be visited when another URL of it may go: that one may be better."""
        ripe = host.next_ripe() if host.heap is self._open or host.heap is self._barred else None
        if host.ripens is not None:
            if host.ripens[0] == ripe:
                return
            host.ripens = None
            self._ripening.died()
        if ripe is not None:
            host.ripens = (ripe, next(self._serial), host)
            self._ripening.push(host.ripens)


def _stands(item: tuple[Any, ...]) -> bool:
    """Whether the host at the end of a heap's item still stands there."""
    return item[-1].item is item


def _ripens(item: tuple[Any, ...]) -> bool:
    return item[-1].ripens is item
