"""After a resume: everything that learns in a crawl learns from its history once more.

What was learned lives in memory. Kept on disk it would be one more file that must agree with the history at every instant;
learned again it always agrees. Who has a state in the last checkpoint (``checkpoint.py``) goes on from it, and is shown what came
after; the others are shown all lines.
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
    """The events of the crawl folder, learned by a crawl that has fetched nothing yet.

    What the frontier or the history has lost is put back. When a person has judged pages, all waiting URLs get new scores.
    Fetches that ended after ``now``, by a clock that was set since, count as ended then. At last what other workers have
    published is learned.
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
    behind = parts.bound("learn", without=resumed.names)  # who learns from the lines before the checkpoint, too
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
    """Who knows what: learners of these ``names`` the lines and links up to some place, the ordering its first lines."""

    behind: TailPosition = START
    links: TailPosition = START
    ordering_lines: int = 0
    names: frozenset[str] = frozenset()

    def skips(self, services: Services, follower: LinkReplay | None) -> bool:
        """Whether nobody needs the lines before that place."""
        waits = (
            services.peers.has_server
            or (follower is not None and not self.ordering_lines)
            or STOPPING not in self.names
        )
        return not waits and not services.parts.bound("learn", without=self.names)


def _resume(services: Services, found: Checkpoint | None) -> Resumed:
    """Let all go on from the last checkpoint that can."""
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
    """What was refused at its turn since the checkpoint is done, and has no line: the ordering must not wait for it."""
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
    """The events of a crawl folder, in order, none after ``now``. ``inherited`` is what each URL has, as far as known.

    ``steps``: how the pages are read, unless as the crawl does. ``behind``: only what came after that.
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
        """The values of ``url``, when its entry is the next."""
        if self._next is None or self._next[0] != url:
            return ()
        values = self._next[1]
        self._next = next(self._entries, None)
        return values
