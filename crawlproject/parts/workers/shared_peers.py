"""Workers of one crawl learn together: each publishes its fetches, and learns from those of others as from its own.

Other workers' fetches go to the same parts and the same ordering as the worker's own, live and on a replay, so all know the
same: budgets, URL rules, duplicates, verdicts of probes, and the model of the ordering. Parts learn from own hosts alone what
only the visitor of a host needs. What a worker learns without a fetch (a URL is refused at its turn, a host is postponed) is
published as well, so that the ordering does not wait for it.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from crawlproject.core.peers import Known, Peers
from crawlproject.core.services import Services
from crawlproject.errors import ServerFailed
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import FULL, HOST_FULL, KNOWN, CallerLoop, SharedFrontier
from crawlproject.orderings.summing import SummingOrdering, summing
from crawlproject.parts.workers.event_codec import (
    HOST_POSTPONED,
    PART,
    POSTPONED,
    REFUSED,
    SUMS,
    Message,
    UnreadableMessage,
    dump_fetch,
    dump_name,
    dump_part,
    dump_sums,
    load,
)
from crawlproject.parts.workers.inheritance import fetches_told, inherit
from crawlproject.parts.workers.merge_workers import workers_of
from crawlproject.records import CrawlUrl, FetchEvent
from crawlproject.urls.hosts import host_of

logger = logging.getLogger(__name__)

_ON_THEIR_WAY = 1000  # messages before the last one, of which some may be missing where there are several slots
_TELL_EVERY = 1.0  # seconds between two messages with the ordering's sums
_ORDERING = "ordering"  # the name of what the ordering adds to a fetch, among those of the parts
_REMEMBERED = 100_000  # URLs that were learned from others: each is published once, and rarely again


class ServerPeers(Peers):
    """What a frontier on a server implies, whether or not its workers learn from each other."""

    has_server = True
    knows_all = False

    def __init__(self, frontier: SharedFrontier) -> None:
        self._frontier = frontier

    def start(self, limit: int, loop: CallerLoop) -> None:
        self._frontier.start(limit, loop)

    def pending(self, frontier: Frontier) -> bool:
        return self._frontier.pending()


class SharedPeers(ServerPeers):
    """The peers of the worker ``name``, whose crawl folder ``folder`` is below the folder of all workers.

    Line n of the history is message n of this worker, so that the server knows what it has, and nothing is published twice or
    left out when a worker is killed.
    """

    _services: Services

    def __init__(self, name: str, frontier: SharedFrontier, folder: Path) -> None:
        super().__init__(frontier)
        self.publishes = self.knows_all = frontier.shares
        self.was_forgotten = frontier.was_forgotten
        self._name = name.encode()
        self._folder = folder
        self._workers = {name}
        self._published = frontier.last_published() if frontier.shares else 0
        self._offset = 0
        self._learned: OrderedDict[str, None] = OrderedDict()
        self._sums: SummingOrdering | None = None  # the ordering, if it publishes sums instead of pages
        self._told_at = 0.0
        self._inherits_at = 0.0
        self._warned = False

    def connect(self, services: Services) -> None:
        self._services = services
        # When the folder lost lines, or is another one, its next lines get numbers that the server does not have yet.
        self._offset = max(0, self._published - services.folder.history.lines)
        self._frontier.when_rejected(self._turned_away)
        if self.publishes:
            self._frontier.when_published(self.receive)
            self._sums = summing(services.ordering)
            if self._sums:
                self._sums.join_others()

    # ------------------------------------------------------------ one crawl, several workers

    def pages(self, own: int) -> int:
        return max(own, self._frontier.pages())  # the server may have been cleared

    def count_page(self, url: str) -> None:
        self._frontier.count_page(url)

    def is_own(self, host: str) -> bool:
        return self._frontier.is_own(host)

    def keeps(self, url: str) -> bool:
        return self._sums is not None or self.is_own(host_of(url))

    def has_left(self) -> bool:
        """Whether this worker was told to leave, and has nothing left."""
        return self._frontier.has_left

    def pass_time(self, now: float) -> None:
        gained = self._frontier.inherited() if now >= self._inherits_at else None
        if self.publishes and gained is not None:
            try:
                inherit(gained, self._services, self._frontier, fetches_told(self._frontier))
            except ServerFailed:  # try again later
                self._frontier.inherit_later(gained)
                self._inherits_at = now + _TELL_EVERY
        if self._sums:
            workers = set(self._frontier.workers())
            for worker in self._workers - workers:
                self._sums.left(worker)
            self._workers = workers
            if not 0 <= now - self._told_at < _TELL_EVERY:
                self._told_at = now
                self._tell_sums(self._sums)

    def _tell_sums(self, ordering: SummingOrdering) -> None:
        difference = ordering.difference()
        if difference is not None:
            self._publish(f"http://{self._name.decode()}/", dump_sums(difference))

    def known(self, frontier: Frontier, linked: Iterable[str]) -> tuple[Known, Known]:
        """Looks up only the ``linked`` URLs, since the frontier is shared."""
        states = self._frontier.states(linked)
        return {url for url, state in states.items() if state}, {
            url for url, state in states.items() if state == "waiting"
        }

    # ------------------------------------------------------------ out

    def fetched_before(self, event: FetchEvent, number: int) -> None:
        """Publish a line that was read again, unless the others had it."""
        if self._offset + number > self._published - _ON_THEIR_WAY:
            self.fetched(event, number)

    def fetched(self, event: FetchEvent, number: int = 0) -> None:
        if not self.publishes:
            return
        parts = ((part.name, part.publish(event)) for part in self._services.parts)
        published = {name: value for name, value in parts if value is not None}
        with_page = self._services.ordering.learns and not self._sums and event.visit.number == 1
        if self._sums and (outcome := self._sums.outcome(event.visit.url)) is not None:
            published[_ORDERING] = outcome
        message = dump_fetch(event, published, with_page=with_page)
        lines = self._services.folder.history.lines
        self._publish(event.visit.url, message, self._offset + (number or lines))

    def refused(self, url: str) -> None:
        self._publish(url, dump_name(REFUSED, url))

    def postponed(self, url: str) -> None:
        self._publish(url, dump_name(POSTPONED, url))

    def host_postponed(self, host: str) -> None:
        self._publish(f"http://{host}/", dump_name(HOST_POSTPONED, host))

    def publish(self, part: str, url: str, message: Any) -> None:
        self._publish(url, dump_part(part, message))

    def attach(self, key: str, part: str, message: Any, number: float) -> None:
        text = b"" if message is None else self._name + b"\n" + dump_part(part, message)
        self._frontier.attach(key, text, number)

    def _publish(self, url: str, message: bytes, number: int = 0) -> None:
        if self.publishes:
            self._frontier.publish(url, self._name + b"\n" + message, number)

    # ------------------------------------------------------------ what a server knows

    def folders(self) -> list[Path]:
        return [path for path in workers_of(self._folder.parent.parent) if path != self._folder]

    def missing(self, keys: list[str]) -> set[str]:
        return {key for key, state in self._frontier.states(keys).items() if not state}

    def set_pace(self, rate: float) -> None:
        self._frontier.set_pace(rate)

    def workers(self, now: float) -> int:
        return len(self._frontier.workers())

    def nothing_due(self, until: float) -> bool:
        due = self._frontier.last_due()
        return due is None or due > until

    # ------------------------------------------------------------ in

    def catch_up(self) -> None:
        if not self.publishes:
            return
        self._frontier.catch_up()
        folder = self._services.folder
        if self._offset and folder.is_new:
            folder.warnings.append(
                f"{folder.path} is new: the {self._offset} earlier fetches of this worker are in another folder"
            )
        if self._sums:
            self._sums.difference()  # the others already know what was learned again
        for message in self._frontier.attached():
            self.receive([message])

    def receive(self, messages: Sequence[bytes]) -> None:
        """Learn from messages of other workers, in the order given."""
        for named in messages:
            worker, _, message = named.partition(b"\n")
            try:
                self._learn(worker, load(message))
            except UnreadableMessage as unreadable:
                if not self._warned:
                    logger.warning(
                        "Cannot read a message of another worker (%s): do all workers run the same version?", unreadable
                    )
                self._warned = True

    def _learn(self, worker: bytes, message: Message) -> None:
        ordering = self._services.ordering
        is_own = worker == self._name and not self._services.folder.is_new  # a new folder learns from those before
        if message.event is not None and not is_own:
            self._learn_fetch(message.event, message)
        elif message.kind == SUMS:
            if self._sums and not is_own:
                _understood(self._sums.add, worker.decode(), message.content)
        elif message.kind == HOST_POSTPONED:
            ordering.host_blocked(message.name)
        elif message.kind == POSTPONED:
            ordering.postponed(message.name)
        elif message.kind == REFUSED:
            ordering.refused(message.name)
        elif message.kind == PART:
            for part in self._services.parts:
                if part.name == message.name:
                    _understood(part.hear, message.content)

    def _learn_fetch(self, event: FetchEvent, message: Message) -> None:
        visit, services = event.visit, self._services
        if visit.number == 1:
            if visit.url in services.folder.history or visit.url in self._learned:
                return  # a lease ran out, so two workers have fetched it
            self._learned[visit.url] = None
            if len(self._learned) > _REMEMBERED:
                self._learned.popitem(last=False)
            self._frontier.note(visit.url)
            services.stopping.learn(event)
            if self._sums and not visit.redirect:
                _understood(self._sums.fetched_elsewhere, visit.url, message.published.get(_ORDERING))
            elif services.ordering.learns:
                services.feed.learn(event)
        for part in services.parts:
            published = message.published.get(part.name)
            if published is None:
                part.receive(event, None)
            else:
                _understood(part.receive, event, published)
        if visit.number == 1:
            if visit.redirect:
                self._found(CrawlUrl(visit.redirect, visit.score, visit.depth, visit.parent))
            if services.ordering.learns and not self._sums and not visit.repeats and visit.leads_on:
                self._follow(event)

    def _follow(self, event: FetchEvent) -> None:
        """Score the links of a page here, too, which another worker has offered."""
        page = event.page()
        if page is not None:
            for url in self._services.feed.follow(page):
                if url is not None:
                    self._found(url)

    def _found(self, url: CrawlUrl) -> None:
        if self._services.admission.found_by_another(url):
            self._frontier.note(url.key)

    def _turned_away(self, url: CrawlUrl, why: int) -> None:
        """Handle a rejection that the server sent later."""
        services = self._services
        if why == FULL:
            services.folder.refusals.count("frontier/full")
        elif why == KNOWN:
            if self._sums:
                self._sums.kept_elsewhere(url.url)
        elif url.variant:
            pass  # another fetch of a URL that the ordering knows
        elif why == HOST_FULL:
            services.folder.refusals.add("trap/host_full", url.url, url.parent)
            services.ordering.refused(url.url)
        elif url.url not in services.folder.history and not self._frontier.leased(url.key):
            services.ordering.refused(url.url)  # another worker is fetching it, or has fetched it


def _understood(learn: Callable[..., None], *said: Any) -> None:
    """Let a part learn from a message of the same part of another worker. Raises ``UnreadableMessage`` for a damaged one."""
    try:
        learn(*said)
    except (ValueError, TypeError, KeyError) as damage:
        raise UnreadableMessage(repr(damage)) from damage
