"""Compares revisit policies on the same changes with the same budget: the lines of ``scrapy rehearse --revisit``.

The changes may come from a crawl that revisits pages: its visits are read as change histories. The bound could only be
reached by a crawler that knows all changes before they happen.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from crawlproject.errors import BadInput
from crawlproject.evaluation.freshness.histories import PageHistory, SiteHistory, Sketch, find_histories, read_site
from crawlproject.evaluation.freshness.measures import Totals, measure
from crawlproject.evaluation.freshness.simulation import Simulation, SiteCollection
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array
from crawlproject.parts.revisits.registry import make_policy
from crawlproject.records import BACK, GONE, MISSING, MOVED, Visit
from crawlproject.storage.read import HISTORY, LINKS, read_links, read_visits
from crawlproject.urls.hosts import host_of

BASE = "uniform"
SHORTEST = 7.0  # shortest record that can be used, in days
HASHES = 100  # size of the sketch made up for a text: a new version replaces the share of hashes that is new

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: its multiples are spread evenly, like hashes


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """The result of a policy: the totals of all sites, and of each site in the order of the collection.

    ``fetches`` of ``budget`` were spent. ``given_up`` is the share of the pages that are never visited again. ``oracle`` is
    an upper bound of the freshness of any policy.
    """

    policy: str
    total: Totals
    sites: tuple[Totals, ...]
    fetches: int
    budget: float
    given_up: float
    oracle: float

    def share(self, base: PolicyRun) -> float | None:
        """The gain in freshness over ``base``, as a share of the largest possible gain; None if no gain is possible."""
        room = self.oracle - base.total.freshness
        return (self.total.freshness - base.total.freshness) / room if room > 0 else None

    def line(self, base: PolicyRun) -> dict[str, Any]:
        """The measures by name, rounded; those without evidence are None."""
        total = self.total
        figures = {
            "freshness": total.freshness,
            "share": self.share(base),
            "content_freshness": total.content_freshness,
            "age_days": total.age_days,
            "captured_share": total.captured_share if total.changes else None,
            "delay_days": total.delay_days if total.delays else None,
            "wait_days": total.wait_days if total.found else None,
            "given_up": self.given_up,
            "oracle": self.oracle,
        }
        rounded = {name: None if figure is None else round(figure, 4) for name, figure in figures.items()}
        counts = {"changes": total.changes, "new": total.born, "new_found": total.found, "fetches": self.fetches}
        counts = {name: int(count) for name, count in counts.items()}  # some counts are NumPy numbers
        return {"policy": self.policy, **rounded, **counts}


def run_policy(
    collection: SiteCollection, name: str, days: float, *, last_modified: bool = False, pause: float = 0.0
) -> PolicyRun:
    """Simulate a policy with a budget of one visit per page in ``days`` on average. Raises ``BadSetting`` for a bad name."""
    policy = make_policy(name)
    log = Simulation(collection, policy, days=days, last_modified=last_modified, pause=pause).run()
    sites = measure(collection, log)
    due = policy.next_visits()
    given_up = float(np.isinf(due).mean()) if len(due) else 0.0
    bound = freshness_bound(collection, log.budget)
    return PolicyRun(name, reduce(Totals.__add__, sites), tuple(sites), log.fetches, log.budget, given_up, bound)


def compare_policies(collection: SiteCollection, names: Sequence[str], days: float) -> Iterator[dict[str, Any]]:
    """A line for each policy, in the given order; ``share`` is relative to ``uniform``, which is always run."""
    base = run_policy(collection, BASE, days)
    for name in names:
        yield {**(base if name == BASE else run_policy(collection, name, days)).line(base), "days": days}


def open_collection(folder: Path) -> SiteCollection:
    """Read a folder of change histories, or a crawl folder, whose pages are weighted by relevance. Raises ``BadInput``."""
    if (folder / HISTORY).exists():
        return _crawled(folder)
    return SiteCollection([read_site(path) for path in find_histories(folder)])


@dataclass(slots=True)
class _VisitedPage:
    """A page, from its visits. A change is dated half-way between the visit that saw it and the previous visit."""

    url: str
    born: float
    weight: float
    last: float
    times: list[float] = field(default_factory=list)
    texts: list[Sketch] = field(default_factory=list)  # the hashes of each version, oldest first
    gone: list[tuple[float, float]] = field(default_factory=list)
    version: int = 0

    def see(self, visit: Visit) -> None:
        if visit.number > 1 and not visit.change:
            return  # it failed
        between = (self.last + visit.at) / 2
        away = bool(self.gone) and self.gone[-1][1] == math.inf
        if visit.change in (MISSING, GONE, MOVED) and not away:
            self.gone.append((between, math.inf))
        elif visit.change == BACK and away:
            self.gone[-1] = (self.gone[-1][0], between)
        if visit.version > self.version:
            self._change(between if self.times else self.born, visit.novelty)
            self.version = visit.version
            self.weight = visit.relevance
        self.last = visit.at

    def _change(self, at: float, novelty: float) -> None:
        known = self.texts[-1] if self.texts else np.empty(0, np.uint64)
        new = HASHES if not len(known) else max(1, round(HASHES * novelty))
        first = HASHES * len(self.texts)
        self.times.append(at)
        self.texts.append(np.concatenate([known[new:], np.arange(first, first + new, dtype=np.uint64) * _SPREAD]))

    def history(self, links: frozenset[int]) -> PageHistory:
        numbers, sketches = np.arange(len(self.times)), [np.sort(text) for text in self.texts]
        return PageHistory(self.url, np.array(self.times), numbers, sketches, [links] * len(numbers), self.gone)


def _crawled(folder: Path) -> SiteCollection:
    pages, start, end = _read_pages(read_visits(folder))
    if not pages or end - start < SHORTEST * SECONDS_A_DAY:
        days = (end - start) / SECONDS_A_DAY if pages else 0.0
        raise BadInput(str(folder), f"expected revisits over {SHORTEST:g} days or more, not {days:.1f}")
    of_host = defaultdict[str, list[_VisitedPage]](list)
    for page in pages.values():
        of_host[host_of(page.url)].append(page)
    targets = _targets(folder, {page.url: number for host in of_host.values() for number, page in enumerate(host)})
    sites = [
        SiteHistory(host, start, end, [page.history(targets.get(page.url, frozenset())) for page in found])
        for host, found in of_host.items()
    ]
    collection = SiteCollection(sites)
    weights = np.array([page.weight for found in of_host.values() for page in found])
    collection.weights = weights / weights.mean() if weights.any() else collection.weights
    return collection


def _read_pages(visits: Iterable[Visit]) -> tuple[Mapping[str, _VisitedPage], float, float]:
    """The pages by URL, and start and end of the record. Pages found before the first revisit count from the start."""
    pages: dict[str, _VisitedPage] = {}
    start, end, revisited = math.inf, -math.inf, False
    for visit in visits:
        start, end = min(start, visit.at), max(end, visit.at)
        revisited = revisited or visit.number > 1
        if visit.number == 1 and visit.is_page:
            pages[visit.url] = _VisitedPage(visit.url, visit.at if revisited else start, visit.relevance, visit.at)
        if visit.url in pages:
            pages[visit.url].see(visit)
    return (pages if revisited else {}), start, end


def _targets(folder: Path, numbers: Mapping[str, int]) -> Mapping[str, frozenset[int]]:
    """For each page, the pages of its host that it linked to at any time."""
    found = defaultdict[str, set[int]](set)
    for source, targets in _links(folder):
        if source in numbers:
            host = host_of(source)
            found[source].update(numbers[target] for target in targets if target in numbers and host_of(target) == host)
    return {source: frozenset(targets) for source, targets in found.items()}


def _links(folder: Path) -> Iterator[tuple[str, list[str]]]:
    return read_links(folder) if (folder / LINKS).exists() else iter(())


def freshness_bound(collection: SiteCollection, budget: float) -> float:
    """An upper bound of weighted binary freshness with ``budget`` visits in all.

    A visit at the moment of a change keeps the page up to date until the next change; no visit can do more. So the best use
    of the budget is one visit for each of the best periods between changes, weighted by the page. This is a bound, not a
    schedule: visits may be saved up and spent at any time, and a period whose text was online before is free (a copy of that
    text may have been kept by chance). A page that disappears is dropped at once. One that appears or comes back later counts
    in the periods that are free or bought and in no others, since freshness counts no page before it was visited.
    """
    free = counted = 0.0
    periods: list[tuple[float, float]] = []  # the weighted length, and what of it counts only if it is bought
    for page, member in enumerate(collection.members):
        weight = float(collection.weights[page])
        history = member.history
        times = history.times + member.shift
        seen: set[int] = set()
        for number, (start, end) in enumerate(collection.lives(page)):
            first = collection.version_at(page, start)
            edges = [start, *times[(times > start) & (times < end)].tolist(), end]
            begun, text = start, int(history.texts[first])
            harvested = known = number == 0 and start <= collection.enters[member.site]
            for edge in edges[1:]:
                version = collection.version_at(page, edge)
                new = int(history.texts[version])
                if edge != end and new == text:
                    continue
                length = weight * (edge - begun)
                is_free = known or text in seen
                if is_free:
                    free += length
                else:
                    periods.append((length, 0.0 if harvested else length))
                if is_free or harvested:
                    counted += length
                seen.add(text)
                known, begun, text = False, edge, new
    return _best_share(free, counted, np.array(periods).reshape(-1, 2), int(budget))


def _best_share(part: float, whole: float, pieces: Array, most: int) -> float:
    """The highest ``part / whole`` if up to ``most`` of the ``pieces``, rows of two numbers, are added to the two.

    A piece raises a share s if its first number is above s times its second; the best pieces for the share found so far
    give a higher share, until none do (W. Dinkelbach: On Nonlinear Fractional Programming, 1967).
    """
    share, before = 0.0, -1.0
    while share > before + 1e-12:
        best = np.argsort(pieces @ [-1.0, share], kind="stable")[:most]
        more, larger = pieces[best].sum(axis=0)
        before, share = share, float((part + more) / (whole + larger)) if whole + larger else 0.0
    return max(share, before)
