"""The way out of the frontier: the next URL that may be fetched now.

The frontier returns the best URL of the lowest class that has a host that is due. A URL whose turn has come may be refused:
its host was given up, its robots.txt forbids it, or a rule made it a variant of another URL. Or what was learned since it
entered the frontier moves it, or its host, to a later class: then it waits there, and the next URL has its turn.

URLs of the later classes get only a few concurrent fetches while hosts of a lower class are merely resting. Otherwise these
hosts would find all places taken and the processor busy whenever their turn has come.
"""

from __future__ import annotations

from collections.abc import Callable

from crawlproject.core.services import Services
from crawlproject.records import ACTIVE, FIRST, INACTIVE, WASTE, CrawlUrl
from crawlproject.urls.hosts import origin_of

LATE_PLACES = 8  # concurrent fetches of the classes above INACTIVE while lower ones are awake
LATE_SECONDS = 3.0  # after which a fetch takes no place any more: the crawl is only waiting for the server

_CANDIDATES = 100  # hosts among which a preferred one is sought
_LOOKED_AT = 1_000  # URLs that one search for the next URL may refuse or postpone before it gives up for now


class Leasing:
    """Leases the URLs of one crawl."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._frontier = services.frontier
        self._admission = services.admission
        self._ordering = services.ordering
        self._parts = services.parts
        self._peers = services.peers
        self._kinds = services.kinds
        self._scarcity = services.admission.scarcity
        self._ceiling = WASTE  # the highest class that the frontier returns
        self._late: dict[str, float] = {}  # leases of URLs of later classes, and when they were taken

    def take(self, now: float, preferred: Callable[[str], bool] | None = None) -> CrawlUrl | None:
        """Lease the next URL that may be fetched, or None when no host is eligible at ``now``.

        If one of the next ``_CANDIDATES`` hosts has a ``preferred`` origin, the first of these has its turn.
        """
        self._services.now = now
        if (ceiling := self._current_ceiling(now)) != self._ceiling:
            self._ceiling = ceiling
            self._frontier.set_ceiling(ceiling)
        with self._frontier.batch():
            taken = self._take(now)
            if taken is not None and preferred is not None:
                taken = self._preferred(taken, now, preferred)
            if taken is not None and taken.precedence == ACTIVE:
                self._scarcity.taken(taken.score, self._admission.floor)
            if taken is not None and (taken.precedence > INACTIVE or self._admission.is_postponed(taken.url)):
                self._late[taken.key] = now
            return taken

    def next_due(self, now: float) -> float | None:
        """The earliest time at which ``take`` may succeed if nothing else happens; None: never."""
        due = self._frontier.next_due(now)
        if len(self._late) < LATE_PLACES:
            return due
        place = min(self._late.values()) + LATE_SECONDS
        return place if due is None or place < due else due

    def _current_ceiling(self, now: float) -> int:
        if len(self._late) >= LATE_PLACES:
            leased = self._frontier.leased
            self._late = {key: at for key, at in self._late.items() if at > now - LATE_SECONDS and leased(key)}
            if len(self._late) >= LATE_PLACES:
                return min(INACTIVE, self._scarcity.ceiling())
        return self._scarcity.ceiling()

    def _take(self, now: float) -> CrawlUrl | None:
        for _ in range(_LOOKED_AT):
            taken = self._frontier.take(now)
            if taken is None or self._may_go(taken, now):
                return taken
        return None

    def _may_go(self, url: CrawlUrl, now: float) -> bool:
        """Whether a leased URL is fetched; if not, end its lease."""
        handler = self._kinds[url.kind]
        if reason := handler.late_refusal(url):
            handler.refuse(url, reason)
            return False
        if (until := handler.hold_until(url, now)) > now:
            self._frontier.hold(url.key, until)
            return False
        if not handler.is_guarded or url.precedence <= FIRST or not url.depth:
            return True
        later = url.precedence
        for precedence in self._parts.precedences:
            later = max(later, precedence(url, now))
        if later > url.precedence:
            self._frontier.set_precedence(url.key, later)
            self._ordering.postponed(url.url)
            self._peers.postponed(url.url)
            return False
        for turn in self._parts.turns:
            if not turn(url, now):
                self._frontier.hold(url.key, url.not_before)  # its host now waits in a later class
                return False
        return True

    def _preferred(self, first: CrawlUrl, now: float, preferred: Callable[[str], bool]) -> CrawlUrl:
        """Lease and return the first URL of a preferred host, starting with ``first``, which is leased; ``first`` if none is."""
        passed: list[CrawlUrl] = []
        taken: CrawlUrl | None = first
        while taken is not None and not preferred(origin_of(taken.url)):
            passed.append(taken)
            taken = self._take(now) if len(passed) < _CANDIDATES else None
        if taken is None:
            taken = passed.pop(0)
        for url in passed:
            for part in self._parts:
                part.left(url)
            self._frontier.hold(url.key, url.not_before)  # its host gets its turn back
        return taken
