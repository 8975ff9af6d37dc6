"""Which URL templates lead to pages that say nothing new: these wait, and are tried again now and then.

Calendars, shops with every order of their goods, soft 404s for every address, sessions in the path: what is behind the next
URL is like what was behind the last. Such a template is demoted. Its URLs count less, and one of them is fetched at a
time, after a delay that grows with each page that says nothing again and is gone as soon as they do not.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from crawlproject.inspection.duplicates.wilson_bound import at_least
from crawlproject.records import NOVELTY, CrawlUrl, FetchEvent
from crawlproject.urls.hosts import host_of
from crawlproject.urls.templates import templates_of

DEMOTED_FROM = 0.5  # share of barren pages that is surpassed for sure: three in a row without another
RECOVERED_BELOW = 0.4  # the same for a template that is demoted
MEMORY = 40.0  # pages of a template that count: older ones fade
FACTOR = 0.1  # what the score of a URL counts under a demoted template
FIRST_DELAY = 60.0  # seconds between two fetches of a demoted template at first; doubles with each barren page
LONGEST_DELAY = 3600.0
FARTHEST = 86_400.0  # seconds: nobody waits longer for his turn

_NOTHING = ("soft_404", "parked")  # natures of documents that are barren too
_WIDE = 2  # templates of a URL that are wide: the last ones
_PARDONS = 1000  # that are remembered
_FRUITFUL_PAGES = 1.9  # two, the first of them faded: what lies beyond does not count any more
_WIDE_PAGES = 10.0  # pages until they count, when the narrow ones say nothing


@dataclass(slots=True)
class UrlTemplate:
    """What was seen of a template. ``turn`` is the time of the last place in line that was given away."""

    barren: float = 0.0
    fruitful: float = 0.0
    demoted: bool = False
    delay: float = FIRST_DELAY
    turn: float = 0.0

    @property
    def pages(self) -> float:
        """Pages that count."""
        return self.barren + self.fruitful

    def note(self, *, barren: bool) -> None:
        """One more page of this template."""
        fade = 1 - 1 / MEMORY
        self.barren = self.barren * fade + barren
        self.fruitful = self.fruitful * fade + (not barren)
        if self.demoted:
            self.delay = min(2 * self.delay, LONGEST_DELAY) if barren else FIRST_DELAY
            self.demoted = at_least(self.barren, self.fruitful) >= RECOVERED_BELOW
        else:
            self.demoted = at_least(self.barren, self.fruitful) >= DEMOTED_FROM


class UrlTemplates:
    """Learns from the pages of a crawl and tells the door how URLs stand. Knows the ``most`` templates seen last."""

    def __init__(self, *, most: int = 100_000) -> None:
        self._most = most
        self._templates: OrderedDict[str, UrlTemplate] = OrderedDict()
        self._pardoned: OrderedDict[str, None] = OrderedDict()
        self._hosts: Counter[str] = Counter()  # how many templates of a host are demoted: most have none

    # ------------------------------------------------------------ learning

    def apply(self, event: FetchEvent) -> None:
        """A fetch that brought nothing, or a captcha, says nothing about what its template brings."""
        visit = event.visit
        missing = visit.error.startswith(_NOTHING)
        if not visit.is_page and not missing:
            return
        barren = bool(missing or visit.duplicate_of or visit.signs.get(NOVELTY, 1.0) < 1.0)
        for name in templates_of(visit.url):
            template = self._templates.setdefault(name, UrlTemplate())
            self._templates.move_to_end(name)
            before = template.demoted
            template.note(barren=barren)
            self._count(host_of(visit.url), template.demoted - before)
        while len(self._templates) > self._most:
            name, template = self._templates.popitem(last=False)
            self._count(name.partition("/")[0], -template.demoted)

    # ------------------------------------------------------------ the door's questions

    def adjusted_score(self, url: str, score: float) -> float:
        """A tenth of a score that is above 0, ten times one that is below."""
        if self.demoted(url) is None:
            return score
        return score * FACTOR if score > 0 else score / FACTOR

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """The next place in line of a demoted template; a URL that has waited for its place may go."""
        name = self.demoted(url.url)
        if name is None or url.not_before > 0 or url.url in self._pardoned:
            return now
        template = self._templates[name]
        template.turn = min(max(template.turn, now) + template.delay, now + FARTHEST)
        return template.turn

    def release_order(self, url: str, now: float) -> float:
        """A tenth under a demoted template."""
        return 1.0 if self.demoted(url) is None else FACTOR

    def release(self, url: str) -> None:
        """Nothing else is left to fetch."""
        self._pardoned[url] = None
        if len(self._pardoned) > _PARDONS:
            self._pardoned.popitem(last=False)

    def demoted(self, url: str) -> str | None:
        """The demoted template that holds ``url`` back; None when none does.

        The narrowest template that is known well enough decides.
        """
        if not self._hosts or host_of(url) not in self._hosts:
            return None
        names = templates_of(url)
        for place, name in enumerate(names):
            template = self._templates.get(name)
            if template is None:
                continue
            if template.demoted:
                return name if place < len(names) - _WIDE or template.pages >= _WIDE_PAGES else None
            if template.fruitful >= _FRUITFUL_PAGES:
                return None
        return None

    def _count(self, host: str, change: int) -> None:
        if change:
            self._hosts[host] += change
            if not self._hosts[host]:
                del self._hosts[host]

    def list_demoted(self) -> Iterator[tuple[str, UrlTemplate]]:
        """The templates that are demoted now."""
        return ((name, template) for name, template in self._templates.items() if template.demoted)
