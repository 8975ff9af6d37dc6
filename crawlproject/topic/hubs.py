"""Finds hubs in a known link graph: pages that link to several seed hosts (paper 003 section 6)."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from crawlproject.urls.hosts import host_of

MOST = 10  # paper 003 section 6: number of hubs to keep


@dataclass(frozen=True, slots=True)
class Hub:
    """A page, and the seed hosts other than its own that it links to, in alphabetical order."""

    url: str
    hosts: tuple[str, ...]


def find_hubs(
    links: Iterable[tuple[str, Iterable[str]]],
    seeds: Collection[str],
    *,
    min_hosts: int = 2,
    most: int = MOST,
    unwanted: Collection[str] = (),
) -> list[Hub]:
    """The ``most`` pages that link to the most seed hosts, at least ``min_hosts``; ties in alphabetical order.

    ``links`` are pairs of a page and its link targets, canonical; a page may have several consecutive pairs. The page's own
    host does not count, since every page links to its own site. Seeds and ``unwanted`` pages are left out.
    """
    seed_hosts = {host_of(seed) for seed in seeds}
    excluded = {*seeds, *unwanted}
    pointed: dict[str, set[str]] = {}
    for page, targets in links:
        own = host_of(page)
        found = {host for target in targets if (host := host_of(target)) in seed_hosts and host != own}
        if found and page not in excluded:
            pointed.setdefault(page, set()).update(found)
    hubs = [Hub(page, tuple(sorted(hosts))) for page, hosts in pointed.items() if len(hosts) >= min_hosts]
    return heapq.nsmallest(most, hubs, key=lambda hub: (-len(hub.hosts), hub.url))
