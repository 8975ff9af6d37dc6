"""The visits of a crawl that goes on, read as change histories: what its pages did, as far as its visits showed it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crawlproject.errors import BadInput
from crawlproject.evaluation.freshness.collection import SiteCollection
from crawlproject.evaluation.freshness.histories import PageHistory, SiteHistory, Sketch, find_histories, read_site
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY
from crawlproject.records import BACK, GONE, MISSING, MOVED, Visit
from crawlproject.storage.read import HISTORY, LINKS, read_links, read_visits
from crawlproject.urls.hosts import host_of

SHORTEST = 7.0  # days of a record from which anything can be learned
HASHES = 100  # of a sketch that stands for a text: a version replaces the share of them that is new
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: its multiples are spread evenly, like hashes


def open_collection(folder: Path) -> SiteCollection:
    """A folder of change histories, or a crawl folder, whose pages weigh their relevance. Raises ``BadInput``."""
    if (folder / HISTORY).exists():
        return _crawled(folder)
    return SiteCollection([read_site(path) for path in find_histories(folder)])


@dataclass(slots=True)
class _VisitedPage:
    """A page, by its visits. A change counts as made half-way between the visit that saw it and the one before."""

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
    """The pages by URL, and start and end of the record. What was found before the first revisit was there from the start."""
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
    """Of each page the pages of its host that it linked to at any time."""
    found = defaultdict[str, set[int]](set)
    for source, targets in _links(folder):
        if source in numbers:
            host = host_of(source)
            found[source].update(numbers[target] for target in targets if target in numbers and host_of(target) == host)
    return {source: frozenset(targets) for source, targets in found.items()}


def _links(folder: Path) -> Iterator[tuple[str, list[str]]]:
    return read_links(folder) if (folder / LINKS).exists() else iter(())
