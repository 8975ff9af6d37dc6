"""The URLs that one worker is fetching, from the request to Redis to the end of the visit."""

from __future__ import annotations

from collections.abc import Callable

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.correspondence import Correspondence
from crawlproject.frontier.redis.crew import BURST
from crawlproject.frontier.redis.exchange import RedisExchange
from crawlproject.frontier.redis.handover import Handover
from crawlproject.frontier.redis.members import Shares
from crawlproject.frontier.redis.reception import Reception
from crawlproject.frontier.redis.steps import Steps
from crawlproject.frontier.redis.visits import Visits
from crawlproject.records import CrawlUrl


class OpenLeases:
    """``held`` are the URLs that were taken; with those on their way, there are at most ``limit``. The methods are those of the
    contract (``frontier/base.py``). ``exchange`` is set when the worker starts; before, calls wait for Redis.
    """

    def __init__(
        self,
        held: dict[str, CrawlUrl],
        own: FrontierCore,
        shares: Shares,
        handover: Handover,
        steps: Steps,
        visits: Visits,
        letters: Correspondence,
        reception: Reception,
        clock: Callable[[], float],
    ) -> None:
        self._held = held
        self._own = own
        self._shares = shares
        self._handover = handover
        self._steps = steps
        self._visits = visits
        self._letters = letters
        self._reception = reception
        self._clock = clock
        self.exchange: RedisExchange | None = None
        self.limit = 0
        self.rate = 0.0  # fetches a second of all workers; 0: any number

    def give_back(self) -> None:
        """The worker ends: URLs that the caller has not taken wait again, and the hosts of interrupted fetches rest."""
        for url in [*self._visits.asked, *(self._visits.begun.keys() - self._held.keys())]:
            if (lease := self._own.leased(url)) is not None:
                self._own.hold(url, lease.not_before)
        for url in self._held:  # their hosts have been visited
            self._visits.end(url, self._rest(queue_of(url), self._clock(), 0.0))
        for host in list(self._visits.by_scripts):
            self._visits.end_by_script(host, self._rest(host, self._clock(), 0.0))
        self._visits.end_all()

    def take(self, now: float) -> CrawlUrl | None:
        while self._reception.arrived:
            arrived, until = self._reception.arrived.popleft()
            if self._own.leased(arrived.key) is not None:
                if now <= until:
                    self._held[arrived.key] = arrived
                    return arrived
                self._own.hold(arrived.key, arrived.not_before)
            self._visits.end(arrived.key, 0.0)
        if self.exchange is None:
            return self._take_waiting(now)
        if self._handover.is_open or now < self._reception.no_pages_until:
            return None
        asked = []
        while (
            len(self._visits.begun) + len(self._visits.asked) < self.limit and (url := self._own.take(now)) is not None
        ):
            asked.append(self._visits.candidate(url, now))
        if asked:
            self._steps.tell(lambda work: work.candidates.extend(asked))
        return None

    def _take_waiting(self, now: float) -> CrawlUrl | None:
        """The next URL before ``start``. Waits for the server."""
        while (url := self._own.take(now)) is not None:
            opens = self._visits.begin(url)
            if not opens:
                self._held[url.key] = url
                return url
            self._reception.refuse(url, now, opens)
        return None

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        host = queue_of(url)
        rest, state = self._rest(host, now, seconds), self._own.state_of(url)
        with self._steps.step():
            if not state and not self._shares.is_own(host):
                self._letters.write(mail.DONE, url)
            else:
                self._own.done(url, now, seconds, refetch_at, score)
            if url in self._held:
                self._ended(url, rest)
            elif state != "done":
                self._visits.passed(host, rest)

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        if url in self._held:
            rest = self._rest(queue_of(url), now, seconds)
            self._own.release(url, now, seconds, not_before=not_before, picked=picked)
            self._ended(url, rest)

    def _ended_unfetched(self, url: str) -> None:
        """End a lease, if there is one, without a visit: its share of the rate is free for another fetch."""
        if url in self._held and self.rate and self.exchange is not None:
            with self.exchange:
                self.exchange.unused = min(BURST, self.exchange.unused + 1)
        self._ended(url, 0.0)

    def _ended(self, url: str, rest: float) -> None:
        """End the lease of a URL, if there is one. If its host now belongs to another worker, send the URL there."""
        if self._held.pop(url, None) is None:
            return
        with self._steps.step():
            self._visits.end(url, rest)
            if not self._shares.has(url):
                self._letters.give(url, self._own.state_of(url) == "done")

    def hold(self, url: str, until: float) -> bool:
        if self._is_on_its_way(url):
            return True
        if self._own.hold(url, until):
            self._ended_unfetched(url)
        elif not self._shares.has(url):
            self._letters.hold(url, until)
        else:
            return False
        return True

    def set_precedence(self, url: str, precedence: int) -> bool:
        if self._is_on_its_way(url):
            return True
        if self._own.set_precedence(url, precedence):
            self._ended_unfetched(url)
        elif not self._shares.has(url):
            self._letters.write(mail.CLASS, url, precedence)
        else:
            return False
        return True

    def drop(self, url: str, *, picked: bool = False) -> None:
        if not self._own.state_of(url) and not self._shares.has(url):
            self._letters.write(mail.DROP, url)
            return
        self._own.drop(url, picked=picked)
        self._ended_unfetched(url)

    def _is_on_its_way(self, url: str) -> bool:
        """Whether the URL is leased but not yet taken: whether it must wait is then checked again when it is taken."""
        return url not in self._held and (url in self._visits.asked or url in self._visits.begun)

    def visited(self, host: str, now: float, seconds: float) -> None:
        self._own.rest_host(host, self._own.next_visit(host, now, seconds))
        self._visits.end_by_script(host, self._rest(host, now, seconds))

    def _rest(self, host: str, now: float, seconds: float) -> float:
        """Seconds from now that a host rests after a visit. ``now`` may be in the future: the host asked for a further rest."""
        since = now if self.exchange is None else self._clock()
        return self._own.next_visit(host, now, seconds) - since
