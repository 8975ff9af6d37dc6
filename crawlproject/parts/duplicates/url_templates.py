"""Which URL templates lead to pages that say nothing new.

Examples are calendars, shops that sort their goods in every way, soft 404s at every address, session ids in the path, pages
that ask not to be kept, and files of unread types: the next URL of the template brings what the last one brought. Such a
template is demoted: its URLs move to a later class, and their scores count less.

From time to time, one URL of a demoted template is tried before its turn. The delay between two trials grows with each
uninformative page, and is short again as soon as a page is informative.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xxhash import xxh3_64_intdigest

from crawlproject.core.stopping import wilson_lower_bound
from crawlproject.records import (
    NEW_TEXT,
    NOTHING_NEW,
    NOVELTY,
    REDUNDANT,
    REPETITIVE,
    UNINFORMATIVE,
    CrawlUrl,
    FetchEvent,
    Visit,
)
from crawlproject.urls.hosts import host_of
from crawlproject.urls.traps import is_wide, templates_of

DEMOTED_FROM = 0.5  # a template is demoted from this lower bound of its share of uninformative pages: three of three
RECOVERED_BELOW = 0.4  # a demoted template recovers below this bound
MEMORY = 40.0  # pages of a template that count: older ones fade
FIRST_DELAY = 60.0  # seconds between two fetches of a demoted template; doubles with each uninformative page
LONGEST_DELAY = 3600.0
FACTOR = 0.1  # of the score of a URL under a demoted template
BEFORE = 0.2  # prior share of new text of a template; it weighs as much as one page
SOME, HARDLY_ANY = 0.05, 0.02  # share of new text at best, below which a template comes after other demoted ones

_NOTHING = ("soft_404", "parked", "content type")  # errors that are uninformative, too
_WALL = "block/"
_INFORMATIVE_PAGES = 1.9  # two pages, the first of them faded: from then on wider templates do not count
_WIDE_PAGES = 10.0  # pages from which a wide template counts, if the narrower ones are undecided
_FETCHED = 100_000  # URLs that redirects may lead back to: 12 MB
_TURNS = 100_000  # templates whose next turn is remembered


@dataclass(slots=True)
class UrlTemplate:
    """The faded page counts of a template, and the delay between fetches of its URLs while it is demoted, in seconds."""

    uninformative: float = 0.0
    informative: float = 0.0
    worth: float = 0.0
    demoted: bool = False
    delay: float = FIRST_DELAY

    @property
    def pages(self) -> float:
        """The faded number of pages."""
        return self.uninformative + self.informative

    @property
    def worth_at_best(self) -> float:
        """The share of new text on its pages; with few pages, the prior ``BEFORE`` keeps it higher."""
        return (self.worth + BEFORE) / (self.pages + 1.0)

    def add(self, *, informative: bool, worth: float) -> None:
        """Add a page of this template. ``worth``: the share of its text that is new."""
        fade = 1 - 1 / MEMORY
        self.worth = self.worth * fade + worth
        self.uninformative = self.uninformative * fade + (not informative)
        self.informative = self.informative * fade + informative
        share = wilson_lower_bound(self.uninformative, self.informative)
        if self.demoted:
            self.delay = FIRST_DELAY if informative else min(2 * self.delay, LONGEST_DELAY)
            self.demoted = share >= RECOVERED_BELOW
        else:
            self.demoted = share >= DEMOTED_FROM


class UrlTemplates:
    """Learns the templates of a crawl, the last ``most`` of them, and decides which of their URLs have their turn."""

    LEARNED: ClassVar[tuple[str, ...]] = ("_fetched", "_hosts", "_templates", "recovered")

    def __init__(self, *, most: int = 100_000) -> None:
        self._most = most
        self._templates: OrderedDict[str, UrlTemplate] = OrderedDict()
        self.recovered = 0  # times that a template was no longer demoted
        self._fetched: OrderedDict[int, None] = OrderedDict()  # digests of recently fetched URLs
        self._hosts: Counter[str] = Counter()  # number of demoted templates of a host: most hosts have none
        self._turns: OrderedDict[str, float] = OrderedDict()  # template -> when its next URL may be tried, in this run

    def learn(self, event: FetchEvent) -> None:
        """Learn whether a fetch was informative; most failed fetches are ignored. Uninformative are the errors ``_NOTHING``, a
        page that asks not to be kept, a redirect to a page fetched before (to another page it is informative), and a captcha in
        place of a page; a captcha may block only some templates of a host, so it does not count for wide ones.
        """
        visit = event.visit
        is_wall = visit.status == 200 and visit.error.startswith(_WALL)
        if visit.is_page:
            self._note(visit.url)
        elif not (is_wall or visit.redirect or visit.error.startswith(_NOTHING)):
            return
        leads_on = bool(visit.redirect) and xxh3_64_intdigest(visit.redirect.encode()) not in self._fetched
        worth = 1.0 if leads_on else _new_share(visit)
        informative = worth >= NOTHING_NEW
        for name in templates_of(visit.url):
            if is_wall and is_wide(name):
                continue
            template = self._templates.setdefault(name, UrlTemplate())
            self._templates.move_to_end(name)
            before = template.demoted
            template.add(informative=informative, worth=worth)
            self.recovered += before > template.demoted
            if template.demoted != before:
                self._count(host_of(visit.url), template.demoted - before)
        while len(self._templates) > self._most:
            name, template = self._templates.popitem(last=False)
            if template.demoted:
                self._count(name.partition("/")[0], -1)

    def demoted(self, url: str) -> str | None:
        """The demoted template that holds ``url`` back; None if none does.

        The narrowest template that is known well enough decides.
        """
        if host_of(url) not in self._hosts:
            return None
        for name in templates_of(url):
            template = self._templates.get(name)
            if template is None:
                continue
            if template.demoted:
                return name if template.pages >= _WIDE_PAGES or not is_wide(name) else None
            if template.informative >= _INFORMATIVE_PAGES:
                return None
        return None

    def informative(self, url: str) -> bool:
        """Whether the narrowest template that is known well enough has brought several informative pages."""
        for name in templates_of(url):
            template = self._templates.get(name)
            if template is not None and (template.demoted or template.informative >= _INFORMATIVE_PAGES):
                return not template.demoted and not is_wide(name)
        return False

    def delay(self, name: str) -> float:
        """Seconds between two fetches of the demoted template ``name``."""
        return self._templates[name].delay

    def lowered(self, url: str, score: float) -> float:
        """The score of a URL, lowered under a demoted template: a tenth of a positive score, ten times a negative one."""
        if not self._hosts or self.demoted(url) is None:
            return score
        return score * FACTOR if score > 0 else score / FACTOR

    def later(self, url: str) -> int:
        """The class of a doubted URL: by the share of new text that pages of its templates bring at best."""
        worth = min((template.worth_at_best for _, template in self._doubting(url)), default=BEFORE)
        return UNINFORMATIVE if worth >= SOME else REPETITIVE if worth >= HARDLY_ANY else REDUNDANT

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """A later class under a demoted template, unless it is time to try another URL of the widest demoted one."""
        name = self.demoted(url.url) if self._hosts else None
        if name is None:
            return url.precedence
        for name, _ in self._doubting(url.url):  # noqa: B007 - the last one
            pass
        if now < self._turns.get(name, 0.0):
            return max(url.precedence, self.later(url.url))
        self._turns.pop(name, None)
        self._turns[name] = now + self.delay(name)
        if len(self._turns) > _TURNS:
            self._turns.popitem(last=False)
        return url.precedence

    def _doubting(self, url: str) -> Iterator[tuple[str, UrlTemplate]]:
        """Yield the demoted templates of a URL, narrowest first, up to an informative one; wide ones are left out."""
        for name in templates_of(url):
            template = self._templates.get(name)
            if template is None or is_wide(name):
                continue
            if template.demoted:
                yield name, template
            elif template.informative >= _INFORMATIVE_PAGES:
                return

    def _note(self, url: str) -> None:
        self._fetched[xxh3_64_intdigest(url.encode())] = None
        if len(self._fetched) > _FETCHED:
            self._fetched.popitem(last=False)

    def _count(self, host: str, change: int) -> None:
        self._hosts[host] += change
        if not self._hosts[host]:
            del self._hosts[host]


def _new_share(visit: Visit) -> float:
    """The share of new text, 0 to 1; 1 if half of the text or more is new."""
    if visit.duplicate_of or not visit.md5:
        return 0.0
    return visit.signs.get(NOVELTY, visit.signs.get(NEW_TEXT, 1.0))
