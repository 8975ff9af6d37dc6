"""The visits of one worker: the hosts and addresses that it visits, as registered in Redis."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from itertools import count
from math import inf

from redis.exceptions import RedisError

from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.crew import Crew, HostVisit
from crawlproject.frontier.redis.exchange import VisitCandidate, Work
from crawlproject.frontier.redis.steps import Steps
from crawlproject.records import REVISIT, CrawlUrl

_REMEMBERED = 200_000  # hosts


class Visits:
    """``asked``: candidates that Redis has not answered yet. ``begun``: the visits of URLs that may be fetched.

    ``blocked``: hosts that must not be visited before a time, for any purpose.
    """

    def __init__(self, crew: Crew, steps: Steps, blocked: dict[str, float]) -> None:
        self._blocked = blocked
        self.asked: dict[str, VisitCandidate] = {}
        self.begun: dict[str, HostVisit] = {}
        self._crew = crew
        self._steps = steps
        self.by_scripts: dict[str, HostVisit] = {}  # by host, for fetches that are not URLs of the frontier
        self._unanswered: deque[HostVisit] = deque()  # requests of scripts without a reply: they may have begun
        self._addresses: dict[str, str] = {}
        self._numbers = count(1)

    def candidate(self, url: CrawlUrl, now: float) -> VisitCandidate:
        """Ask for the visit of this URL. A reply that comes too late is ignored: another may visit the host by then."""
        until = now + self._crew.lease / 2  # the other half is for the fetch
        candidate = VisitCandidate(url.key, self._new(queue_of(url.url)), until, url.kind == REVISIT)
        self.asked[url.key] = candidate
        return candidate

    def begin(self, url: CrawlUrl) -> float:
        """Ask for the visit of a URL, and wait for the reply: 0.0, or seconds until the next request may succeed."""
        visit = self._new(queue_of(url.url))
        opens = self._crew.begin(visit)
        if not opens:
            self.begun[url.key] = visit
        return opens

    def end(self, url: str, rest: float) -> None:
        """End the visit of a URL, if there is one. Its host rests for ``rest`` seconds."""
        visit = self.begun.pop(url, None)
        if visit is not None:
            self._steps.tell(lambda work: work.end(visit, rest))

    def end_all(self) -> None:
        """End all visits, and those that were requested but not answered yet."""
        self.end_unanswered()
        for candidate in self.asked.values():
            self._steps.tell(partial(_end, candidate.visit, 0.0))
        self.asked.clear()
        for url in list(self.begun):
            self.end(url, 0.0)

    def end_unanswered(self) -> None:
        """End the visits that scripts requested while Redis was away: no fetch came of them."""
        while self._unanswered:
            self._steps.tell(partial(_end, self._unanswered.popleft(), 0.0))

    def end_of_before(self, host: str, rest: float) -> None:
        """End a visit of an earlier, killed process of this worker: the host may belong to another worker now."""
        self._steps.tell(partial(_end, HostVisit(0, (host,)), rest))

    def passed(self, host: str, rest: float) -> None:
        """Report a visit to a host that was not registered in Redis."""
        if rest > 0:
            self._steps.tell(lambda work: work.passed.append((host, rest)))

    def move(self, host: str, address: str) -> None:
        """The host is at this address. A visit under way extends to it, and no longer to the host's previous address."""
        if self._addresses.get(host, "") == address:
            return
        self._addresses[host] = address
        if len(self._addresses) > _REMEMBERED:
            del self._addresses[next(iter(self._addresses))]
        for url, visit in self._of(host):
            self.begun[url] = moved = HostVisit(visit.number, self._places(host))
            if len(visit.places) > 1:
                self._steps.tell(partial(_end, HostVisit(visit.number, visit.places[1:]), 0.0))
            if len(moved.places) > 1:
                self._steps.tell(partial(_go_on, HostVisit(visit.number, moved.places[1:])))

    def block(self, host: str, until: float) -> None:
        """Do not visit the host before ``until``."""
        self._blocked[host] = until
        if len(self._blocked) > _REMEMBERED:
            del self._blocked[next(iter(self._blocked))]

    def begin_by_script(self, host: str, now: float, beside: str) -> float:
        """As ``Frontier.visit``. Called from other threads; infinity while Redis is away."""
        if (until := self._blocked.get(host, 0.0)) > now:
            return until
        address = self._addresses.get(host)
        if beside and (host == beside or (address and address == self._addresses.get(beside))):
            return now
        visit = self._new(host)
        try:
            opens = self._crew.begin(visit)
        except RedisError:
            self._unanswered.append(visit)
            return inf
        if not opens:
            self.by_scripts[host] = visit
        return now + opens

    def end_by_script(self, host: str, rest: float) -> None:
        """End such a visit."""
        visit = self.by_scripts.pop(host, None)
        if visit is not None:
            self._steps.tell(lambda work: work.end(visit, rest))

    def _of(self, host: str) -> Iterable[tuple[str, HostVisit]]:
        return [(url, visit) for url, visit in self.begun.items() if visit.places[0] == host]

    def _new(self, host: str) -> HostVisit:
        return HostVisit(next(self._numbers), self._places(host))

    def _places(self, host: str) -> tuple[str, ...]:
        address = self._addresses.get(host)
        return (host, f"@{address}") if address else (host,)


def _go_on(visit: HostVisit, work: Work) -> None:
    work.visits.append(visit)


def _end(visit: HostVisit, rest: float, work: Work) -> None:
    work.end(visit, rest)
