"""Hints of changed pages in sitemaps and feeds, and what the hints of each host have proved to be worth.

A page whose date in a listing is later than its last visit is due at once, if its host is believed: a few pages at first, then
more with each hint that proves true. A host whose hints prove false is soon believed no more. Its pages are then visited as the
policy plans, and what these visits show may restore the belief.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from crawlproject.parts.listings.feeds import moment
from crawlproject.parts.listings.listing import Entry
from crawlproject.parts.revisits.collection import CollectedPage, Collection
from crawlproject.records import CHANGED, GONE, MISSING, MOVED, Visit
from crawlproject.urls.hosts import host_of

HINTED = "hinted"  # sign of a visit: a listing had stated that the page has changed

_DAY = 86_400.0
_AT_ONCE = 4  # hints of a host that are tried at once before any has proved true
_TRUE = (CHANGED, MISSING, GONE, MOVED)
_PRIOR = 2.0, 1.0  # true and false hints of each host before any was tried


class _Host:
    """How often the hints of a host were true, and the rows that wait for a try."""

    __slots__ = ("open", "truth", "waiting")

    def __init__(self) -> None:
        self.truth = Truth()
        self.open = 0  # hints that are being tried
        self.waiting: deque[int] = deque()


class Hints:
    """The hints of a crawl. ``due`` are the rows to visit now. Hints of hosts that are not believed are noted all the same."""

    def __init__(self, collection: Collection) -> None:
        self.due: set[int] = set()
        self._collection = collection
        self._noted: dict[int, str] = {}  # row -> the latest date that a listing gave
        self._hosts: dict[str, _Host] = {}

    def truth(self, host: str) -> float:
        """The share of a host's hints that is expected to be true."""
        return (self._hosts.get(host) or _Host()).truth.share

    def read(self, entries: Iterable[Entry], now: float) -> list[CollectedPage]:
        """Read the entries of a listing; return the pages that are due now."""
        found: list[CollectedPage] = []
        for url, date, *_ in entries:
            at = _latest(date)
            if not 0.0 < at <= now + _DAY:
                continue
            page = self._collection.find(url)
            if page is None or page.is_away or at <= page.at or self._noted.get(page.row) == date:
                continue
            self._noted[page.row] = date
            host = self._hosts.setdefault(host_of(url), _Host())
            host.waiting.append(page.row)
            found += self._release(host)
        return found

    def shown(self, visit: Visit, row: int) -> list[CollectedPage]:
        """Learn from a visit of a page, live or replayed; return the pages of its host that are due now because of it."""
        if HINTED not in visit.signs:
            return []
        host = self._hosts.setdefault(host_of(visit.url), _Host())
        host.open -= row in self.due
        self.due.discard(row)
        if not visit.change:
            return []
        host.truth.add(visit.change in _TRUE)
        return self._release(host)

    def is_hinted(self, page: CollectedPage) -> bool:
        """Whether a listing has said that the page has changed since its last visit."""
        return _latest(self._noted.get(page.row, "")) > page.at

    def _release(self, host: _Host) -> list[CollectedPage]:
        found = []
        while host.waiting and host.truth.is_believed and host.open < _AT_ONCE + 2 * host.truth.true:
            row = host.waiting.popleft()
            page = self._collection[row]
            if not page.is_away and self.is_hinted(page):
                host.open += 1
                self.due.add(row)
                found.append(page)
        if not host.truth.is_believed:
            host.waiting.clear()
        return found


def _latest(date: str) -> float:
    """In seconds since the epoch: the end of the day if ``date`` is a day, the moment if it has a time; 0 if it is no date."""
    at = moment(date)
    return at + _DAY - 1.0 if at and len(date.strip()) == 10 else at


class Truth:
    """How many of the hints that were tried were true."""

    __slots__ = ("false", "true")

    def __init__(self) -> None:
        self.true = self.false = 0

    def add(self, was_true: bool) -> None:
        self.true += was_true
        self.false += not was_true

    @property
    def share(self) -> float:
        """The share of hints that is expected to be true."""
        return (self.true + _PRIOR[0]) / (self.true + self.false + sum(_PRIOR))

    @property
    def is_believed(self) -> bool:
        return self.share >= 0.5
