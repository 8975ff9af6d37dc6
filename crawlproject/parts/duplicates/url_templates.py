"""Which URL templates lead to pages that say nothing new.

Calendars, shops with every order of their goods, soft 404s for every address, sessions in the path, pages that ask not to be
kept, files that nobody reads: what is behind the next URL is like what was behind the last. Such a template is demoted: its
URLs come later.

They count less, too: one of them is tried at a time before the others have their turn.

The delay between two of them grows with each uninformative page, and is short again as soon as one is informative.
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

DEMOTED_FROM = 0.5  # share of uninformative pages that is surpassed for sure: three in a row without another
RECOVERED_BELOW = 0.4  # the same for a template that is demoted
MEMORY = 40.0  # pages of a template that count: older ones fade
FIRST_DELAY = 60.0  # seconds between two fetches of a demoted template; doubles with each uninformative page
LONGEST_DELAY = 3600.0
FACTOR = 0.1  # what the score of a URL counts under a demoted template
BEFORE = 0.2  # share of text that is taken to be new before the first page of a template came: it counts for one page
SOME, HARDLY_ANY = 0.05, 0.02  # of the text is new at best: below, a template comes after others that are demoted

_NOTHING = ("soft_404", "parked", "content type")  # errors that are uninformative, too
_WALL = "block/"
_INFORMATIVE_PAGES = 1.9  # two, the first of them faded: then the wider templates do not count any more
_WIDE_PAGES = 10.0  # pages until they count, when the narrow ones say nothing
_FETCHED = 100_000  # URLs that redirects may lead back to: 12 MB
_TURNS = 100_000  # templates whose latest turn is remembered


@dataclass(slots=True)
class UrlTemplate:
    """The pages of a template, faded, and how long its URLs wait for each other, in seconds."""

    uninformative: float = 0.0
    informative: float = 0.0
    worth: float = 0.0
    demoted: bool = False
    delay: float = FIRST_DELAY

    @property
    def pages(self) -> float:
        """Pages that count."""
        return self.uninformative + self.informative

    @property
    def worth_at_best(self) -> float:
        """Which share of the text of its pages is new; as long as few are known it may be more."""
        return (self.worth + BEFORE) / (self.pages + 1.0)

    def add(self, *, informative: bool, worth: float) -> None:
        """One more page of this template. ``worth``: the share of its text that is new."""
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
    """A learner: the ``most`` templates seen last, and which of their URLs have their turn."""

    LEARNED: ClassVar[tuple[str, ...]] = ("_fetched", "_hosts", "_templates", "recovered")

    def __init__(self, *, most: int = 100_000) -> None:
        self._most = most
        self._templates: OrderedDict[str, UrlTemplate] = OrderedDict()
        self.recovered = 0  # times that a template was no longer demoted
        self._fetched: OrderedDict[int, None] = OrderedDict()  # digests of URLs that were, lately
        self._hosts: Counter[str] = Counter()  # how many templates of a host are demoted: most have none
        self._turns: OrderedDict[str, float] = (
            OrderedDict()
        )  # when the next URL of a template may be tried, in this run

    def learn(self, event: FetchEvent) -> None:
        """A fetch that brought nothing says nothing about what its template brings; a page that asks not to be kept is
        uninformative, and so are a redirect to a page that was fetched before (to another it is informative), and a captcha in
        place of a page, which may stand before some templates of a host.
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
        """The demoted template that holds ``url`` back; None when none does.

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
        """Whether the narrowest template that is known well enough has brought several pages with something new."""
        for name in templates_of(url):
            template = self._templates.get(name)
            if template is not None and (template.demoted or template.informative >= _INFORMATIVE_PAGES):
                return not template.demoted and not is_wide(name)
        return False

    def delay(self, name: str) -> float:
        """Seconds between two fetches of the template ``name``, which is demoted."""
        return self._templates[name].delay

    def lowered(self, url: str, score: float) -> float:
        """The score of a URL: under a demoted template a tenth of one that is above 0, ten times one that is below."""
        if not self._hosts or self.demoted(url) is None:
            return score
        return score * FACTOR if score > 0 else score / FACTOR

    def later(self, url: str) -> int:
        """The class of a URL that is doubted: by what pages of its likes may bring, at best."""
        worth = min((template.worth_at_best for _, template in self._doubting(url)), default=BEFORE)
        return UNINFORMATIVE if worth >= SOME else REPETITIVE if worth >= HARDLY_ANY else REDUNDANT

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """A later class under a demoted template, unless it is time to try another URL of the widest that is demoted."""
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
        """The demoted templates of a URL, narrowest first, up to one that is informative; without wide ones."""
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
    """Which share of the text is new, 0 to 1; 1 where that is half of it or more."""
    if visit.duplicate_of or not visit.md5:
        return 0.0
    return visit.signs.get(NOVELTY, visit.signs.get(NEW_TEXT, 1.0))
