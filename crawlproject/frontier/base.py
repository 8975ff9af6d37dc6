"""The contract of every frontier. ``tests/contract`` runs each implementation through one suite.

**Order.** ``take`` returns the best URL of the lowest precedence class that has an eligible host: within a class the URL
with the highest score, and among equal scores the one that arrived first. A host is eligible when it has a waiting URL that is
not held, none of its URLs is leased, its politeness clock is due, it is not blocked, and the k rule allows it.

**Precedence** (as in Heritrix; ``records`` lists the classes). Every URL has a class, ``CrawlUrl.precedence``. So has every
host: ``ACTIVE`` unless ``set_host_precedence`` sets another; a class below ``ACTIVE`` counts as ``ACTIVE``. A URL above
``FIRST`` whose host is above ``ACTIVE`` waits in the higher of the two classes; any other URL waits in its own. The floor may
then turn ``ACTIVE`` into ``SPARE`` or ``INACTIVE``. A host is visited in the class of its first URL that may be taken, by (own
class, score, arrival). If none of its URLs may be taken yet, the host's own class applies.

A host is *dormant* while no URL of it may be taken before a certain time: all are held, or the host is blocked. A host that
only rests, or is being visited, is awake. ``set_ceiling`` sets the highest class from which URLs are taken while a host of a
lower class is awake. The limit of a take is therefore the ceiling or the lowest class with an awake host, whichever is
higher: with the highest ceiling, a host that is due never stays idle; with a lower one, the crawl waits for better hosts, as
long as there are any.

**The k rule** (paper 000 section 2.1, paper 003 section 4.1). Any k consecutive takes are of k different hosts while k or
more hosts wait. When fewer wait, the window shrinks to their number, and the crawl never stops for the rule: if all hosts
outside the window are in flight or resting, the eligible host picked longest ago is taken. For this purpose, hosts that are
blocked or whose URLs are all held do not count as waiting. If the rule is not strict, the crawl never stops for it, however
many hosts wait. The rule applies to hosts up to class ``ACTIVE``; other hosts neither count nor are barred, but their picks
are remembered. If the rule allows a barred host, the one picked longest ago comes before all hosts above ``ACTIVE``.

**The floor** (as the precedence floor of Heritrix). A host whose first URL scores below the floor is ``SPARE`` instead of
``ACTIVE``, and ``INACTIVE`` if that score is also below the second, lower floor. While a floor is set, only the floor should
assign these two classes, not the caller: on disk, URLs that were given them directly may be taken out of order.

**Commitments** (Best-N-First). Under a commitment to more than one URL, only the classes of URLs count: the first N by (own
class, score, arrival) are committed. Host classes, the ceiling and the floor have no effect, and the k rule applies to all
hosts.

**A full frontier** evicts the URL with the highest class, then the lowest score, then the latest arrival. A newcomer that
would itself be evicted is refused. If newcomers stay, it is refused only when its class is higher than any that waits.

**Leases.** A taken URL is leased until ``done`` or ``release``. After a crash, leased URLs wait again.

**Revisits.** ``done`` with ``refetch_at`` lets a URL wait for its next visit. It is then like every other waiting URL: it is
held until its time, and may be rescored, dropped or evicted. So its score should be above those of new URLs.

**Holds and blocks.** No URL is taken before its ``not_before``, which ``hold`` changes, and no URL of a blocked host before
the end of the block (as BlockQueueUntil in url-frontier). Neither changes the politeness clock, scores, or places.

**Politeness.** The next visit to a host is at ``finish + max(min_delay, crawl_delay, factor * seconds)``. Hosts at one
address (``host_address``) are visited one at a time and rest together. The k rule treats them as different hosts, and
``next_due`` may be too early for them. A live crawl adds a few milliseconds to every rest (``factory.MARGIN``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from crawlproject.records import CrawlUrl

UrlState = Literal["waiting", "leased", "done", ""]
"""What a frontier knows of a URL; empty: nothing."""


class BlockedHost(NamedTuple):
    """A host that is blocked ``until`` a time, and the ``best`` score that could be taken without the block, if any."""

    host: str
    until: float
    best: float | None


@runtime_checkable
class Frontier(Protocol):
    """What the scheduler, the pipelines and the rehearsal rely on. All times are in seconds since the epoch."""

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``take`` may succeed without any other call in between.

        ``now`` or earlier when it may succeed at once; None when nothing waits, or when leases block all that waits. With a
        floor, a ceiling or classes the time may be too early: the URL that becomes due may be of a host that has to wait.
        """
        ...

    def blocked(self) -> Iterator[BlockedHost]:
        """The blocked hosts, O(blocked hosts).

        On disk, ``best`` is reliable only after a ``take`` that found nothing, and never under a commitment or a floor.
        """
        ...

    def __len__(self) -> int:
        """Waiting URLs, O(1)."""
        ...

    def __contains__(self, url: str) -> bool:
        """Whether the URL is known, that is, waits, is leased, or is done. An evicted URL is not known."""
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
        """One waiting URL of each group, and the size of the group. Groups: by host, class, and whether held at ``now``.

        A group may come in pieces. On disk, O(groups) records are read.
        """
        ...

    def best(self) -> float | None:
        """The highest score among the waiting URLs of the lowest class; None when nothing waits.

        Ignores the classes of hosts, holds, floors, and the hosts of other workers. O(log n) in memory; on disk, it looks at
        every host in memory.
        """
        ...

    def hosts(self) -> int:
        """Hosts with waiting URLs, O(1)."""
        ...

    def evicted(self) -> int:
        """URLs dropped so far because the frontier was full."""
        ...

    # ------------------------------------------------------------ operations that change the frontier

    def put(self, url: CrawlUrl) -> bool:
        """Offer a URL. True if it now waits; False if it was known already, or the frontier is full of better ones.

        A known URL that still waits takes over the new record if that has a lower class, or the same class and a higher score.
        Of all paths to the URL, the frontier keeps the least depth and the largest of each inherited value.
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

        With ``refetch_at``, a URL that was leased or waiting waits again, in its old place, with this ``score`` (default: the
        old one), and is not taken before that time. Any other URL has no record, and is done all the same.
        """
        ...

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        """End the lease without finishing: the URL waits again, with its old score and in its old place.

        The host's clock is set as by ``done``. ``picked=False`` gives the pick back to the host under the k rule: the
        fetch was a prerequisite (robots.txt), not the page.
        """
        ...

    def drop(self, url: str, *, picked: bool = False) -> None:
        """End the lease of ``url`` without a fetch: the URL is known from now on, and the host's clock is as before the take.

        The host gets its pick back, unless ``picked``: then the host was tried in vain.
        """
        ...

    def rescore(self, url: str, score: float) -> bool:
        """Give a waiting URL a new score, higher or lower. False if it does not wait."""
        ...

    def hold(self, url: str, until: float) -> bool:
        """Do not take a waiting URL before ``until`` (0: no limit). The URL keeps its score and place.

        Ends the lease of a leased URL without a visit: the host's clock is as before the take, and the host gets its pick
        back. False if the URL neither waits nor is leased.
        """
        ...

    def set_precedence(self, url: str, precedence: int) -> bool:
        """Let a waiting URL wait in this class from now on. The URL keeps its score and place. Durable.

        Ends the lease of a leased URL without a visit, as ``hold(url, 0)`` does. False if the URL neither waits nor is leased.
        """
        ...

    def set_host_precedence(self, host: str, precedence: int) -> None:
        """Set the class of a host, whether the frontier knows it or not; ``ACTIVE`` is the default. Not durable."""
        ...

    def set_ceiling(self, precedence: int) -> None:
        """Set the highest class taken from while a host of a lower class is awake; default ``WASTE``. Not durable."""
        ...

    def crawl_delay(self, host: str, seconds: float) -> None:
        """Wait at least ``seconds`` between visits to the host (robots.txt ``Crawl-delay``); 0 lifts the limit."""
        ...

    def host_address(self, host: str, address: str) -> bool:
        """Note the address of the host: hosts with one address are one server; empty: the host is a separate server.

        Called once a name is resolved; forgotten when the frontier is closed. False if another host at the address is being
        visited, or the address rests; if a URL of ``host`` is leased, the caller then ends that lease by ``hold``.
        """
        ...

    def visit(self, host: str, now: float, beside: str = "") -> float:
        """Visit a host for something that is not a URL of the frontier (a page's script, the target of a robots.txt redirect).

        Returns ``now`` if the visit has begun: then no URL of the host is taken until ``visited``. A later time means: ask again
        then; infinity means that the host is being visited. During a visit to the host ``beside``, a visit to another host at
        its address counts as part of that one. Not durable.
        """
        ...

    def visited(self, host: str, now: float, seconds: float) -> None:
        """End such a visit at ``now`` after ``seconds``: the host rests as after any other visit."""
        ...

    def block_host(self, host: str, until: float) -> None:
        """Take no URL of the host before ``until``, whatever an earlier call said; 0 or a past time lifts the block."""
        ...

    def set_floor(self, floor: float, spare: float | None = None) -> None:
        """Set the scores from which a host is active, and spare (default: no host is). ``-inf``, the default: no floor.

        Not durable.
        """
        ...

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        """Offer several URLs. Return how many wait now that did not wait before."""
        ...

    def batch(self) -> AbstractContextManager[None]:
        """Make everything done inside one atomic step: after a crash, all of it or none of it has happened. Not nested."""
        ...

    def close(self) -> None:
        """Save what must be saved. The frontier must not be used afterwards."""
        ...


@runtime_checkable
class CountingFrontier(Protocol):
    """A frontier that may hold too many URLs to go through them all: it counts the URLs of each host."""

    def urls_of_host(self, url: str) -> int:
        """Known URLs of the host of ``url``: those that wait, are leased, or are done."""
        ...


@runtime_checkable
class DurableFrontier(Protocol):
    """A frontier in files beside the history files. It can detect that these have lost visits that it knows of."""

    @property
    def history_lines(self) -> int:
        """Lines of the history, as the last ``record_lines`` reported."""
        ...

    def record_lines(self, lines: int) -> None:
        """Note that the history has this many lines. Durable with the next operation."""
        ...

    def state_of(self, url: str) -> UrlState:
        """What is known of a URL."""
        ...

    def finished(self, known: Callable[[str], bool] | None = None) -> Iterator[CrawlUrl]:
        """The URLs that are done, except those whose keys are ``known``, in no particular order.

        A frontier may keep nothing but their keys.
        """
        ...

    def forget(self, url: str) -> None:
        """Forget a URL that is done: it is no longer known."""
        ...


class HostStats(NamedTuple):
    """A host of the frontier: its waiting URLs, the best score that may be taken, the next visit (seconds since the epoch)."""

    host: str
    waiting: int
    best: float | None
    due: float
    leased: bool


@runtime_checkable
class WatchedFrontier(Protocol):
    """A frontier that describes its hosts while a crawl runs, at a cost independent of the number of URLs."""

    def busiest(self, n: int) -> list[HostStats]:
        """The ``n`` hosts with the most waiting URLs, among those that the schedule has in memory. O(hosts in memory)."""
        ...
