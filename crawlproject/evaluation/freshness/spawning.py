"""From how few old pages most new ones are found (paper 004 section 3.2.2.1).

A. Dasgupta, A. Ghosh, R. Kumar, C. Olston, S. Pandey, A. Tomkins: The discoverability of the web. WWW 2007: a set of old
pages that links to a share of the new ones, chosen by the greedy rule for set cover (at most 1 + ln n times the smallest).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import numpy as np

from crawlproject.evaluation.freshness.histories import SiteHistory


def greedy_cover(links: Mapping[int, AbstractSet[int]], share: float) -> list[int]:
    """Pages, best first, whose ``links`` cover ``share`` (0 to 1) of what all cover. Ties go to the smallest key."""
    everything = set[int]().union(*links.values())
    missing = set(everything)
    most_left = len(everything) - int(np.ceil(share * len(everything) - 1e-9))
    heap = [(-len(found), page) for page, found in links.items()]
    heapq.heapify(heap)
    chosen: list[int] = []
    while len(missing) > most_left:
        _, page = heapq.heappop(heap)
        gain = len(links[page] & missing)
        if heap and -gain > heap[0][0]:  # gains only fall: an old one is a bound
            heapq.heappush(heap, (-gain, page))
            continue
        chosen.append(page)
        missing -= links[page]
    return chosen


def spawned_links(site: SiteHistory, since: float) -> dict[int, set[int]]:
    """For each page that is older than ``since`` the newer pages that it linked to at any time, by id."""
    young = {index for index, page in enumerate(site.pages) if page.born > since}
    found: dict[int, set[int]] = {}
    for index, page in enumerate(site.pages):
        if index in young:
            continue
        spawned: set[int] = set()
        for version in range(max(0, page.version_at(since)), len(page.times)):
            spawned |= page.links[version] & young
        if spawned:
            found[index] = spawned
    return found
