"""A schedule of the hosts in memory, fed from queues that all other hosts share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from crawlproject.frontier.disk.class_queues import ClassEntry, ClassQueues
from crawlproject.frontier.disk.host_counts import HostCounts
from crawlproject.frontier.disk.paged_host_queue import DiskEntry
from crawlproject.frontier.disk.url_table import PAGED, SHARED, UrlTable
from crawlproject.frontier.host_queue import HostQueue
from crawlproject.frontier.host_schedule import HostSchedule, is_up_to
from crawlproject.frontier.host_states import LATE, READY
from crawlproject.frontier.k_rule import CLASSES, HostClasses, KRule
from crawlproject.records import ACTIVE, INACTIVE, SPARE

_PAGED_OUT = 256  # hosts of a state that are considered at once


class SharedQueueSchedule(HostSchedule):
    """Chooses among the hosts in memory and the heads of the shared queues, of which there is one for each class of URLs.

    Before a choice, URLs of hosts that cannot be visited move from the heads of the shared queues into the queues of their
    hosts, until the better of a head and the best ready host can be taken. So every choice is the same as if all URLs were in
    host queues. When more than ``most`` hosts are in memory, some hosts that are ready, but come after others, are paged
    out.
    """

    def __init__(
        self,
        new_queue: Callable[[Any], HostQueue],
        rule: KRule,
        *,
        shared: ClassQueues,
        rows: UrlTable,
        counts: HostCounts,
        most: int,
        classes: HostClasses | None = None,
    ) -> None:
        super().__init__(new_queue, rule, waiting_on=counts.awake, classes=classes)
        self.shared = shared
        self._rows = rows
        self._most = self._next_look = most
        self._has_strayed = False  # whether a URL was paged in to a lower class than that of the search

    def first_in_order(self) -> ClassEntry | None:
        """The first entry, by class and rank, of all waiting URLs outside the calendar."""
        first, entry = self.shared.first(), self.best()
        return min((found for found in (first, entry and entry[:3]) if found is not None), default=None)

    def load(self, host: Hashable, precedences: np.ndarray, ranks: np.ndarray, numbers: np.ndarray) -> None:
        """Add many URLs at once to the queue of their host. Their rows must be up to date already."""
        queue = self.queue(host)
        queue.ready.load(precedences, ranks, numbers)
        queue.size += len(ranks)
        queue.has_classes |= bool((precedences != ACTIVE).any())
        self.place(queue)

    # ------------------------------------------------------------ choices

    def choose(self, now: float) -> Any:
        """As in ``HostSchedule``. Under a floor, paging in may put a host in a lower class than expected: then choose again."""
        while True:
            self._has_strayed = False
            entry = super().choose(now)
            if not self._has_strayed:
                return entry

    def _first_ready(self, limit: int) -> Any:
        """The first URL of the hosts in memory, or the head of the shared queues if that comes before."""
        if self.classes.has_floor:
            return super()._first_ready(limit)  # all these hosts are in memory
        highest = self.classes.highest_active if limit == ACTIVE else limit
        shared = self.shared
        while True:
            host = self.first(READY)
            first = shared.first(highest)
            if first is None or (host is not None and host.first_key < first):
                return host.ready.first() if host and (limit == ACTIVE or is_up_to(host, limit)) else None
            entry = self._entry(first)
            if self._is_out(entry.host) and not self.rule.bars(entry.host):
                return entry
            self._page_in(entry)

    def _late_classes(self) -> Sequence[int]:
        return CLASSES[SPARE:] if self.classes.has_floor or self.shared.has_late else self._late

    def _first_late(self, precedence: int) -> Any:
        """The best URL of the hosts of this class in memory, or of the shared queues if that is better."""
        while True:
            host = self.first(LATE + precedence) if precedence in self._late else None
            head = self._head(precedence)
            if head is None or (host is not None and host.key < (head.rank, head.arrival)):
                return host.ready.first() if host else None
            if self._is_out(head.host):
                return head
            self._page_in_late(head, precedence)

    def lowest_awake(self) -> int | None:
        return next((late for late in CLASSES if self._has_head(late) or self.classes.is_awake(late)), None)

    def _has_head(self, precedence: int) -> bool:
        """Whether a host that is not in memory is visited in this class. Pages in the URLs of other hosts on the way."""
        while head := self._head(precedence):
            if self._is_out(head.host):
                return True
            self._page_in_late(head, precedence)
        return False

    def _head(self, precedence: int) -> DiskEntry | None:
        """The best URL of the shared queues that waits in this class, its host disregarded."""
        first = self.shared.first_of(precedence)
        if self.classes.has_floor and ACTIVE <= precedence <= INACTIVE:
            active = self.shared.first_of(ACTIVE)
            if active is not None and self.classes.by_floors(*active[:2]) != precedence:
                active = None
            own = None if precedence == ACTIVE else first
            first = min((found for found in (active, own) if found), key=lambda found: found[1:], default=None)
        return self._entry(first) if first else None

    def _is_out(self, host: Hashable) -> bool:
        """Whether only its URLs decide when the host is visited: it is not in memory, not demoted, and its address is free."""
        return host not in self._queues and host not in self.classes.demoted and not self.is_address_barred(host)

    # ------------------------------------------------------------ paging

    def _entry(self, first: ClassEntry) -> DiskEntry:
        precedence, rank, number = first
        return DiskEntry(precedence, rank, number, self._rows[number].host, 0.0)

    def _page_in(self, entry: DiskEntry) -> None:
        """Move a URL from the head of a shared queue into the queue of its host."""
        self.shared.drop(entry[:3])
        self._rows.set_state(entry.arrival, PAGED)
        HostSchedule.add(self, entry)

    def _page_in_late(self, head: DiskEntry, precedence: int) -> None:
        """The same for a URL that was found in a search of this class."""
        self._page_in(head)
        found = self._queues[head.host].precedence
        self._has_strayed |= found is not None and found < precedence

    def _expendable(self) -> list[HostQueue]:
        """Hosts that need no queue now: they may be visited, but other hosts come first."""
        late = [LATE + precedence for precedence in reversed(self._late)]
        states = late if self.classes.has_floor else [*late, READY]
        hosts = [host for state in states for host in self.last(state, _PAGED_OUT)]
        demoted = self.classes.demoted
        return [host for host in hosts if host.name not in demoted and not host.blocked_until]

    def _page_out(self) -> None:
        """Move the URLs of hosts that need no queue of their own now to the shared queues."""
        before = len(self._queues)
        for host in self._expendable():
            entries = host.ready.all_in_memory() if not host.held else None
            if entries is not None:
                self.forget(host)
                for precedence, rank, number in entries:
                    self._rows.set_state(number, SHARED)
                    self.shared.push(precedence, (rank, number))
        few = before - len(self._queues) < _PAGED_OUT // 8  # the others rest, or have too many URLs to move
        self._next_look = max(self._most, before + _PAGED_OUT // 2 if few else 0)
