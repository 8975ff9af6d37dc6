"""Workers of one crawl learn together: each tells the others of its fetches, and learns from theirs as from its own.

Other workers' fetches go through the ``apply`` of the same learners that learn from the worker's own, live and on a replay, so
all know the same: budgets, URL rules, templates, duplicates, verdicts of probes, and the model of the ordering. What a worker
learns without a fetch (a URL is refused at its turn, a host is blocked) is told as well, as the ordering must not wait for it.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence

from crawlproject.core.admission import Admission
from crawlproject.core.inspectors import Inspection
from crawlproject.core.learner import Learner
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.parts.probes.probe_log import Finding
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.parts.workers.event_codec import (
    BLOCKED,
    POSTPONED,
    REFUSED,
    RETIRED,
    Message,
    UnreadableMessage,
    dump_block,
    dump_fetch,
    dump_finding,
    dump_url,
    load,
)
from crawlproject.parts.workers.host_shares import HostShares
from crawlproject.records import CrawlUrl, FetchEvent
from crawlproject.storage.history import History

logger = logging.getLogger(__name__)

_ON_THEIR_WAY = 1000  # messages of which some may be missing behind the last one, where there are several slots
_REMEMBERED = 100_000  # URLs of others that are known to have been learned: each is told once, and rarely again


class SharedLearning:
    """What the worker ``name`` tells and is told. ``learners`` are those of the crawl, of which ``feed`` is one.

    The n-th line of the history is message n of this worker, so that the server can tell what it has, and nothing is told
    twice or left out when a worker is killed.
    """

    def __init__(
        self,
        name: str,
        frontier: SharedFrontier,
        admission: Admission,
        ordering: BaseOrdering,
        inspection: Inspection,
        learners: Sequence[Learner],
        feed: OrderingFeed,
        history: History,
        again: Sequence[Learner] = (),
        revisits: Revisits | None = None,
    ) -> None:
        self._name = name.encode()
        self._shares = admission.shares = HostShares(self._name)
        self._revisits = revisits
        if revisits is not None and revisits.shared is not None:
            revisits.shared.shares = self._shares
        self._frontier = frontier
        self._admission = admission
        self._ordering = ordering
        self._probes = inspection.probes
        self._site_holds = inspection.tracker.holds
        self._duplicates = inspection.deduplication.duplicates
        left_out = (self._duplicates, revisits, *(() if ordering.learns else (feed,)))
        self._learners_again = [learner for learner in again if learner is not revisits]
        self._learners = [learner for learner in learners if learner not in left_out]
        self._feed = feed
        self._history = history
        # Of a folder that lost lines, or is another one, the lines to come have numbers that the server does not have.
        self._published = frontier.last_published()
        self._offset = max(0, self._published - history.lines)
        self._learned: OrderedDict[str, None] = OrderedDict()
        self._warned = False

    # ------------------------------------------------------------ out

    def replayed(self, event: FetchEvent, number: int) -> None:
        """Line ``number`` of the history was read again: the others are told unless they were."""
        if self._offset + number > self._published - _ON_THEIR_WAY:
            self.fetched(event, number)

    def fetched(self, event: FetchEvent, number: int = 0) -> None:
        """A fetch has entered the history, as line ``number`` (by default the last one)."""
        sketch = self._duplicates.latest if self._duplicates is not None else None
        if sketch is not None and sketch.url != event.visit.url:
            sketch = None
        message = dump_fetch(event, sketch, with_page=self._ordering.learns and event.visit.number == 1)
        self._publish(event.visit.url, message, self._offset + (number or self._history.lines))

    def found(self, finding: Finding) -> None:
        """A probe has found something."""
        self._publish(finding.url, dump_finding(finding))

    def refused(self, url: str) -> None:
        """A URL is refused, whose turn had come."""
        self._publish(url, dump_url(REFUSED, url))

    def postponed(self, url: str) -> None:
        """A URL has to wait, whose turn had come."""
        self._publish(url, dump_url(POSTPONED, url))

    def host_blocked(self, host: str, until: float) -> None:
        """All URLs of a host have to wait."""
        self._publish(f"http://{host}/", dump_block(host, until))

    def _publish(self, url: str, message: bytes, number: int = 0) -> None:
        self._frontier.publish(url, self._name + b"\n" + message, number)

    # ------------------------------------------------------------ in

    def catch_up(self) -> None:
        """Learn all that the server keeps. To be called once, before the crawl goes on."""
        self._frontier.catch_up()
        if self._revisits is not None:
            for message in self._frontier.attached():
                self.receive([message])

    def receive(self, messages: Sequence[bytes]) -> None:
        """Learn what other workers told, in the order given."""
        for named in messages:
            worker, _, message = named.partition(b"\n")
            try:
                self._learn(worker, load(message))
            except UnreadableMessage as unreadable:
                if not self._warned:
                    logger.warning("A worker tells what this one cannot read (%s): do all run one version?", unreadable)
                self._warned = True

    def _learn(self, worker: bytes, message: Message) -> None:
        if message.event is not None:
            self._shares.heard(worker, message.event.visit.at)
            self._learn_fetch(message, message.event)
        elif message.finding is not None:
            self._probes.apply_finding_of_another(message.finding)
        elif message.kind == BLOCKED:
            self._site_holds.block(f"http://{message.name}/", message.until)
            self._ordering.host_blocked(message.name)
        elif message.kind == POSTPONED:
            self._ordering.postponed(message.name)
        elif message.kind == REFUSED:
            self._ordering.refused(message.name)
        elif self._revisits is not None:
            self._learn_of_collection(self._revisits, message)

    def _learn_of_collection(self, revisits: Revisits, message: Message) -> None:
        if message.page is not None and revisits.shared is not None:
            revisits.adopt(message.page)
            revisits.shared.was_told(message.page)
        elif message.listing is not None:
            revisits.rereads.adopt(message.listing)
        elif message.kind == RETIRED:
            revisits.hear_retired(message.name)

    def _learn_fetch(self, message: Message, event: FetchEvent) -> None:
        visit = event.visit
        if self._revisits is not None:
            self._revisits.heard(visit)
        if visit.number > 1:
            for learner in self._learners_again:
                learner.apply(event)
            return
        if visit.url in self._history or visit.url in self._learned:
            return  # a lease that ran out: two workers have fetched it
        self._learned[visit.url] = None
        if len(self._learned) > _REMEMBERED:
            self._learned.popitem(last=False)
        self._frontier.note(visit.url)
        if self._duplicates is not None and message.sketch is not None:
            self._duplicates.add_of_another(message.sketch)
        for learner in self._learners:
            learner.apply(event)
        if visit.redirect:
            self._admission.found_by_another(CrawlUrl(visit.redirect, visit.score, visit.depth, visit.parent))
        if self._ordering.learns and not visit.repeats and visit.leads_on:
            self._follow(event)

    def _follow(self, event: FetchEvent) -> None:
        """The links of a page, which its worker has offered, have scores here too."""
        page = event.page()
        for url in self._feed.follow(page) if page is not None else ():
            if url is not None:
                self._admission.found_by_another(url)
