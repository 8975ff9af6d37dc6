"""Measures of the freshness of a collection, from the visits of a simulation and the histories (paper 004, 5.1 and 5.2)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from crawlproject.evaluation.freshness.simulation import SiteCollection, VisitLog
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY


@dataclass(slots=True)
class Totals:
    """Sums over pages, weighted by the worth of each page. Totals of sites can be added.

    A page counts from its first visit until it was seen to be gone, or until its record ends. ``time`` (s) is the total of
    these periods, ``fresh`` the part in which the copy had the text of the page, ``content`` the same weighted by the share
    of text in common, ``age`` (s²) the integral of the time since the first change that the copy lacks. Unweighted:
    ``changes`` of the texts of all pages, visited or not, and how many were ``captured``; ``delay`` (s), the summed time
    from a change of a known page to the next visit, over ``delays`` changes; pages ``born``, how many were ``found``, and
    ``wait`` (s), the summed time from their appearance to their first visit; ``visits``, and how many were ``useful``, that
    is, found a change.
    """

    time: float = 0.0
    fresh: float = 0.0
    content: float = 0.0
    age: float = 0.0
    changes: int = 0
    captured: int = 0
    delay: float = 0.0
    delays: int = 0
    born: int = 0
    found: int = 0
    wait: float = 0.0
    visits: int = 0
    useful: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(Totals)))

    @property
    def freshness(self) -> float:
        """Time-averaged share of pages that are up to date: binary freshness."""
        return self.fresh / self.time if self.time else 0.0

    @property
    def content_freshness(self) -> float:
        """Time-averaged share of text that is up to date: the Jaccard similarity of copy and page."""
        return self.content / self.time if self.time else 0.0

    @property
    def age_days(self) -> float:
        return self.age / self.time / SECONDS_A_DAY if self.time else 0.0

    @property
    def captured_share(self) -> float:
        return self.captured / self.changes if self.changes else 0.0

    @property
    def delay_days(self) -> float:
        return self.delay / self.delays / SECONDS_A_DAY if self.delays else 0.0

    @property
    def wait_days(self) -> float:
        """Mean time from the appearance of a page to its first visit."""
        return self.wait / self.found / SECONDS_A_DAY if self.found else 0.0


def measure(collection: SiteCollection, log: VisitLog) -> list[Totals]:
    """The totals of each site of the collection."""
    totals = [Totals() for _ in collection.sites]
    order = np.argsort(np.array(log.pages, dtype=np.int64), kind="stable")
    visits: list[list[tuple[float, int]]] = [[] for _ in collection.members]
    for index in order.tolist():
        visits[log.pages[index]].append((log.times[index], log.versions[index]))
    for page, of_page in enumerate(visits):
        _add_page(totals[collection.members[page].site], collection, page, of_page)
    return totals


def _add_page(total: Totals, collection: SiteCollection, page: int, visits: list[tuple[float, int]]) -> None:
    member = collection.members[page]
    history, shift = member.history, member.shift
    enters, leaves = collection.enters[member.site], collection.leaves[member.site]
    times = history.times + shift
    changed = np.flatnonzero(np.diff(history.texts)) + 1
    changed = changed[(times[changed] > enters) & (times[changed] < leaves)]
    born = enters < times[0] < leaves
    total.changes += len(changed)
    total.born += born
    if born and visits:
        total.found += 1
        total.wait += visits[0][0] - times[0]
    total.visits += len(visits)
    copy = -1
    ends = [time for time, _ in visits[1:]] + [leaves]
    for (time, version), until in zip(visits, ends[: len(visits)], strict=True):
        if version >= 0 and copy >= 0 and history.texts[version] != history.texts[copy]:
            total.useful += 1
            total.captured += 1
        copy = version
        if copy >= 0:
            _add_period(total, collection, page, copy, time, until)
    if visits and len(changed):
        at = np.array([time for time, _ in visits])
        known = times[changed]
        known = known[known > at[0]]
        following = np.searchsorted(at, known)
        ends = np.append(at, leaves)[following]
        total.delay += float((ends - known).sum())
        total.delays += len(known)


def _add_period(total: Totals, collection: SiteCollection, page: int, copy: int, time: float, until: float) -> None:
    """Add the period between two visits, the first of which saw version ``copy``."""
    member, weight = collection.members[page], float(collection.weights[page])
    history, shift = member.history, member.shift
    length = until - time
    total.time += weight * length
    last = int(np.searchsorted(history.times, until - shift, side="left")) - 1
    gone = [(start + shift, end + shift) for start, end in history.gone if start + shift < until and end + shift > time]
    if last == copy and not gone:
        total.fresh += weight * length
        total.content += weight * length
        return
    edges = sorted({time, until, *(history.times[copy + 1 : last + 1] + shift).tolist(), *_inside(gone, time, until)})
    stale_since = None
    for start, end in pairwise(edges):
        version = history.version_at(start - shift)
        absent = any(a <= start < b for a, b in gone)
        distance = 1.0 if absent else history.distance(copy, version)
        if distance == 0:
            total.fresh += weight * (end - start)
            stale_since = None
        else:
            stale_since = start if stale_since is None else stale_since
            total.age += weight * ((end - stale_since) ** 2 - (start - stale_since) ** 2) / 2
        total.content += weight * (1 - distance) * (end - start)


def _inside(periods: list[tuple[float, float]], start: float, end: float) -> list[float]:
    return [edge for period in periods for edge in period if start < edge < end]
