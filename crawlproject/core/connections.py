"""What cannot be reached: a page, a host, or the network.

A fetch without any reply (no address, refused, aborted, time-out) is not final: its URL waits again, and its host rests.

- A *page* that fails while its host answers is tried ``PAGE_RETRIES`` more times.
- A *host* that fails while others answer is tried again after ``delay`` seconds, which double each time, up to
  ``LONGEST * delay``: ``NEW_RETRIES`` times, or ``KNOWN_RETRIES`` times if it has answered before. Each of its ports counts
  separately, because many sites answer over http only. If one port answers, a port that does not delays only its own URLs.
- A *robots.txt* that is an error, or cannot be asked for now, forbids only its host, which is tried again in the same way.
- ``ANY_HOSTS`` hosts that fail in a row may all be dead, so hosts that have answered before are tried next.
- An *outage* begins when ``KNOWN_HOSTS`` hosts that have answered before fail in a row; or ``ANY_HOSTS`` hosts, if one of them,
  or no host at all, has answered before; or else twice as many; or when nothing else is left to try. The crawl then pauses, and
  probes with one URL at delays that double in the same way. Failures during an outage are not counted; the first answer ends it.

Heritrix retries failed connections of a host with a delay (``retry-delay-seconds``, 15 minutes) up to 30 times, and does not
detect outages. All numbers are ours.
"""

from __future__ import annotations

from collections import OrderedDict
from math import inf
from typing import Any, NamedTuple

from crawlproject.urls.hosts import host_of

PAGE_RETRIES = 2
NEW_RETRIES = 2
KNOWN_RETRIES = 6
KNOWN_HOSTS = 5
ANY_HOSTS = 20
LONGEST = 60.0  # times the first delay
SOON = 0.1  # times the first delay: the time from the probe of a host that has never answered to the next probe
STRANGERS = 100  # such probes in an outage; further ones follow at the usual delays
START = 12.0  # times the first delay: how long a run waits for its very first answer

_REMEMBERED = 10_000  # hosts that answered, and hosts and URLs that did not


class Retry(NamedTuple):
    """The consequence of a failure: the host rests for ``rest`` seconds (``url_only``: only the URL does). ``again``: try the URL
    again.
    """

    rest: float
    again: bool = True
    url_only: bool = False


class Connections:
    """Tracks the hosts of one run that answered, those that did not, and the outage. Memory is bounded.

    An ``origin`` (``http://host:port``) answers or does not; its host rests.
    ``delay`` is the time until the first retry, in seconds. ``patience`` is how long an outage may last before the crawl ends, in
    seconds (0: for ever); a run in which no host has answered yet waits at most ``START * delay`` seconds.
    """

    def __init__(self, *, delay: float, patience: float) -> None:
        self.began: float | None = None  # when the outage began; None: there is none
        self.outages = 0
        self.latest = 0.0  # duration of the latest outage in seconds
        self.failure = ""  # the latest one, with its origin
        self.probe = ""  # key of the URL that was taken last during the outage
        self._delay = delay
        self._patience = patience
        self._answering: OrderedDict[str, None] = OrderedDict()  # origins
        self._alive: OrderedDict[str, None] = OrderedDict()  # their hosts
        self._failing: OrderedDict[str, int] = OrderedDict()  # origins, with their failures since their last answer
        # Keys of URLs, with the number of their failures while their origin was not failing.
        self._tries: OrderedDict[str, int] = OrderedDict()
        # Origins that failed since the latest answer of any host, and whether they had answered before.
        self._in_a_row: dict[str, bool] = {}
        self._row_began = 0.0
        self._wait = delay
        self._next_probe = 0.0
        self._strangers = 0  # probes of hosts that have never answered, in this outage

    # ------------------------------------------------------------ events

    def answered(self, origin: str, now: float, *, open_to_us: bool = True) -> None:
        """Any reply came from ``origin``. ``open_to_us`` is False if its robots.txt is an error."""
        if origin not in self._answering:
            _remember(self._answering, origin, None)
            _remember(self._alive, _host(origin), None)
        if self._failing and open_to_us:
            self._failing.pop(origin, None)
        if self._in_a_row:
            self._in_a_row.clear()
            if self.began is not None:
                self.latest = now - self.began
                self.began = None

    def turned_away(self, origin: str) -> Retry:
        """``origin`` has answered, but nothing may be requested from it, because its robots.txt is an error."""
        failures = self._failing.pop(origin, 0) + 1
        _remember(self._failing, origin, failures)
        if failures > self._retries(origin):
            return Retry(LONGEST * self._delay, again=False)
        return Retry(self._rest(failures))

    def failed(self, key: str, origin: str, now: float, *, waiting: int, in_flight: int, error: str = "") -> Retry:
        """No reply came from ``origin`` for the URL ``key``; ``waiting`` hosts have URLs, ``in_flight`` others are fetched."""
        self.failure = f"{origin}: {error}"
        if self.began is not None:
            return Retry(self._after_probe(origin, now) if key == self.probe else self._delay)
        if not self._in_a_row:
            self._row_began = now
        known, before = origin in self._answering, origin in self._in_a_row
        self._in_a_row[origin] = known
        alone = before and not in_flight and waiting <= len(set(map(_host, self._in_a_row)))
        if self._is_outage(alone):
            self.outages += 1
            self.began, self.probe, self._wait, self._strangers = self._row_began, "", self._delay, 0
            self._next_probe = now + self._delay
            return Retry(self._delay)
        tries = self._tries.pop(key, 0) + (origin not in self._failing)
        # Without any answer since the last failure, the network may be the cause.
        failures = self._failing.pop(origin, 0) + (alone or not before)
        _remember(self._tries, key, tries)
        _remember(self._failing, origin, failures)
        closed = self._is_closed_port(origin)
        if failures > self._retries(origin):
            return Retry(self._delay if closed else LONGEST * self._delay, again=False, url_only=closed)
        return Retry(self._rest(failures), again=tries <= PAGE_RETRIES, url_only=closed)

    # ------------------------------------------------------------ questions

    @property
    def needs_witness(self) -> bool:
        """Whether only a host that has answered before can show that the network works."""
        return self.began is not None or len(self._in_a_row) >= ANY_HOSTS

    def has_answered(self, origin: str) -> bool:
        """Whether ``origin`` has ever answered in this run."""
        return origin in self._answering

    def next_take(self) -> float:
        """When the next URL may be taken, in seconds since the epoch; 0 without an outage."""
        return 0.0 if self.began is None else self._next_probe

    def deadline(self) -> float | None:
        """When the outage will have lasted too long; None: never, or there is no outage."""
        if self.began is None:
            return None
        limits = [limit for limit in (self._patience, 0.0 if self._answering else START * self._delay) if limit]
        return self.began + min(limits) if limits else None

    def is_over(self, now: float) -> bool:
        """Whether the crawl has waited long enough for the end of the outage."""
        return self.began is not None and now >= (self.deadline() or inf)

    def is_in_doubt(self, origin: str) -> bool:
        """Whether ``origin`` did not answer, or turned us away, but may still answer: then its robots.txt is requested first."""
        return 0 < self._failing.get(origin, 0) <= self._retries(origin)

    def is_given_up(self, origin: str) -> bool:
        """Whether ``origin`` did not answer, or turned us away, and is given up."""
        return self._failing.get(origin, 0) >= self._retries(origin) + 1 and self.began is None

    # ------------------------------------------------------------ inside

    def _is_outage(self, alone: bool) -> bool:
        """``alone``: nothing else is left to try. If so, new hosts that fail count as dead if others have answered."""
        known = sum(self._in_a_row.values())
        most = ANY_HOSTS if known or not self._answering else 2 * ANY_HOSTS
        if known >= KNOWN_HOSTS or len(self._in_a_row) >= most:
            return True
        return alone and (known > 0 or not self._answering)

    def _rest(self, failures: int) -> float:
        """Seconds until a host is tried again after ``failures`` failures."""
        return self._delay * min(LONGEST, 2.0 ** (failures - 1))

    def _retries(self, origin: str) -> int:
        return KNOWN_RETRIES if origin in self._answering else NEW_RETRIES

    def _is_closed_port(self, origin: str) -> bool:
        """Whether the host of ``origin`` has answered only at another port."""
        return origin not in self._answering and _host(origin) in self._alive

    def _after_probe(self, origin: str, now: float) -> float:
        """The probe failed: schedule the next one. Return for how many seconds its host rests.

        The failure of a host that has never answered says little about the network: the next probe follows soon.
        """
        if origin in self._answering or not self._answering:
            self._wait = min(2.0 * self._wait, LONGEST * self._delay)
            self._next_probe = now + self._wait
            return self._delay
        self._strangers += 1
        self._next_probe = now + (SOON * self._delay if self._strangers <= STRANGERS else self._wait)
        return self._delay if self._is_closed_port(origin) else LONGEST * self._delay


def _host(origin: str) -> str:
    return host_of(f"http://{origin.rpartition('/')[2]}/")


def _remember(table: OrderedDict[str, Any], name: str, value: Any) -> None:
    table[name] = value
    if len(table) > _REMEMBERED:
        table.popitem(last=False)
