"""A site as budgets see it: its fetches, what they were worth, and how much of that is trusted; and how open it is: the share of
its internal links that lead to pages to which no page of it has linked before.

Sites made by people close: their pages lead to each other, so that after a few pages most links are known. A site that is
written as fast as it is read stays open. It may say something new on every page, in any words, under any URLs: what makes it
endless is that each page leads to pages that nothing else leads to. Of the sites of real webs with a dozen fetched pages nine of
ten have a share below 0.4, departments of 1997 with a tree for each of their people up to 0.89; traps have 0.75 to 1.

Links that are never fetched say nothing: links that robots.txt or a rule forbids are not counted, nor are links that only do
something with the page that has them, such as the edit, history and login links of a wiki.

A host that blocks is left alone, longer each time, and then given up. Each block raises its level by one, each page with content
lowers it by one. So captchas for more than half of the pages end the visits eventually, and a single one is forgotten. A parked
domain is given up after two pages.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.core.learned_state import Packed, empty_table, packed, unpack
from crawlproject.pages.page_types import PARKED
from crawlproject.records import FetchEvent, Visit
from crawlproject.urls.hosts import domain_of, folder_of, host_of

SPAM = 4.0  # worth that a page of pure spam takes away: two of them are enough
GIVEN_UP = "host/given_up"  # the reason for which URLs of such a host are refused
LONGEST_REST = 3_600.0  # seconds

_PRIOR = 0.5  # mean worth of an unknown site
_PRIOR_PAGES = 2.0  # pages that this counts as
_KNOWN = 5.0  # fetches after which a site counts as known
_OPEN, _ENDLESS = 0.6, 0.85  # new-link ratio at which a site begins to look endless, and at which it fully does
_SURELY_OPEN = 0.95  # ratio that is suspect even of a site that a person named: large sites of people reach 0.89
_WASTED = 0.25  # share of its fetches above which a site is suspect, if they are wasted
_HONEST_PAGES = 10.0  # that such a site is assumed to have as well
_PLACES = (1 << 27) - 1  # bits of the table of links, 16 MB; in a full one links look old, which is the harmless error
_LINKS = 100  # of a page within its site that are examined
_PRIOR_RATIO = 0.3  # the first page of a site has only new links: it counts as this
_MEMORY = 30.0  # pages after which older ones fade
_SITES = 50_000  # sites that are remembered
_CLOSED = 0.4  # ratio up to which it does not matter which links count: asking for each costs more than learning them
# In a query, or as the last word of a path: what wikis, forums and repositories offer for each page.
_ACTION = re.compile(
    r"[?&;](?:action|do|cmd|oldid|diff|rev|returnto|redlink|replytocom|printable|veaction)="
    r"|/(?:edit|history|login|signin|register|logout|reply|quote|report|share|print|diff|revisions|raw|blame|talk)/?(?:[?#]|$)"
    r"|/(?:Special|Talk|User):",
    re.IGNORECASE,
)
_MOST_DOUBLINGS = 32  # of the first rest: where no host is given up, levels have no end
_BLOCKS = ("block/", "flood/", "safety/decompression")  # errors of hosts that send no page on purpose
_ASKING = (429, 503)  # statuses that mean the host, not the page
_FORBIDDEN = 403
_SEVERAL = 3  # forbidden pages, or pages with a captcha, in a row before they count against the host
_MANY = 10  # the same where no page of their kind has ever come, but pages of other kinds have
_KINDS = 50_000  # kinds of URLs that are remembered
_PARKED_PAGES = 2
_REMEMBERED = 100_000  # hosts and sites that misbehaved; the one that did so longest ago is forgotten first


class Site:
    """What was learned about a registrable domain."""

    __slots__ = ("distrust", "fetches", "links", "named", "new_link_ratio", "recommended", "wasted", "worth")

    def __init__(self) -> None:
        self.fetches = 0.0  # those that brought nothing count less
        self.worth = 0.0  # sum over its pages, each 0 to 1
        self.links: dict[str, float] = {}  # other sites that link here, each with the worth of its best link
        self.named = False  # by a person: it has a seed, or is among the allowed domains
        self.recommended = False  # it is named, or a seed links to it
        self.wasted = 0.0  # fetches of duplicates, spam, blocks and pages that say nothing new
        self.new_link_ratio = 0.0  # share of its internal links that lead to new pages
        self.distrust = 0.0  # how far its pages count as spam, whatever they look like, 0 to 1

    @property
    def trusted_worth(self) -> float:
        """The worth of its pages, which count as spam as far as the site is distrusted."""
        return (1.0 - self.distrust) * self.worth - SPAM * self.distrust**2 * self.fetches

    def mean(self, worth: float) -> float:
        """The expected worth of a page of the site, 0 to 1, if its pages are worth ``worth`` together."""
        return max(0.0, (worth + _PRIOR * _PRIOR_PAGES) / (self.fetches + _PRIOR_PAGES))

    @property
    def endless(self) -> float:
        """How far it looks endless, 0 to 1."""
        return ramp(self.new_link_ratio, _OPEN, _ENDLESS)

    @property
    def is_suspect(self) -> bool:
        """Whether there is evidence that it is a trap or a heap of copies, even if a person named it."""
        wasted = self.wasted / (self.fetches + _HONEST_PAGES)
        return self.distrust > 0.0 or wasted > _WASTED or self.new_link_ratio > _SURELY_OPEN

    @property
    def single_source(self) -> bool:
        """Whether it is hardly known, only one other site links to it, and no person recommended it."""
        return self.fetches < _KNOWN and len(self.links) < 2 and not self.recommended


def ramp(value: float, low: float, high: float) -> float:
    """0 up to ``low``, 1 from ``high`` on, linear between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def is_action(url: str) -> bool:
    """Whether a URL, by its words, only does something with another page."""
    return _ACTION.search(url) is not None


class NewLinkRatio:
    """The new-link ratios of the registrable domains of a crawl, learned from each page that is kept. Memory is bounded."""

    def __init__(self) -> None:
        self._seen = empty_table((_PLACES + 1) >> 3, np.uint8)
        self._sites: OrderedDict[str, tuple[float, int]] = OrderedDict()  # ratio, and pages

    def learned(self) -> tuple[Packed, OrderedDict[str, tuple[float, int]]]:
        """The whole state, for a checkpoint."""
        return packed(self._seen), self._sites

    def set_learned(self, learned: tuple[Packed, OrderedDict[str, tuple[float, int]]]) -> None:
        """Restore this state."""
        seen, self._sites = learned
        unpack(seen, self._seen)

    def learn(self, url: str, links: Iterable[str], counts: Callable[[str], bool] = lambda link: True) -> float:
        """Learn from a page at ``url`` with the canonical URLs ``links``, of which those count for which ``counts`` is true.

        Returns the new-link ratio of its site, 0 to 1.
        """
        own, here = domain_of(url), url[: url.index("/", 8) + 1]
        # A URL contains the name of its site: the others need not be parsed.
        inside = [
            link for link in dict.fromkeys(links) if link.startswith(here) or (own in link and domain_of(link) == own)
        ]
        self._new_among((url,))
        new_link_ratio, pages = self._sites.pop(own, (_PRIOR_RATIO, 0))
        if new_link_ratio > _CLOSED:
            inside = [link for link in inside[: 2 * _LINKS] if counts(link) and not is_action(link)]
        new = self._new_among(inside[:_LINKS])
        if inside:
            share = new / min(len(inside), _LINKS)
            if pages:
                new_link_ratio += (share - new_link_ratio) / min(pages + 1, _MEMORY)
            pages += 1
        self._sites[own] = new_link_ratio, pages
        if len(self._sites) > _SITES:
            self._sites.popitem(last=False)
        return new_link_ratio

    def of(self, url: str) -> float:
        """The new-link ratio of the site of ``url``."""
        return self._sites.get(domain_of(url), (_PRIOR_RATIO, 0))[0]

    def _new_among(self, urls: Iterable[str]) -> int:
        """How many of ``urls`` are seen for the first time; marks them as seen."""
        seen, new = self._seen, 0
        for url in urls:
            place = xxh3_64_intdigest(url.encode()) & _PLACES
            bit = 1 << (place & 7)
            place >>= 3
            if not seen[place] & bit:
                seen[place] |= bit
                new += 1
        return new


class HostHealth:
    """A host rests ``first_rest`` seconds after its first block, twice as long each time, and is given up at ``patience`` levels.

    A ``patience`` of 0 means never, a ``first_rest`` of 0 no rest. ``rests`` is called with a host and the end of its rest; 0: it
    is over. A page that is forbidden, or behind a captcha, is excused (``_MANY`` - 1 in a row) where pages of other kinds came
    from the host but none of its kind: a kind is a folder, or a path with the names of a query.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("_kinds", "_levels", "_parked", "_walls", "given_up", "resting")

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
        self._kinds: OrderedDict[int, None] = OrderedDict()  # digests of hosts, and of kinds, that brought a page
        self._walls: OrderedDict[str, int] = OrderedDict()  # host -> such pages in a row, of kinds that brought none
        self.resting: OrderedDict[str, float] = OrderedDict()  # host -> end of its rest
        self._silent: OrderedDict[str, float] = OrderedDict()  # the same for hosts that do not answer, in this run
        self._parked: OrderedDict[str, int] = OrderedDict()
        self.given_up: set[str] = set()  # hosts, and sites that are parked

    def learn(self, event: FetchEvent) -> None:
        """Learn from a fetch. A redirect says nothing about its host."""
        visit = event.visit
        if visit.is_page:
            host = host_of(visit.url)
            self._walls.pop(host, None)
            for name in (host, _kind(visit.url)):
                _remember(self._kinds, _digest(name), None, _KINDS)
            if (self.resting or self._silent) and self.rests_until(visit.url):
                self.resting.pop(host, None)
                self._silent.pop(host, None)
                self._rests(host, 0.0)
            if (level := self._levels.get(host, 0)) > 1:
                self._levels[host] = level - 1
            else:
                self._levels.pop(host, None)
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
            return  # a wiki that forbids editing does not forbid reading
        wall = "block/" if visit.status == 200 else "http"  # a page that says so, or only its status
        of_page = visit.status in (200, _FORBIDDEN) and visit.error.startswith(wall)
        if of_page and _digest(host) in self._kinds and _digest(_kind(visit.url)) not in self._kinds:
            walls = self._walls.pop(host, 0) + 1
            _remember(self._walls, host, walls, _REMEMBERED)
            if walls < _MANY:
                return
        level = self._count(self._levels, host, self._patience)
        if not self._first_rest or (of_page and level < _SEVERAL):
            return
        rest = min(LONGEST_REST, self._first_rest * 2.0 ** min(level - 1, _MOST_DOUBLINGS))
        self._rest(self.resting, host, visit.at + rest)

    def refusal(self, url: str) -> str:
        """``GIVEN_UP`` if the host or site of ``url`` was given up, else empty."""
        return GIVEN_UP if host_of(url) in self.given_up or domain_of(url) in self.given_up else ""

    def rest(self, url: str, until: float) -> None:
        """Let the host of ``url`` rest in this run, since it does not answer."""
        self._rest(self._silent, host_of(url), until)

    def rests_until(self, url: str) -> float:
        """The end of the rest of the host of ``url``; 0 if there is none."""
        if not (self.resting or self._silent):
            return 0.0
        host = host_of(url)
        return max(self.resting.get(host, 0.0), self._silent.get(host, 0.0))

    def _rest(self, resting: OrderedDict[str, float], host: str, until: float) -> None:
        _remember(resting, host, until, _REMEMBERED)
        self._rests(host, until)

    def _count(self, levels: OrderedDict[str, int], name: str, most: int) -> int:
        level = levels.pop(name, 0) + 1
        if most and level >= most:
            self.given_up.add(name)
            return level
        _remember(levels, name, level, _REMEMBERED)
        return level


def _kind(url: str) -> str:
    path, _, query = url.partition("?")
    if query:
        return f"{path}?{'&'.join(sorted({field.partition('=')[0] for field in re.split('[&;]', query)}))}"
    return folder_of(path if path.count("/") == 3 else path.removesuffix("/"))  # a slash at the end makes no folder


def _digest(name: str) -> int:
    return xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"))


def _remember(table: OrderedDict[Any, Any], name: Any, value: Any, most: int) -> None:
    table.pop(name, None)
    table[name] = value
    if len(table) > most:
        table.popitem(last=False)
