"""A read-only view of a frontier, of whatever kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from crawlproject.frontier.base import UrlState
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
        """The waiting URLs; of equal scores, those that came first are first."""
        ...

    def leased(self) -> Iterator[CrawlUrl]:
        """The URLs that are being fetched, or were when the crawl was killed."""
        ...

    def find(self, url: str) -> tuple[UrlState, CrawlUrl | None]:
        """Where the URL is, with its record when it waits or is leased; an empty state: it is not known."""
        ...

    def rests(self) -> Mapping[str, float]:
        """The hosts whose clock runs, or ran out unnoticed, with the time of their next visit."""
        ...

    def blocks(self) -> Mapping[str, float]:
        """The hosts that are blocked, or were until a time that is past, with the end of the block."""
        ...

    def crawl_delays(self) -> Mapping[str, float]:
        """The hosts whose robots.txt asks for a delay, with the seconds."""
        ...


@runtime_checkable
class RankedView(Protocol):
    """A view that finds its best URLs without going through all of them."""

    def best(self, n: int) -> list[CrawlUrl]:
        """The ``n`` waiting URLs with the highest scores, of equal ones those that came first."""
        ...
