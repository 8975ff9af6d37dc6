"""A read-only view of any kind of frontier, for a person's questions: its hosts, its best URLs, and why a URL waits."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from crawlproject.frontier.base import UrlState
from crawlproject.frontier.host_queue import queue_of
from crawlproject.records import CrawlUrl


class Counts(NamedTuple):
    """URLs that wait, are leased, and are done; hosts with waiting URLs; URLs dropped because the frontier was full."""

    waiting: int
    leased: int
    done: int
    hosts: int
    evicted: int


class FrontierView(Protocol):
    """A read-only view of a frontier. Times are seconds since the epoch."""

    kind: str
    """``memory``, ``disk`` or ``redis``."""

    def counts(self) -> Counts: ...

    def waiting(self) -> Iterator[CrawlUrl]:
        """The waiting URLs; among equal scores, in order of arrival."""
        ...

    def leased(self) -> Iterator[CrawlUrl]:
        """The URLs that are being fetched, or were when the crawl was killed."""
        ...

    def find(self, url: str) -> tuple[UrlState, CrawlUrl | None]:
        """The state of the URL, with its record if it waits or is leased; an empty state if it is not known."""
        ...

    def rests(self) -> Mapping[str, float]:
        """The hosts that rest, or rested until a past time, with the time of their next visit."""
        ...

    def blocks(self) -> Mapping[str, float]:
        """The hosts that are blocked, or were until a past time, with the end of the block."""
        ...

    def crawl_delays(self) -> Mapping[str, float]:
        """The hosts whose robots.txt asks for a delay, with the delay in seconds."""
        ...


@runtime_checkable
class RankedView(Protocol):
    """A view that finds its best URLs without going through all of them."""

    def best(self, n: int) -> list[CrawlUrl]:
        """The ``n`` best waiting URLs; among equal ones, those that arrived first."""
        ...


@runtime_checkable
class DrainingView(Protocol):
    """A view of several workers, one of which may be asked to leave."""

    def drain(self, worker: str) -> bool:
        """Let a worker give its hosts to the others, and end. False if there is no such worker, or it is leaving already."""
        ...


@dataclass(slots=True)
class HostRow:
    """A host with waiting or leased URLs.

    ``rests`` and ``blocked`` are the seconds from now until the end of its rest or its block; 0 without one.
    """

    host: str
    waiting: int = 0
    best: float | None = None
    leased: bool = False
    rests: float = 0.0
    blocked: float = 0.0
    crawl_delay: float = 0.0


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """The place of a URL. ``ahead`` waiting URLs come before it, ``ahead_on_host`` of them on its own host.

    ``held``: the seconds from now for which the URL itself is held.
    """

    url: str
    state: UrlState
    record: CrawlUrl | None
    host: HostRow
    ahead: int = 0
    ahead_on_host: int = 0
    held: float = 0.0


def host_rows(view: FrontierView, now: float) -> list[HostRow]:
    """The hosts, those with the most waiting URLs first. O(waiting URLs)."""
    rows: dict[str, HostRow] = {}
    for record in view.waiting():
        row = _row(rows, queue_of(record.url))
        row.waiting += 1
        if row.best is None or record.score > row.best:
            row.best = record.score
    for record in view.leased():
        _row(rows, queue_of(record.url)).leased = True
    rests, blocks, delays = view.rests(), view.blocks(), view.crawl_delays()
    for host, row in rows.items():
        row.rests = max(0.0, rests.get(host, 0.0) - now)
        row.blocked = max(0.0, blocks.get(host, 0.0) - now)
        row.crawl_delay = delays.get(host, 0.0)
    return sorted(rows.values(), key=lambda row: (-row.waiting, row.host))


def order_of(record: CrawlUrl) -> tuple[int, float]:
    """URLs are taken by class, then by score: the least first."""
    return record.precedence, -record.score


def best_waiting(view: FrontierView, n: int, host: str | None = None) -> list[CrawlUrl]:
    """The ``n`` best waiting URLs, of ``host`` if it is given; among equal ones, those that arrived first."""
    if host is None and isinstance(view, RankedView):
        return view.best(n)
    records: Iterator[CrawlUrl] = view.waiting()
    if host is not None:
        records = (record for record in records if queue_of(record.url) == host)
    return heapq.nsmallest(n, records, key=order_of)


def place_of(view: FrontierView, url: str, now: float) -> QueuePosition:
    """The place of ``url``, and how many URLs come before it. O(waiting URLs) if it waits."""
    state, record = view.find(url)
    row = HostRow(queue_of(url))
    row.rests = max(0.0, view.rests().get(row.host, 0.0) - now)
    row.blocked = max(0.0, view.blocks().get(row.host, 0.0) - now)
    row.crawl_delay = view.crawl_delays().get(row.host, 0.0)
    row.leased = any(queue_of(lease.url) == row.host for lease in view.leased())
    if state != "waiting" or record is None:
        return QueuePosition(url, state, record, row)
    ahead = ahead_on_host = 0
    passed = False  # among equals, those that arrived before it are ahead
    for other in view.waiting():
        passed = passed or other.key == url
        first = order_of(other) < order_of(record) or (order_of(other) == order_of(record) and not passed)
        mine = queue_of(other.url) == row.host
        ahead += first
        ahead_on_host += first and mine
        row.waiting += mine
    return QueuePosition(url, state, record, row, ahead, ahead_on_host, max(0.0, record.not_before - now))


def _row(rows: dict[str, HostRow], host: str) -> HostRow:
    row = rows.get(host)
    if row is None:
        row = rows[host] = HostRow(host)
    return row
