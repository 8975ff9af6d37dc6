"""What each host waits for: a state machine with the terms of Heritrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from enum import IntEnum
from itertools import count
from typing import Any

from crawlproject.frontier.host_queue import NO_FIRST, HostQueue, LazyHeap
from crawlproject.frontier.k_rule import HostClasses, KRule
from crawlproject.frontier.politeness import AddressClocks
from crawlproject.records import ACTIVE


class HostState(IntEnum):
    """A host is in one state, and in the heap of that state. ``IN_PROCESS`` has no heap.

    ================  ============================================================  =================
    state             its hosts                                                     first of the heap
    ================  ============================================================  =================
    ``READY``         may be visited                                                first URL
    ``SNOOZED``       wait for their clock, or for the end of a block or a hold     earliest
    ``HELD``          might be visited, were it not for the k rule                  picked longest ago
    ``HELD_SNOOZED``  barred by the k rule, and snoozed too                         earliest
    ``EXHAUSTED``     have no URL, but their clock or their block still runs        earliest
    ``IN_PROCESS``    a URL is being fetched, of the host or one at its address
    ``LATE``          may be visited, in a class above ``ACTIVE``                   best URL
    ``LATE_SNOOZED``  in such a class, and snoozed                                  earliest
    ================  ============================================================  =================

    The last two are several states each, one per class: add the class to the number.
    """

    READY = 0
    SNOOZED = 1
    HELD = 2
    HELD_SNOOZED = 3
    EXHAUSTED = 4
    IN_PROCESS = 5
    LATE = 16
    LATE_SNOOZED = 32


READY, SNOOZED, HELD, HELD_SNOOZED, EXHAUSTED, IN_PROCESS, LATE, LATE_SNOOZED = map(int, HostState)
_TIMED = (SNOOZED, HELD_SNOOZED, EXHAUSTED, IN_PROCESS)  # states in which it does not matter which URL is first


class HostStates:
    """The hosts by name, and the transitions between their states.

    A choice never looks at a host that cannot be taken, and each transition costs O(log n) amortised. A host without
    URLs, clock and block is removed from memory. ``new_queue`` makes the empty queue of a host from its name. ``waiting_on``
    counts the waiting URLs of a host, if it has more than those in its queue; the caller then also counts the hosts for the
    k rule, which otherwise follow from their classes. ``tracks_dormancy``: maintain the k rule's ``dormant`` hosts.
    """

    def __init__(
        self,
        new_queue: Callable[[Any], HostQueue],
        rule: KRule,
        *,
        waiting_on: Callable[[Any], int] | None = None,
        tracks_dormancy: bool = True,
        classes: HostClasses | None = None,
    ) -> None:
        self.rule = rule
        self.classes = classes or HostClasses()
        self.addresses: AddressClocks | None = None  # once the address of a host is known
        self.now = -math.inf  # the latest time given to ``pass_time``
        self._new_queue = new_queue
        self._waiting_on = waiting_on
        self._tracks_dormancy = tracks_dormancy
        self._queues: dict[Hashable, HostQueue] = {}
        self._blocked: dict[Hashable, HostQueue] = {}
        self._in_process: dict[Hashable, HostQueue] = {}
        self._serial = count()  # keeps hosts out of comparisons
        self._counts_by_class = waiting_on is None
        self._heaps: dict[int, LazyHeap[Any]] = {state: LazyHeap(_is_current) for state in range(IN_PROCESS)}
        self._snoozed = [self._heaps[SNOOZED], self._heaps[HELD_SNOOZED]]
        self._late: list[int] = []  # the classes above ``ACTIVE`` in which a host was ever visited, ascending
        self._ripening: LazyHeap[Any] = LazyHeap(_is_ripening)  # hosts whose first URL may change
        self._ripens_to_class = False  # whether one of these may change its class by that, floors aside
        self._dormant: LazyHeap[Any] = LazyHeap(lambda item: item[-1].dormant_item is item)  # those not counted
        self._timed = [self._ripening, *self._snoozed]
        if tracks_dormancy:
            self._timed[:0] = [rule.dormant, self._dormant]
        rule.listen(self._bar)

    @property
    def known(self) -> Mapping[Hashable, HostQueue]:
        """The hosts in memory."""
        return self._queues

    def queue(self, name: Hashable) -> HostQueue:
        """The queue of a host; a new one if it has none."""
        queue = self._queues.get(name)
        if queue is None:
            queue = self._queues[name] = self._new_queue(name)
        return queue

    def pass_time(self, now: float) -> None:
        """Make the transitions whose time has come."""
        self.now = now
        for heap in self._timed:
            items = heap.items
            if items and items[0][0] <= now:
                while (item := heap.first()) and item[0] <= now:
                    self.place(item[-1])

    def first(self, state: int) -> HostQueue | None:
        """The first host in the state. Hosts at the head that turn out not to be due snooze again.

        This happens when the clock ran backwards, or another host at the same address was visited in the meantime.
        """
        heap = self._heaps[state]
        while item := heap.first():
            host: HostQueue = item[-1]
            if host.due <= self.now and not self.is_address_barred(host.name):
                return host
            self.place(host)
        return None

    def is_address_barred(self, name: Hashable) -> bool:
        """Whether the address of a host that is not in process is being visited, or rests."""
        addresses = self.addresses
        return addresses is not None and (addresses.is_visited(name) or addresses.due(name) > self.now)

    def last(self, state: int, n: int) -> list[HostQueue]:
        """Up to ``n`` hosts in the state that are not among its first."""
        return [item[-1] for item in self._heaps[state].last(n)]

    def first_time(self, state: int) -> float | None:
        """The earliest time of a snoozed state."""
        item = self._heaps[state].first()
        return item[0] if item else None

    def place(self, host: HostQueue) -> None:
        """Move the host to the state it belongs in now."""
        is_busy = host.leased
        if self.addresses is not None and host.size and not is_busy and self.addresses.is_visited(host.name):
            self.addresses.park(host.name)
            is_busy = True
        if is_busy:
            if host.held is not None:
                host.release_held(self.now)
            if host.item is not None:
                self._move(host, IN_PROCESS, ())
            host.state = state = IN_PROCESS
            self._in_process[host.name] = host
            precedence = self._class_of(host, host.ready.first()) if host.size else None
        else:
            if host.state == IN_PROCESS:
                del self._in_process[host.name]
            precedence, state, key = self._state_of(host)
            if state != host.state or key != host.key:
                self._move(host, state, key)
        if (
            precedence != host.precedence
            or host.held is not None
            or host.blocked_until
            or host.dormant_item is not None
        ):
            self._watch(host, precedence)
        if state == EXHAUSTED:
            self._forget_exhausted()

    def forget(self, host: HostQueue) -> None:
        """Remove the host from memory."""
        self._move(host, None, ())
        self._leave_class(host)
        if host.ripening_item is not None:
            host.ripening_item = None
            self._ripening.died()
        if host.blocked_until:
            del self._blocked[host.name]
        del self._queues[host.name]

    def set_block(self, host: HostQueue, until: float) -> None:
        host.blocked_until = until if until > self.now else 0.0
        if host.blocked_until:
            self._blocked[host.name] = host
        else:
            self._blocked.pop(host.name, None)

    def blocked(self) -> Iterator[HostQueue]:
        """The hosts whose block has not ended."""
        return (host for host in list(self._blocked.values()) if host.blocked_until > self.now)

    def clocks(self) -> Iterator[tuple[Any, float]]:
        """The hosts that still rest, each with the time of its next visit."""
        return ((name, host.due) for name, host in self._queues.items() if host.due > self.now)

    def resting(self) -> int:
        """The number of hosts with waiting URLs that may not be visited yet, as of the last ``pass_time``; O(1)."""
        return self.rule.asleep + sum(map(len, self._snoozed))

    # ------------------------------------------------------------ inside

    def _bar(self, name: Hashable) -> None:
        """The k rule starts or stops barring the host."""
        host = self._queues.get(name)
        if host is not None and host.size and not host.leased:  # the rule does not affect other hosts
            self.place(host)

    def _state_of(self, host: HostQueue) -> tuple[int | None, int, tuple[float, ...]]:
        """The class and the state of a host that is not in process, and its key in the heap of that state."""
        opens, now = host.due, self.now
        if self.addresses is not None:
            opens = max(opens, self.addresses.due(host.name))
        if host.blocked_until:
            if host.blocked_until <= now:
                self.set_block(host, 0.0)
            opens = max(opens, host.blocked_until)
        if not host.size:
            return None, EXHAUSTED, (opens,)
        if host.held is not None:
            host.release_held(now)
        best = host.ready.first()
        if best is None:
            opens = max(opens, host.next_release() or opens)
        precedence = self._class_of(host, best)
        if precedence is not None and precedence > ACTIVE:
            state = self._late_state(precedence, snoozes=opens > now)
            return precedence, state, (opens,) if opens > now else (best.rank, best.arrival)
        barred = self.rule.bars(host.name)
        if opens > now:
            return precedence, HELD_SNOOZED if barred else SNOOZED, (opens,)
        if barred:
            return precedence, HELD, (self.rule.last_pick(host.name),)
        return precedence, READY, host.first_key

    def _class_of(self, host: HostQueue, best: Any) -> int | None:
        """The class of a host with these URLs in its queue and this first one; None if all that may go are elsewhere."""
        if best is not None:
            host.first_key = best[:3]
            return self.classes.of(host.name, best.precedence, best.rank)
        host.first_key = NO_FIRST
        has_others = self._waiting_on is not None and self._waiting_on(host.name) > host.size
        return None if has_others else self.classes.of_host(host.name)

    def _late_state(self, precedence: int, *, snoozes: bool) -> int:
        """The state of a class above ``ACTIVE``. Its heaps are made on demand: most crawls need few of them."""
        state = precedence + (LATE_SNOOZED if snoozes else LATE)
        if state not in self._heaps:
            self._late = sorted([*self._late, precedence])
            self._heaps[LATE + precedence] = LazyHeap(_is_current)
            self._heaps[LATE_SNOOZED + precedence] = heap = LazyHeap(_is_current)
            self._snoozed.append(heap)
            self._timed.append(heap)
        return state

    def _move(self, host: HostQueue, state: int | None, key: tuple[float, ...]) -> None:
        left, had_item = host.state, host.item is not None
        host.state, host.key = state, key
        if state is None or state == IN_PROCESS:
            host.item = None
        else:
            host.item = item = (*key, next(self._serial), host)
            self._heaps[state].push(item)
        if had_item and left is not None:
            self._heaps[left].died()

    def _forget_exhausted(self) -> None:
        """Forget the hosts that neither have a URL nor wait for a time. Called whenever a host becomes exhausted."""
        heap = self._heaps[EXHAUSTED]
        while (item := heap.first()) and item[0] <= self.now:
            self.forget(item[-1])

    def _watch(self, host: HostQueue, precedence: int | None) -> None:
        """Note the class, and return to the host when its block ends or when another of its URLs may be taken."""
        ripe = host.next_release()
        self._enter_class(host, precedence, self._wakes(host, ripe) if self._tracks_dormancy else 0.0)
        if ripe is not None and host.has_classes:
            self._ripens_to_class = True
        elif host.state in _TIMED and not self.classes.has_floor:
            ripe = None  # the class stays
        if host.ripening_item is not None:
            if host.ripening_item[0] == ripe:
                return
            host.ripening_item = None
            self._ripening.died()
        if ripe is not None:
            host.ripening_item = (ripe, next(self._serial), host)
            self._ripening.push(host.ripening_item)

    def _enter_class(self, host: HostQueue, precedence: int | None, wakes: float) -> None:
        """The host is visited in this class (None: it has no URL here), and is dormant until ``wakes`` (0: it is awake)."""
        counts, item = self._is_counted(host, precedence), host.dormant_item
        if item is not None and (counts != host.counts or item[0] != wakes):
            host.dormant_item = item = None
            self._dormant_among(host.counts).died()
        if wakes and item is None and (counts or precedence is not None):
            host.dormant_item = (wakes, id(host), host)
            self._dormant_among(counts).push(host.dormant_item)
        host.precedence = precedence
        if wakes:
            precedence = None
        if precedence != host.awake:
            self.classes.count_awake(host.awake, precedence)
            host.awake = precedence
        if counts != host.counts:
            host.counts = counts
            if self._counts_by_class:  # last, for the rule may place hosts, and this one again
                self.rule.count_host(1 if counts else -1)

    def _leave_class(self, host: HostQueue) -> None:
        """The host is in no class until it is placed again."""
        if host.dormant_item is not None:
            host.dormant_item = None
            self._dormant_among(host.counts).died()
        self.classes.count_awake(host.awake, None)
        host.awake = host.precedence = None
        if host.counts:
            host.counts = False
            if self._counts_by_class:
                self.rule.count_host(-1)

    def _is_counted(self, host: HostQueue, precedence: int | None) -> bool:
        """Whether the k rule counts a host visited in this class; if the caller counts, every host with URLs counts."""
        if self._waiting_on is not None:
            return self._waiting_on(host.name) > 0
        return precedence is not None and precedence <= ACTIVE

    def _dormant_among(self, counts: bool) -> LazyHeap[tuple[Any, ...]]:
        """The dormant hosts that the k rule counts, or the others."""
        return self.rule.dormant if counts else self._dormant

    def _wakes(self, host: HostQueue, ripe: float | None) -> float:
        """When a URL of a dormant host may be taken; 0 if the host is not dormant."""
        total = host.size if self._waiting_on is None else self._waiting_on(host.name)
        wakes = host.blocked_until if total and host.blocked_until > self.now else 0.0
        if ripe is not None and host.size == total and ripe > self.now and host.ready.first() is None:
            wakes = max(wakes, ripe)
        return wakes


def _is_current(item: tuple[Any, ...]) -> bool:
    """Whether an item in the heap of a state is the current item of its host, which is its last element."""
    return item[-1].item is item


def _is_ripening(item: tuple[Any, ...]) -> bool:
    return item[-1].ripening_item is item
