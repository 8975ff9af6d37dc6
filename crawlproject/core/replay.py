"""After a resume: everything that learns in a crawl learns from its history once more.

What was learned lives in memory. Kept on disk it would be one more file that must agree with the history at every instant;
learned again it always agrees. An ordering looks at the pages, which costs what reading them costs: it goes on from its last
checkpoint (``checkpoint.py``), and is shown what came after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Generic, TypeVar

from crawlproject.core.frontier_recovery import find_recovery, is_second_look, linked_from
from crawlproject.core.link_replay import LinkReplay
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.frontier.base import DurableFrontier
from crawlproject.records import NEEDS_BROWSER, FetchEvent
from crawlproject.storage.read import read_links, read_visits

Value = TypeVar("Value")


def replay(services: Services, own: Sequence[Callable[[FetchEvent], None]], now: float) -> None:
    """The events of the crawl folder, learned by a crawl that has fetched nothing yet; ``own`` are the core's learners.

    What the frontier or the history has lost is put back. When a person has judged pages, all waiting URLs get new scores.
    Fetches that ended after ``now``, by a clock that was set since, count as ended then. At last what other workers have
    published is learned.
    Raises ``BadCrawlDir`` for a damaged folder, and ``StorageFailed``.
    """
    feed, peers, parts = services.feed, services.peers, services.parts
    for part in parts:
        part.restore(now)
    services.admission.replay()
    recovery = find_recovery(services, now)
    follower = None
    if recovery or ((services.ordering.learns or feed.judgments) and len(services.folder.history)):
        follower = LinkReplay(services, feed, recovery)
    known = _resume_ordering(services) if follower and not recovery else 0
    for number, event in enumerate(read_events(services, follower.linked if follower else {}, now), start=1):
        is_first = event.visit.number == 1
        for learn in own if is_first else ():
            learn(event)
        if follower and is_first and number > known:
            feed.learn(event)
        for learn in parts.learning:
            learn(event)
        if follower and is_first and number > known:
            follower.follow(event)
        peers.fetched_before(event, number)
    if follower:
        follower.finish()
        if known:
            _tell_refusals(services)
    for part in parts:
        part.replayed()
    peers.catch_up()


def _resume_ordering(services: Services) -> int:
    """Let the ordering go on from its last checkpoint; how many lines of the history it knows then."""
    found = services.checkpoints.read()
    if found is None:
        return 0
    services.ordering.become(found.ordering)
    return found.lines


def _tell_refusals(services: Services) -> None:
    """What was refused at its turn since the checkpoint is done, and has no line: the ordering must not wait for it."""
    if isinstance(services.frontier, DurableFrontier):
        for url in services.frontier.finished():
            if url.key not in services.folder.history and not is_second_look(url.key):
                services.ordering.refused(url.url)


def read_events(
    services: Services, inherited: dict[str, tuple[float, ...]], now: float, steps: PageSteps | None = None
) -> Iterator[FetchEvent]:
    """The events of a crawl folder, in order, none after ``now``. ``inherited`` is what each URL has, as far as known.

    ``steps``: how the pages are read, unless as the crawl does.
    """
    steps = steps or services.steps
    links = InStep(read_links(services.folder.path))
    for visit in read_visits(services.folder.path):
        if visit.at > now:
            visit = replace(visit, at=now)
        targets = links.of(visit.url)
        if visit.is_page or visit.is_listing:
            own = inherited.get(visit.url, ()) if visit.parent else ()
            stored = services.kinds[visit.kind].stored
            yield FetchEvent(visit, targets, cache(partial(stored, visit, own, steps)))
        elif visit.error == NEEDS_BROWSER:
            yield FetchEvent(visit, targets, partial(linked_from, visit, targets))
        else:
            yield FetchEvent(visit, targets)


class InStep(Generic[Value]):
    """A log whose entries ``(URL, values)`` come in the order of the history; some URLs have none."""

    def __init__(self, entries: Iterator[tuple[str, list[Value]]]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def of(self, url: str) -> Sequence[Value]:
        """The values of ``url``, when its entry is the next."""
        if self._next is None or self._next[0] != url:
            return ()
        values = self._next[1]
        self._next = next(self._entries, None)
        return values
