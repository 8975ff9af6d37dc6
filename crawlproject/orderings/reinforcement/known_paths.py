"""Links of an archive with the discounted reward of following them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from crawlproject.orderings.base import PageArchive
from crawlproject.orderings.graph.linkgraph import LinkGraph
from crawlproject.orderings.reinforcement.discounted_reward import graph_values
from crawlproject.records import Link, Page

MAX_PAGES = 3_000  # of an archive, the nearest to the seeds
MAX_LINKS = 2  # taken as examples, of those to one page
STEPS = 6  # links that a path looks ahead


def known_paths(
    archive: PageArchive, seeds: Iterable[str], threshold: float, discount: float
) -> Iterator[tuple[Page, Link, float]]:
    """Page, link, and the discounted reward of the link, for links between the first ``MAX_PAGES`` pages.

    Pages are visited breadth-first from the seeds, and then from the other pages of the archive. A page with a
    relevance above ``threshold`` is worth 1.
    """
    pages = list(_breadth_first(archive, seeds))
    graph: LinkGraph[str] = LinkGraph()
    for page in pages:
        graph.id_of(page.url)
    for page in pages:
        graph.add_page(page.url, (link.url for link in page.links if graph.find(link.url) is not None))
    rewards = np.array([float(page.relevance > threshold) for page in pages])
    values = graph_values(rewards, *graph.edges(), discount, STEPS)
    left = np.full(len(pages), MAX_LINKS)
    for page in pages:
        for link in page.links:
            number = graph.find(link.url)
            if number is not None and left[number]:
                left[number] -= 1
                yield page, link, float(values[number])


def _breadth_first(archive: PageArchive, seeds: Iterable[str]) -> Iterator[Page]:
    seen: set[str] = set()
    read: set[str] = set()
    queue: deque[str] = deque()
    for start in chain(seeds, archive.urls()):
        queue.append(start)
        while queue:
            url = queue.popleft()
            page = archive.page(url) if url not in seen else None
            seen.add(url)
            if page is None or page.url in read:
                continue
            read.add(page.url)
            yield page
            if len(read) >= MAX_PAGES:
                return
            queue.extend(link.url for link in page.links)
