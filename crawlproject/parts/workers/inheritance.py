"""The hosts of a lost worker: the messages of all workers show again what is known of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from crawlproject.core.services import Services
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.parts.workers.event_codec import UnreadableMessage, load
from crawlproject.records import CrawlUrl, FetchEvent
from crawlproject.urls.hosts import host_of

logger = logging.getLogger(__name__)


def fetches_told(frontier: SharedFrontier) -> Iterator[FetchEvent]:
    """All fetches in the messages that the server keeps. Raises ``ServerFailed``."""
    for _, named in frontier.kept_messages():
        with suppress(UnreadableMessage):
            event = load(named.partition(b"\n")[2]).event
            if event is not None:
                yield FetchEvent(event.visit, list(event.links), event.page)  # damaged links show here


def inherit(
    gained: Callable[[str], bool], services: Services, frontier: SharedFrontier, fetches: Iterable[FetchEvent]
) -> None:
    """Take over the hosts that are ``gained``: their seeds and the links of ``fetches`` to them wait in this worker's frontier.

    A link counts as much as the best page that has it (000 section 3.1), until it is scored anew.
    """
    fetched: set[str] = set()
    found = {seed: services.admission.seed_record(seed) for seed in services.topic.seeds if gained(host_of(seed))}
    for event in fetches:
        visit = event.visit
        if gained(host_of(visit.url)):
            fetched.add(visit.url)
        for link in (visit.redirect, *event.links):
            if link and gained(host_of(link)):
                known = found.get(link)  # a seed stays one
                if known is None or (known.parent and visit.relevance > known.score):
                    found[link] = CrawlUrl(link, visit.relevance, visit.depth + 1, visit.url)
    with frontier.batch():
        # A page that this worker has fetched may wait for another visit.
        own = frontier.states(url for url in fetched if url in services.folder.history)
        for url in fetched:
            if not own.get(url):
                frontier.drop(url)
        for part in services.parts:
            part.inherited()
        for url, record in found.items():
            if url not in fetched:
                services.admission.offer(record)
    logger.warning(
        "A worker is lost: this one takes over %d waiting and %d fetched URLs of its hosts", len(found), len(fetched)
    )
