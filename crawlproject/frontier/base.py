"""The contract of every frontier. ``tests/contract`` runs each implementation through one suite.

**Order.** ``take`` gives the best URL of the lowest precedence class that has an eligible host; within a class the best-
scored URL, and equal scores leave first in, first out. A host is eligible when a URL of it waits that is not held, none of
it is leased, its politeness clock is due, it is not blocked, and the k rule allows it.

**Precedence** (as in Heritrix; the classes are in ``records``). A URL has a class, ``CrawlUrl.precedence``, and so has a
host, ``ACTIVE`` unless ``set_host_precedence`` says otherwise; one below ``ACTIVE`` counts as ``ACTIVE``. A URL waits in its
own class, but one that is not up to ``FIRST``, and whose host has a class above ``ACTIVE``, in the higher of the two. What is
``ACTIVE`` then, the floor may make ``SPARE`` or ``INACTIVE``. The class in which a host is visited is that of its first URL that
may be taken, by (own class, score, arrival). A host none of whose URLs may be taken yet is in the class of the host itself.

A host is *dormant* when no URL of it may be taken before some time: each is held, or the host is blocked. One that is only
resting, or being visited, is awake. ``set_ceiling`` says up to which class URLs are taken while a lower class has a host
that is awake. So the limit of a take is the ceiling or the lowest class with a host that is awake, whichever is higher:
with the highest ceiling, a host that is due is never left alone; with a lower one, the crawl waits for better hosts, as
long as there are any.

**The k rule** (paper 000 section 2.1, paper 003 section 4.1). Any k consecutive takes are of k different hosts while k or
more hosts wait. When fewer wait, the window is the number of hosts that wait; and when all hosts outside that window happen
to be in flight or resting, the eligible host picked longest ago is taken: the crawl never stops for the rule. For this, a
blocked host and one whose URLs are all held do not count as hosts that wait. A rule that is not strict never stops the
crawl, however many hosts wait. The rule concerns the hosts up to class ``ACTIVE``; others neither count nor are barred, but
their picks are remembered. Of these, the barred host that is picked longest ago comes before all hosts above ``ACTIVE``.

**The floor** (as the precedence floor of Heritrix). A host whose first URL scores below it is ``SPARE`` in place of
``ACTIVE``, and ``INACTIVE`` when that is below the second, lower floor as well. These two classes are the floor's to give:
while there is one, no URL and no host should have them of its own; on disk such URLs may not be taken in their turn.

**Commitments** (Best-N-First). Of the classes only those of URLs count under a commitment to more than one URL: the first N
by (own class, score, arrival) are committed. Classes of hosts, the ceiling and the floor change nothing; the k rule concerns
all hosts.

**A full frontier** evicts the URL of the highest class, of these the one of the lowest score, of these the latest. A newcomer
that would itself be that URL is refused; where newcomers stay, only when its class is higher than any that waits.

**Leases.** A taken URL is leased until ``done`` or ``release``. After a crash, leased URLs wait again.

**Revisits.** A URL whose visit is finished may wait for the next one: ``done`` with ``refetch_at`` lets it. It is then like
every URL that waits: held until its time, rescored, dropped, and evicted, so its score should be above those of new URLs.

**Holds and blocks.** No URL is taken before its ``not_before``, which ``hold`` changes, and none of a blocked host before
the end of the block (as BlockQueueUntil in url-frontier). Neither touches the politeness clock, scores, or places.

**Politeness.** The next visit of a host is at ``finish + max(min_delay, crawl_delay, factor * seconds)``. Hosts at one
address (``host_address``) are visited one at a time and rest together; the k rule tells them apart, and ``next_due`` may be
too early with them. A live crawl adds a few milliseconds to every rest (``factory.MARGIN``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from crawlproject.records import CrawlUrl

UrlState = Literal["waiting", "leased", "done", ""]
"""What a frontier knows of a URL; empty: nothing."""
LONGEST_BLOCK = 3_600.0  # seconds: no host is blocked for longer at a time


class BlockedHost(NamedTuple):
    """A host that is blocked ``until`` a time, and the ``best`` score that could be taken without the block, if any."""

    host: str
    until: float
    best: float | None


@runtime_checkable
class Frontier(Protocol):
    """What the scheduler, the pipelines and the rehearsal rely on. All times are seconds since the epoch."""

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``take`` may succeed without any other call in between.

        ``now`` or earlier when it may succeed at once; None when nothing waits, or when all that waits is behind leases.
        With a floor, a ceiling or classes it may be too early, as a URL whose time comes may be of a host that has to wait.
        """
        ...

    def blocked(self) -> Iterator[BlockedHost]:
        """The blocked hosts, O(blocked hosts).

        On disk, ``best`` is only sure after a ``take`` that found nothing, and not under a commitment or a floor.
        """
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

    def waiting_groups(self, now: float) -> Iterator[tuple[CrawlUrl, int]]:
        """The waiting URLs by host, class, and whether they are held at ``now``: one of each group, and how many they are.

        A group may come in pieces. On disk, O(groups) records are read.
        """
        ...

    def best(self) -> float | None:
        """The score of the waiting URL of the lowest class, the best of these; None when nothing waits.

        The classes of hosts, holds and floors are left aside; so are hosts of other workers. O(log n) in memory; on disk, a
        look at every host in memory.
        """
        ...

    def hosts(self) -> int:
        """Hosts with waiting URLs, O(1)."""
        ...

    def evicted(self) -> int:
        """URLs dropped so far because the frontier was full."""
        ...

    # ------------------------------------------------------------ what changes something

    def put(self, url: CrawlUrl) -> bool:
        """Offer a URL. True: it waits now. False: it is known already, or the frontier is full of better ones.

        A known URL that still waits takes over the new record when that has the lower class, or in the same class the higher
        score. Of the paths that led to it, the least depth stays, and the larger of each inherited value.
        """
        ...

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the best URL of an eligible host, or None when no host is eligible at ``now``."""
        ...

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        """End the lease of ``url`` whose fetch finished at ``now`` after ``seconds``; idempotent.

        Also marks a URL as known that was never taken here (a redirect's target fetched in passing).

        With ``refetch_at`` it waits again, in its old place, with this ``score`` (default: the old one), and is not taken
        before that time. So does one that waited. Of a URL that is neither leased nor waiting there is no record: it is done.
        """
        ...

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        """End the lease without finishing: the URL waits again, with its old score and place.

        The host's clock is set as by ``done``. ``picked=False`` gives the pick back to the host under the k rule: the
        fetch was a prerequisite (robots.txt), not the page.
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

    def hold(self, url: str, until: float) -> bool:
        """A waiting URL is not taken before ``until``; it keeps its score and place. 0: it may be taken at any time.

        The lease of a leased URL ends without a visit: the host's clock is as before the take, and the host gets its pick
        back. False when the URL neither waits nor is leased.
        """
        ...

    def set_precedence(self, url: str, precedence: int) -> bool:
        """A waiting URL waits in this class from now on; it keeps its score and place. Durable.

        The lease of a leased URL ends without a visit, as by ``hold(url, 0)``. False when the URL neither waits nor is leased.
        """
        ...

    def set_host_precedence(self, host: str, precedence: int) -> None:
        """The class of a host, known to the frontier or not; ``ACTIVE``: as others. Not durable."""
        ...

    def set_ceiling(self, precedence: int) -> None:
        """Up to which class URLs are taken while a lower class has a host that is awake; default ``WASTE``. Not durable."""
        ...

    def crawl_delay(self, host: str, seconds: float) -> None:
        """The host asks for at least ``seconds`` between visits (robots.txt ``Crawl-delay``); 0 takes it back."""
        ...

    def host_address(self, host: str, address: str) -> bool:
        """The host is at this address, as are all others of which that was said; empty: it is a server of its own.

        Known once a name is resolved, and forgotten when the frontier is closed. False: another host of the address is being
        visited, or it rests; if a URL of ``host`` is leased, its lease is to end by ``hold``.
        """
        ...

    def visit(self, host: str, now: float, beside: str = "") -> float:
        """Visit a host for what is no URL of the frontier (a script of a page, a robots.txt that a redirect leads to).

        ``now``: the visit has begun, and nothing of the host is taken until ``visited``. Later: it may be asked for then;
        infinity: the host is being visited. While a visit to the host ``beside`` goes on, one to another host of its address
        is part of that. Not durable.
        """
        ...

    def visited(self, host: str, now: float, seconds: float) -> None:
        """Such a visit has ended at ``now`` after ``seconds``: the host rests as after any other."""
        ...

    def block_host(self, host: str, until: float) -> None:
        """No URL of the host is taken before ``until``, whatever was said before; 0, or a time that is past, lifts it."""
        ...

    def set_floor(self, floor: float, spare: float | None = None) -> None:
        """The scores from which a host is active, and spare (default: no host is). ``-inf``: no floor, the default.

        Not durable.
        """
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


@runtime_checkable
class DurableFrontier(Protocol):
    """A frontier that lies in files beside those of the history, and notices when these have lost what it knows."""

    @property
    def history_lines(self) -> int:
        """Lines of the history, as ``record_lines`` said last."""
        ...

    def record_lines(self, lines: int) -> None:
        """The history has so many lines. Durable with the next operation."""
        ...

    def state_of(self, url: str) -> UrlState:
        """What is known of a URL."""
        ...

    def finished(self, known: Callable[[str], bool] | None = None) -> Iterator[CrawlUrl]:
        """The URLs that are done, but those whose keys are ``known``, in no particular order.

        A frontier may know no more of them than their keys.
        """
        ...

    def forget(self, url: str) -> None:
        """A URL that is done is not known any more."""
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
    """A frontier that describes its hosts while a crawl runs, at a cost that does not grow with the number of URLs."""

    def busiest(self, n: int) -> list[HostStats]:
        """The ``n`` hosts with the most waiting URLs, of those that the schedule has in memory. O(hosts in memory)."""
        ...
