"""The visits of one worker: which hosts and addresses it visits, as Redis knows."""

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
    """``asked`` are the candidates of which Redis has not answered yet, ``begun`` the visits of URLs that may be fetched.

    ``blocked``: hosts that are not to be visited before a time, whatever for.
    """

    def __init__(self, crew: Crew, steps: Steps, blocked: dict[str, float]) -> None:
        self._blocked = blocked
        self.asked: dict[str, VisitCandidate] = {}
        self.begun: dict[str, HostVisit] = {}
        self._crew = crew
        self._steps = steps
        self.by_scripts: dict[str, HostVisit] = {}  # of hosts, for what is no URL of a frontier
        self._unanswered: deque[HostVisit] = deque()  # asked for by scripts: they may have begun
        self._addresses: dict[str, str] = {}
        self._numbers = count(1)

    def candidate(self, url: CrawlUrl, now: float) -> VisitCandidate:
        """The visit of this URL is asked for. An answer that takes too long is none: the host may be another's by then."""
        until = now + self._crew.lease / 2  # the other half is for the fetch
        candidate = VisitCandidate(url.key, self._new(queue_of(url.url)), until, url.kind == REVISIT)
        self.asked[url.key] = candidate
        return candidate

    def begin(self, url: CrawlUrl) -> float:
        """Ask for the visit of a URL, and wait for the answer: 0.0, or seconds until it may be asked for again."""
        visit = self._new(queue_of(url.url))
        opens = self._crew.begin(visit)
        if not opens:
            self.begun[url.key] = visit
        return opens

    def end(self, url: str, rest: float) -> None:
        """The visit of a URL has ended, if there was one: its host rests for so many seconds."""
        visit = self.begun.pop(url, None)
        if visit is not None:
            self._steps.tell(lambda work: work.end(visit, rest))

    def end_all(self) -> None:
        """Nothing is visited any more, nor by what was asked for and has no answer yet."""
        self.end_unanswered()
        for candidate in self.asked.values():
            self._steps.tell(partial(_end, candidate.visit, 0.0))
        self.asked.clear()
        for url in list(self.begun):
            self.end(url, 0.0)

    def end_unanswered(self) -> None:
        """What scripts have asked for while Redis was away is visited by nobody."""
        while self._unanswered:
            self._steps.tell(partial(_end, self._unanswered.popleft(), 0.0))

    def end_of_before(self, host: str, rest: float) -> None:
        """An earlier process of this worker, which was killed, may have been visiting a host that is another's now."""
        self._steps.tell(partial(_end, HostVisit(0, (host,)), rest))

    def passed(self, host: str, rest: float) -> None:
        """A host was visited without a visit that Redis knows of."""
        if rest > 0:
            self._steps.tell(lambda work: work.passed.append((host, rest)))

    def move(self, host: str, address: str) -> None:
        """The host is at this address: a visit under way is one to it as well, and no more to the address before."""
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
        """The host is not to be visited before."""
        self._blocked[host] = until
        if len(self._blocked) > _REMEMBERED:
            del self._blocked[next(iter(self._blocked))]

    def begin_by_script(self, host: str, now: float, beside: str) -> float:
        """As ``Frontier.visit``. It is called from other threads; infinity while Redis is away."""
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
        """Such a visit has ended."""
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
