"""After a resume, everything that learns in a crawl learns from its history again.

What was learned lives in memory. A file on disk would have to agree with the history at every instant; a replay always agrees.
A learner with a state in the last checkpoint (``checkpoint.py``) continues from it and gets only the later lines; the others get
all lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Generic, NamedTuple, TypeVar

from crawlproject.core.checkpoint import Checkpoint, Learner
from crawlproject.core.frontier_recovery import find_recovery, is_second_look, linked_from
from crawlproject.core.learned_state import Unfit
from crawlproject.core.link_replay import LinkReplay
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.core.stopping import NAME as STOPPING
from crawlproject.frontier.base import DurableFrontier
from crawlproject.records import NEEDS_BROWSER, FetchEvent
from crawlproject.storage.append_log import START, TailPosition
from crawlproject.storage.read import read_links, read_visits

Value = TypeVar("Value")


def replay(services: Services, now: float) -> None:
    """Let a crawl that has fetched nothing yet learn from the events of its folder.

    URLs that the frontier or the history has lost are put back. If a person has judged pages, all waiting URLs get new scores.
    Fetches that ended after ``now``, because the clock was set back since, count as ended at ``now``. Finally, the crawl learns
    what other workers have published.
    Raises ``BadCrawlDir`` for a damaged folder, and ``StorageFailed``.
    """
    feed, peers, parts = services.feed, services.peers, services.parts
    recovery = find_recovery(services, now)
    follower = None
    if recovery or ((services.ordering.learns or feed.judgments) and len(services.folder.history)):
        follower = LinkReplay(services, feed, recovery)
    resumed = _resume(services, None if recovery else services.checkpoints.read(now))
    for part in parts:
        part.restore(now)
    services.admission.replay()
    begin = resumed.behind.lines if resumed.skips(services, follower) else 0
    links = follower.linked if follower else {}
    events = read_events(services, links, now, behind=resumed if begin else None)
    behind = parts.bound("learn", without=resumed.names)  # parts that also learn from the lines before the checkpoint
    for number, event in enumerate(events, start=begin + 1):
        is_first, is_new = event.visit.number == 1, number > resumed.behind.lines
        is_news = follower is not None and is_first and number > resumed.ordering_lines
        if is_first and (is_new or STOPPING not in resumed.names):
            services.stopping.learn(event)
        if is_news:
            feed.learn(event)
        for learn in parts.learning if is_new else behind:
            learn(event)
        if follower and is_news:
            follower.follow(event)
        peers.fetched_before(event, number)
    if follower:
        follower.finish()
        if resumed.ordering_lines:
            _tell_refusals(services)
    for part in parts:
        part.replayed()
    peers.catch_up()


class Resumed(NamedTuple):
    """What the checkpoint covers: the learners ``names`` know the lines up to ``behind`` and the links up to ``links``, the
    ordering knows the first ``ordering_lines`` lines.
    """

    behind: TailPosition = START
    links: TailPosition = START
    ordering_lines: int = 0
    names: frozenset[str] = frozenset()

    def skips(self, services: Services, follower: LinkReplay | None) -> bool:
        """Whether no learner needs the lines before ``behind``."""
        waits = (
            services.peers.has_server
            or (follower is not None and not self.ordering_lines)
            or STOPPING not in self.names
        )
        return not waits and not services.parts.bound("learn", without=self.names)


def _resume(services: Services, found: Checkpoint | None) -> Resumed:
    """Restore all learners that can use the last checkpoint."""
    if found is None:
        return Resumed()
    if found.ordering is not None:
        services.ordering.become(found.ordering)
    learners: dict[str, Learner] = {STOPPING: services.stopping, **{part.name: part for part in services.parts}}
    names = set()
    for name, learned in found.others.items():
        try:
            learners[name].set_learned(learned)
        except (Unfit, KeyError, TypeError, ValueError) as damage:
            services.checkpoints.refuse(name, damage)
        else:
            names.add(name)
    return Resumed(found.place, found.links, found.ordering_lines, frozenset(names))


def _tell_refusals(services: Services) -> None:
    """Tell the ordering about URLs that were refused at their turn since the checkpoint: they have no line and never come."""
    if isinstance(services.frontier, DurableFrontier):
        for url in services.frontier.finished(known=services.folder.history.__contains__):
            if not is_second_look(url.key):
                services.ordering.refused(url.url)


def read_events(
    services: Services,
    inherited: dict[str, tuple[float, ...]],
    now: float,
    steps: PageSteps | None = None,
    *,
    behind: Resumed | None = None,
) -> Iterator[FetchEvent]:
    """Yield the events of a crawl folder in order, none later than ``now``. ``inherited`` holds known inherited values by URL.

    ``steps`` read the pages (default: those of the crawl). ``behind``: yield only the events after that checkpoint.
    """
    steps, known = steps or services.steps, behind or Resumed()
    links = InStep(read_links(services.folder.path, known.links))
    for visit in read_visits(services.folder.path, known.behind):
        if visit.at > now:
            visit = replace(visit, at=now)
        targets = links.of(visit.url) if visit.links else ()
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
        """The values of ``url`` if its entry is the next one, else none."""
        if self._next is None or self._next[0] != url:
            return ()
        values = self._next[1]
        self._next = next(self._entries, None)
        return values
