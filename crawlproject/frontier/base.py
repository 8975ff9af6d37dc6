"""The contract of every frontier. ``tests/contract`` runs each implementation through one suite.

**Order.** ``take`` gives the best-scored URL among the eligible hosts; equal scores leave first in, first out. A host is
eligible when a URL of it waits, none of it is leased, its politeness clock is due, and the k rule allows it.

**The k rule** (paper 000 section 2.1, paper 003 section 4.1). Any k consecutive takes are of k different hosts while k or
more hosts wait. When fewer wait, the window is the number of hosts that wait; and when all hosts outside that window
happen to be in flight or resting, the eligible host picked longest ago is taken: the crawl never stops for the rule.

**Leases.** A taken URL is leased until ``done`` or ``release``. After a crash, leased URLs wait again.

**Politeness.** The next visit of a host is at ``finish + max(min_delay, crawl_delay, factor * seconds)``.
A live crawl adds a few milliseconds to every rest (``frontiers.MARGIN``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, runtime_checkable

from crawlproject.records import CrawlUrl


@runtime_checkable
class Frontier(Protocol):
    """What the scheduler, the pipelines and the rehearsal rely on. All times are seconds since the epoch."""

    def put(self, url: CrawlUrl) -> bool:
        """Offer a URL. True: it waits now. False: it is known already, or the frontier is full of better ones.

        A known URL that still waits takes over the new record when that has the higher score.
        """
        ...

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the best URL of an eligible host, or None when no host is eligible at ``now``."""
        ...

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``take`` may succeed without any other call in between.

        ``now`` or earlier when it may succeed at once; None when nothing waits, or when all that waits is behind leases.
        """
        ...

    def done(self, url: str, now: float, seconds: float) -> None:
        """End the lease of ``url`` whose fetch finished at ``now`` after ``seconds``; idempotent.

        Also marks a URL as known that was never taken here (a redirect's target fetched in passing).
        """
        ...

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        """End the lease without finishing: the URL waits again, with its old score and place in line.

        The host's clock is set as by ``done``. ``picked=False`` gives the pick back to the host under the k rule: the
        fetch was a prerequisite (robots.txt), not the page.
        """
        ...

    def postpone(self, url: str, not_before: float) -> None:
        """End the lease without a visit: the URL waits again with its old score and place in line, until ``not_before``.

        The host's clock is as before the take, and the host gets its pick back. Without a lease nothing happens.
        """
        ...

    def drop(self, url: str, *, picked: bool = False) -> None:
        """End the lease of ``url`` without a fetch: known from now on, the host's clock as before the take.

        The host gets its pick back, unless ``picked``: then the host was tried, in vain.
        """
        ...

    def rescore(self, url: str, score: float) -> bool:
        """Give a waiting URL a new score, higher or lower. False when it does not wait."""
        ...

    def withdraw(self, url: str) -> bool:
        """Take a waiting URL out as if it had never been offered: it may be put again. False when it does not wait."""
        ...

    def crawl_delay(self, host: str, seconds: float) -> None:
        """The host asks for at least ``seconds`` between visits (robots.txt ``Crawl-delay``); 0 takes it back."""
        ...

    def __len__(self) -> int:
        """Waiting URLs, O(1)."""
        ...

    def __contains__(self, url: str) -> bool:
        """Whether the URL is known: waits, is leased, or is done. An evicted URL is not."""
        ...

    def leased(self, url: str) -> CrawlUrl | None:
        """The record of an open lease, or None."""
        ...

    def leases(self) -> int:
        """Open leases, O(1)."""
        ...

    def waiting(self) -> Iterator[CrawlUrl]:
        """The waiting URLs, in no particular order."""
        ...

    def best(self) -> float | None:
        """The best waiting score (amortised O(log n)), or None when nothing waits."""
        ...

    def hosts(self) -> int:
        """Hosts with waiting URLs, O(1)."""
        ...

    def evicted(self) -> int:
        """URLs dropped so far because the frontier was full."""
        ...

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        """Offer several URLs; how many of them wait now that did not before."""
        ...

    def batch(self) -> AbstractContextManager[None]:
        """Everything done inside is one atomic step for whoever reopens the frontier after a crash. Not nested."""
        ...

    def close(self) -> None:
        """Save what must be saved; the frontier is not used afterwards."""
        ...


@runtime_checkable
class CountingFrontier(Protocol):
    """A frontier that may hold so many URLs that nobody can go through them all: it counts those of each host."""

    def urls_of_host(self, url: str) -> int:
        """Known URLs of the host of ``url``: those that wait, are leased, or are done."""
        ...


class HostStats(NamedTuple):
    """A host of the frontier: URLs that wait, score of the best that may go, next visit (seconds since the epoch)."""

    host: str
    waiting: int
    best: float | None
    due: float
    leased: bool


@runtime_checkable
class WatchedFrontier(Protocol):
    """A frontier that tells of its hosts while a crawl runs, at a cost that does not grow with the number of URLs."""

    def busiest(self, n: int) -> list[HostStats]:
        """The ``n`` hosts with the most waiting URLs, of those that the schedule has in memory. O(hosts in memory)."""
        ...


@runtime_checkable
class SparingFrontier(Protocol):
    """A frontier whose k rule need not wait for hosts that have no URL that may go."""

    def spare_dormant(self) -> None:
        """From now on, a host whose URLs all have a ``not_before`` to come does not count as one that waits when the k rule
        would otherwise stop the crawl.
        """
        ...
