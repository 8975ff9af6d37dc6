"""How few old pages suffice to discover most new ones (paper 004 section 3.2.2.1).

A. Dasgupta, A. Ghosh, R. Kumar, C. Olston, S. Pandey, A. Tomkins: The discoverability of the web. WWW 2007. A set of old pages
that links to a share of the new ones, chosen by the greedy rule for set cover (at most 1 + ln n times the smallest).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from rich.console import Console
from rich.table import Table

from crawlproject.evaluation.freshness.histories import SiteHistory
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY


def greedy_cover(links: Mapping[int, AbstractSet[int]], share: float) -> list[int]:
    """Pages, best first, whose ``links`` cover ``share`` (0 to 1) of all links' targets. Ties go to the smallest key."""
    everything = set[int]().union(*links.values())
    missing = set(everything)
    most_left = len(everything) - int(np.ceil(share * len(everything) - 1e-9))
    heap = [(-len(found), page) for page, found in links.items()]
    heapq.heapify(heap)
    chosen: list[int] = []
    while len(missing) > most_left:
        _, page = heapq.heappop(heap)
        gain = len(links[page] & missing)
        if heap and -gain > heap[0][0]:  # gains never rise, so an outdated gain is an upper bound
            heapq.heappush(heap, (-gain, page))
            continue
        chosen.append(page)
        missing -= links[page]
    return chosen


def spawned_links(site: SiteHistory, since: float) -> dict[int, set[int]]:
    """For each page older than ``since``, the ids of the newer pages that it linked to at any time."""
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


def show_discoverability(console: Console, sites: Sequence[SiteHistory]) -> None:
    table = Table(title="New pages of the last year, from how few old pages they are found", title_justify="left")
    for column in ("site", "new pages linked from old ones", "old pages", "for half of them", "for 90%"):
        table.add_column(column, justify="left" if column == "site" else "right")
    for site in sites:
        since = max(site.start, site.end - 365 * SECONDS_A_DAY)
        links = spawned_links(site, since)
        new = set[int]().union(*links.values())
        if len(new) >= 5:
            old = sum(page.born <= since for page in site.pages)
            table.add_row(
                site.name, str(len(new)), str(old), *(str(len(greedy_cover(links, share))) for share in (0.5, 0.9))
            )
    console.print(table)
