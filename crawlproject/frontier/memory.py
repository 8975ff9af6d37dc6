"""The frontier in memory. The contract is told in ``base``; what is told here is who does which part of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from random import Random

from crawlproject.frontier.base import HostStats
from crawlproject.frontier.best_n_first import BestNFirstSchedule
from crawlproject.frontier.changes import (
    Asks,
    Change,
    Ended,
    Evicted,
    GaveBack,
    Leased,
    Picked,
    Rescored,
    Rests,
    Returned,
    Waits,
)
from crawlproject.frontier.entry import QueueEntry
from crawlproject.frontier.host_queue import HostQueue, queue_of
from crawlproject.frontier.host_schedule import HostSchedule
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.state import FrontierState
from crawlproject.records import CrawlUrl


class MemoryFrontier:
    """A ``Frontier`` in which each operation costs O(log n) amortised.

    ``batch_size``: k of the k rule (paper 003 section 4.1 has 50). ``commit``: N of Best-N-First (paper 001 Figure 1;
    1: look again at every take). ``max_urls``: waiting URLs kept, the best ones; 0: no limit. ``random`` shuffles what
    is committed. Each operation decides, and then lets changes happen to the state, which a follower may write down.
    """

    def __init__(
        self,
        *,
        batch_size: int = 50,
        commit: int = 1,
        max_urls: int = 1_000_000,
        politeness: Politeness,
        random: Random,
    ) -> None:
        for name, value, least in (("batch_size", batch_size, 1), ("commit", commit, 1), ("max_urls", max_urls, 0)):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value!r}")
        self._limit = max_urls or math.inf
        self._politeness = politeness
        self._follower: Callable[[Change], object] = _nobody

        def new_schedule(
            alive: Callable[[QueueEntry], bool], hosts_waiting: Callable[[], int] | None = None
        ) -> HostSchedule:
            return HostSchedule(lambda name: HostQueue(name, alive), batch_size, hosts_waiting)

        def schedule(alive: Callable[[QueueEntry], bool]) -> HostSchedule | BestNFirstSchedule:
            if commit == 1:
                return new_schedule(alive)
            return BestNFirstSchedule(alive, new_schedule, batch_size=batch_size, n=commit, random=random)

        self._state = FrontierState(schedule, politeness)

    # ------------------------------------------------------------ the contract

    def put(self, url: CrawlUrl) -> bool:
        """As the contract says. Raises ``ValueError`` for a score that is NaN or a ``not_before`` that is not finite.

        A newcomer that a full frontier refuses does not count as evicted.
        """
        if url.score != url.score or not math.isfinite(url.not_before):
            raise ValueError(f"no place in line for score {url.score!r}, not_before {url.not_before!r}: {url.url!r}")
        state = self._state
        known = state.waiting.get(url.key)
        if known is not None:
            if url.score > known.record.score:
                self._change(Waits(url))
            return False
        if url.key in state.done or url.key in state.leases or not self._make_room(url.score):
            return False
        self._change(Waits(url))
        return True

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        return sum(map(self.put, urls))

    def take(self, now: float) -> CrawlUrl | None:
        entry = self._state.schedule.choose(now)
        if entry is None:
            return None
        self._change(Leased(entry.record.key))
        self._change(Picked(entry.host))
        return entry.record

    def spare_dormant(self) -> None:
        """As ``SparingFrontier`` says; Best-N-First looks at batches and goes by the rule as it is."""
        self._state.schedule.spare_dormant()

    def next_due(self, now: float) -> float | None:
        return self._state.schedule.next_due(now)

    def done(self, url: str, now: float, seconds: float) -> None:
        if url not in self._state.done:
            self._rest(url, now, seconds)
            self._change(Ended(url))

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        """As the contract says; nothing happens without a lease. Raises ``ValueError`` if ``not_before`` is not finite.

        In a full frontier the URL may be evicted at once, when it is the worst.
        """
        _refuse_endless(url, not_before)
        if url in self._state.leases:
            self._rest(url, now, seconds)
            self._return(url, not_before, picked)

    def postpone(self, url: str, not_before: float) -> None:
        """As the contract says. Raises ``ValueError`` if ``not_before`` is not finite."""
        _refuse_endless(url, not_before)
        if url in self._state.leases:
            self._return(url, not_before, picked=False)

    def drop(self, url: str, *, picked: bool = False) -> None:
        """As the contract says; without a lease the URL is just known from now on."""
        lease = self._state.leases.get(url)
        if lease is not None and not picked:
            self._change(GaveBack(lease.host))
        if url not in self._state.done:
            self._change(Ended(url))

    def rescore(self, url: str, score: float) -> bool:
        """As the contract says. Raises ``ValueError`` when ``score`` is NaN."""
        if score != score:
            raise ValueError(f"a score must be a number, got {score!r}: {url!r}")
        known = self._state.waiting.get(url)
        if known is None:
            return False
        if score != known.record.score:
            self._change(Rescored(url, score))
        return True

    def withdraw(self, url: str) -> bool:
        """As the contract says. It does not count as evicted."""
        if url not in self._state.waiting:
            return False
        self._change(Evicted(url, self._state.evicted))
        return True

    def crawl_delay(self, host: str, seconds: float) -> None:
        """As the contract says; what is no finite, positive number counts as 0 (robots.txt is written by strangers)."""
        if self._politeness.crawl_delay(host, seconds):
            self._follower(Asks(host, seconds))

    def __len__(self) -> int:
        return len(self._state.waiting)

    def __contains__(self, url: str) -> bool:
        return url in self._state.waiting or url in self._state.done or url in self._state.leases

    def leased(self, url: str) -> CrawlUrl | None:
        entry = self._state.leases.get(url)
        return entry.record if entry else None

    def leases(self) -> int:
        return len(self._state.leases)

    def waiting(self) -> Iterator[CrawlUrl]:
        return (entry.record for entry in self._state.waiting.values())

    def best(self) -> float | None:
        entry = self._state.best()
        return entry.record.score if entry else None

    def hosts(self) -> int:
        return self._state.schedule.hosts()

    def evicted(self) -> int:
        return self._state.evicted

    def batch(self) -> AbstractContextManager[None]:
        """Nothing to do: memory does not survive a crash."""
        return nullcontext()

    def close(self) -> None:
        """Nothing to save."""

    # ------------------------------------------------------------ for whoever looks into it

    def record(self, url: str) -> CrawlUrl | None:
        """The record of a waiting URL, or None."""
        entry = self._state.waiting.get(url)
        return entry.record if entry else None

    def open_leases(self) -> Iterator[CrawlUrl]:
        """The records of the open leases."""
        return (entry.record for entry in self._state.leases.values())

    def finished(self) -> int:
        """URLs that are done."""
        return len(self._state.done)

    def clocks(self) -> Iterator[tuple[str, float]]:
        """The hosts that rest, each with the time of its next visit."""
        return self._state.schedule.clocks()

    def resting(self) -> int:
        """Hosts with waiting URLs that rest, O(1)."""
        return self._state.schedule.resting()

    def busiest(self, n: int) -> list[HostStats]:
        """The ``n`` hosts with the most waiting URLs, O(hosts)."""
        queues = self._state.schedule.busiest(n, lambda host: host.size)
        return [
            HostStats(str(host.name), host.size, first.record.score if first else None, host.due, host.leased)
            for host, first in ((host, host.best()) for host in queues)
        ]

    # ------------------------------------------------------------ for whoever writes the changes down

    def follow(self, follower: Callable[[Change], object]) -> None:
        """Call ``follower`` with each change from now on, after it happened."""
        self._follower = follower

    def replay(self, change: Change) -> None:
        """Let a change happen again. Raises ``KeyError`` when it does not fit."""
        self._state.apply(change)

    def history(self) -> Iterator[Change]:
        """The fewest changes whose replay leads an empty frontier here; a batch of Best-N-First is not among them."""
        return self._state.history()

    def recover(self, now: float) -> None:
        """After a replay: nobody holds the leases any more. Their URLs wait again, their hosts rest from ``now`` on."""
        for url in list(self._state.leases):
            self.release(url, now, 0.0)
        self._evict_surplus()

    # ------------------------------------------------------------ inside

    def _change(self, change: Change) -> None:
        self._state.apply(change)
        self._follower(change)

    def _rest(self, url: str, finish: float, seconds: float) -> None:
        host = queue_of(url)
        self._change(Rests(host, self._politeness.next_visit(host, finish, seconds)))

    def _return(self, url: str, not_before: float, picked: bool) -> None:
        if not picked:
            self._change(GaveBack(queue_of(url)))
        self._change(Returned(url, not_before))
        self._evict_surplus()

    def _make_room(self, score: float) -> bool:
        """Evict the worst URL when the frontier is full. False: a newcomer with ``score`` would itself be the worst."""
        if len(self._state.waiting) < self._limit:
            return True
        worst = self._state.worst()
        if worst is None or score <= worst.record.score:
            return False
        self._evict(worst)
        return True

    def _evict_surplus(self) -> None:
        while len(self._state.waiting) > self._limit and (worst := self._state.worst()):
            self._evict(worst)

    def _evict(self, entry: QueueEntry) -> None:
        self._change(Evicted(entry.record.key, self._state.evicted + 1))


def _refuse_endless(url: str, not_before: float) -> None:
    if not math.isfinite(not_before):
        raise ValueError(f"not_before must be finite, got {not_before!r}: {url!r}")


def _nobody(change: Change) -> None:
    """Follows a frontier that nobody follows."""
