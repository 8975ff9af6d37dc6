"""Estimates how fresh a collection is now, from what the revisit policy has learned."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from typing import Any, NamedTuple

from crawlproject.options import Options
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import ReplayedPolicy, WatchedPage, replay_policy
from crawlproject.urls.hosts import host_of

DAY = 86_400.0
HOSTS = 30  # listed
NEXT = 15  # visits listed
MOST = 20_000  # pages whose estimates are looked at, evenly spread
GIVEN_UP = 365 * DAY  # a page whose next visit is later counts as given up


class HostChanges(NamedTuple):
    """``rate``: mean of the estimated changes a day over the host's pages that were looked at."""

    host: str
    pages: int
    visits: int
    changes: int
    rate: float


class PlannedVisit(NamedTuple):
    """``due`` in seconds since the epoch, ``inf``: never; ``rate`` in changes a day."""

    url: str
    due: float
    rate: float


@dataclass(frozen=True, slots=True)
class FreshnessEstimate:
    """Estimates at ``now``, the end of the last visit.

    ``freshness``: expected share of the pages that equal their copies, 0 to 1. ``age``: mean expected time since the first
    change that a copy lacks, in seconds, 0 for fresh ones (Cho and Garcia-Molina 2003). Both are of ``looked_at`` pages.
    ``given_up_count`` of these have no visit within a year; ``given_up`` lists those of them that change most.
    """

    policy: str
    now: float
    pages: int
    away: int
    visits: int
    looked_at: int
    freshness: float
    age: float
    hosts: tuple[HostChanges, ...]
    upcoming: tuple[PlannedVisit, ...]
    given_up: tuple[PlannedVisit, ...]
    given_up_count: int


def report(folder: Path, options: Options, threshold: float) -> dict[str, Any]:
    """``fresh``: None where pages are not visited again. Raises ``BadCrawlDir``."""
    return {"fresh": estimate_freshness(folder, options.of(RevisitOptions))}


def estimate_freshness(folder: Path, options: RevisitOptions) -> FreshnessEstimate | None:
    """The estimates for a crawl that visits pages again; None for other crawls. Raises ``BadCrawlDir``."""
    if not options.crawl_revisit:
        return None
    replayed = replay_policy(folder, options)
    present = [page for page in replayed.pages if page.present]
    some = present[:: max(1, -(-len(present) // MOST))]
    rates = {page.row: rate_of_changes(replayed, page) for page in some}
    spans = [(replayed.now - page.at, rates[page.row] / DAY) for page in some]
    visits = [PlannedVisit(page.url, replayed.policy.next_visit(page.row), rates[page.row]) for page in some]
    given_up = [visit for visit in visits if visit.due > replayed.now + GIVEN_UP]
    planned = [visit for visit in visits if visit.due <= replayed.now + GIVEN_UP]
    return FreshnessEstimate(
        policy=options.crawl_revisit,
        now=replayed.now,
        pages=len(present),
        away=len(replayed.pages) - len(present),
        visits=sum(page.visits - 1 for page in replayed.pages),
        looked_at=len(some),
        freshness=_mean([math.exp(-rate * span) for span, rate in spans]),
        age=_mean([_age(span, rate) for span, rate in spans]),
        hosts=tuple(_hosts(replayed, rates)),
        upcoming=tuple(nsmallest(NEXT, planned, key=lambda visit: visit.due)),
        given_up=tuple(nsmallest(NEXT, given_up, key=lambda visit: -visit.rate)),
        given_up_count=len(given_up),
    )


def rate_of_changes(replayed: ReplayedPolicy, page: WatchedPage) -> float:
    """Changes a day as the policy estimates them; without an estimate, the changes seen and half a one more, in the days between
    the first and the last visit, at least one. The days of a page that was visited once last until now.
    """
    estimate = replayed.policy.explain(page.row).get("changes_a_day")
    if estimate is not None and math.isfinite(estimate):
        return max(0.0, estimate)
    watched = page.at - page.born or replayed.now - page.born
    return (page.changes + 0.5) / max(watched / DAY, 1.0)


def _age(span: float, rate: float) -> float:
    """Expected age after ``span`` seconds at ``rate`` changes a second: span - (1 - e^(-rate span)) / rate."""
    return span + math.expm1(-rate * span) / rate if rate * span > 1e-9 else 0.0


def _hosts(replayed: ReplayedPolicy, rates: dict[int, float]) -> list[HostChanges]:
    """The hosts with the most changes seen."""
    by_host: dict[str, list[WatchedPage]] = defaultdict(list)
    for page in replayed.pages:
        by_host[host_of(page.url)].append(page)
    rows = [
        HostChanges(
            host,
            sum(page.present for page in pages),
            sum(page.visits - 1 for page in pages),
            sum(page.changes for page in pages),
            _mean([rates[page.row] for page in pages if page.row in rates]),
        )
        for host, pages in by_host.items()
    ]
    return nsmallest(HOSTS, rows, key=lambda row: (-row.changes, -row.rate, row.host))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
