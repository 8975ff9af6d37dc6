"""Which hosts block: one that does is left alone, longer each time, and then given up.

A host has a level. Each block raises it by one, each page with content lowers it by one; so a captcha for every second page
ends the visits in the end, and a single one is forgotten. A parked domain is given up after two pages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from crawlproject.pages.page_types import PARKED
from crawlproject.parts.sites.new_link_ratio import is_action
from crawlproject.records import FetchEvent, Visit
from crawlproject.urls.hosts import domain_of, host_of

GIVEN_UP = "host/given_up"  # the reason why URLs of such a host are refused

LONGEST_REST = 3_600.0  # seconds
_MOST_DOUBLINGS = 32  # of the first rest: where no host is given up, levels have no end
_BLOCKS = ("block/", "flood/", "safety/decompression")  # errors: no page, on purpose
_ASKING = (429, 503)  # statuses that mean the host, not the page
_FORBIDDEN = 403
_SEVERAL = 3  # forbidden pages in a row before the host is meant
_PARKED_PAGES = 2
_REMEMBERED = 100_000  # hosts and sites that misbehaved; the one that did so longest ago is forgotten first


class HostHealth:
    """A host rests ``first_rest`` seconds after its first block, twice as long each time, and is given up at ``patience`` levels.

    0 of ``patience`` means never, 0 of ``first_rest`` no rest. Nothing is remembered of hosts that behave. ``rests`` is
    called with a host and the end of its rest, 0: it is over.
    """

    def __init__(
        self,
        *,
        first_rest: float = 30.0,
        patience: int = 6,
        rests: Callable[[str, float], object] = lambda host, until: None,
    ) -> None:
        self._rests = rests
        self._first_rest = first_rest
        self._patience = patience
        self._levels: OrderedDict[str, int] = OrderedDict()
        self._resting: OrderedDict[str, float] = OrderedDict()
        self._parked: OrderedDict[str, int] = OrderedDict()
        self.given_up: set[str] = set()  # hosts, and sites that are parked

    def learn(self, event: FetchEvent) -> None:
        """A redirect says nothing about its host."""
        visit = event.visit
        if visit.is_page:
            self._answered(host_of(visit.url))
        elif visit.error:
            self._failed(visit)

    def _failed(self, visit: Visit) -> None:
        if visit.error == PARKED:
            self._count(self._parked, domain_of(visit.url), _PARKED_PAGES)
            return
        host, is_block = host_of(visit.url), visit.error.startswith(_BLOCKS)
        if not is_block and visit.status not in (*_ASKING, _FORBIDDEN):
            return
        if visit.status == _FORBIDDEN and not is_block and is_action(visit.url):
            return  # a wiki that lets nobody edit has nothing against its readers
        level = self._count(self._levels, host, self._patience)
        if not self._first_rest or (visit.status == _FORBIDDEN and not is_block and level < _SEVERAL):
            return
        self.rest(visit.url, visit.at + min(LONGEST_REST, self._first_rest * 2.0 ** min(level - 1, _MOST_DOUBLINGS)))

    def _answered(self, host: str) -> None:
        """A page with content came."""
        if self._resting.pop(host, None) is not None:
            self._rests(host, 0.0)
        level = self._levels.get(host)
        if level is None:
            return
        if level > 1:
            self._levels[host] = level - 1
        else:
            del self._levels[host]

    def refusal(self, url: str) -> str:
        """``GIVEN_UP`` when nothing is fetched any more from the host of ``url``, else empty."""
        if not self.given_up:
            return ""
        return GIVEN_UP if host_of(url) in self.given_up or domain_of(url) in self.given_up else ""

    def rest(self, url: str, until: float) -> None:
        """The host of ``url`` does not answer: it is left alone in this run."""
        host = host_of(url)
        self._resting.pop(host, None)
        self._resting[host] = until
        if len(self._resting) > _REMEMBERED:
            self._resting.popitem(last=False)
        self._rests(host, until)

    def resting(self) -> list[tuple[str, float]]:
        """The hosts that rest, each with the end of its rest."""
        return list(self._resting.items())

    def rests_until(self, url: str) -> float:
        """The end of the rest of the host of ``url``; 0: it has none."""
        return self._resting.get(host_of(url), 0.0) if self._resting else 0.0

    def _count(self, levels: OrderedDict[str, int], name: str, most: int) -> int:
        level = levels.pop(name, 0) + 1
        if most and level >= most:
            self.given_up.add(name)
            return level
        levels[name] = level
        if len(levels) > _REMEMBERED:
            levels.popitem(last=False)
        return level
