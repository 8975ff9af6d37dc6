"""Servers say for how long a page will be as it is. What that is worth is learned of each host.

It is a promise, and a hint. A page is not visited before the end of its lifetime, as far as its host has kept such promises; and
it is visited at the end, a little before its turn, if the pages of its host mostly change then.
"""

from __future__ import annotations

from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.table import Table
from crawlproject.parts.revisits.truth import Truth
from crawlproject.records import CHANGED, Visit
from crawlproject.urls.hosts import host_of

_CHANGES = 0.05  # that are expected in a lifetime which is believed
_PRIOR = 1.0  # changes of each host before any was seen
_LATE = 1.5  # lifetimes after a visit: a change that is found by then may have been made at the end of the lifetime
_EARLY = 0.5  # of the interval that is planned: the earliest end of a lifetime that a visit is brought forward to


class _Promises:
    __slots__ = ("broken", "ends", "kept")

    def __init__(self) -> None:
        self.kept = 0.0  # seconds of lifetimes
        self.broken = 0  # changes in them
        self.ends = Truth()  # of ends of lifetimes: whether the page had changed

    @property
    def believed(self) -> float:
        """Seconds of a lifetime in which ``_CHANGES`` are expected."""
        return _CHANGES * self.kept / (_PRIOR + self.broken)


class Lifetimes:
    """12 bytes a page. ``shortest``: lifetimes below so many seconds say nothing."""

    def __init__(self, shortest: float) -> None:
        self._shortest = max(shortest, 1.0)
        self._last = Table(at=("f8", 0.0), lifetime=("f4", 0.0))
        self._hosts: dict[str, _Promises] = {}

    def shown(self, visit: Visit, row: int) -> None:
        """A visit of the page in this row that showed something, live or replayed."""
        self._last.grow(row + 1)
        at, lifetime = float(self._last["at"][row]), float(self._last["lifetime"][row])
        if visit.number > 1 and lifetime >= self._shortest and visit.at > at > 0.0:
            self._learn(self._hosts.setdefault(host_of(visit.url), _Promises()), visit, visit.at - at, lifetime)
        self._last["at"][row] = visit.at
        self._last["lifetime"][row] = visit.lifetime or (lifetime if visit.status == 304 else 0.0)

    def next_visit(self, page: CollectedPage, planned: float) -> float:
        """When a page is visited that is planned for a time, in seconds since the epoch."""
        if page.row >= self._last.rows:
            return planned
        lifetime = float(self._last["lifetime"][page.row])
        if lifetime < self._shortest:
            return planned
        host = self._hosts.get(host_of(page.url)) or _Promises()
        if planned < page.at + lifetime:
            return max(planned, page.at + min(lifetime, host.believed))
        is_near = lifetime >= _EARLY * (planned - page.at)
        return page.at + lifetime if is_near and host.ends.is_believed else planned

    @staticmethod
    def _learn(host: _Promises, visit: Visit, since: float, lifetime: float) -> None:
        changed = visit.change == CHANGED
        if since < lifetime:
            host.kept += since
            host.broken += changed
            return
        if not changed:
            host.kept += lifetime
        if since <= _LATE * lifetime:
            host.ends.add(changed)
