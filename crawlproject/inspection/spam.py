"""How much a page looks like spam: keywords without language, text that nobody sees, links without text.

Each sign is a number from 0, as most pages have it, to 1, as hardly any honest page has it; the limits between are those of the
pages of public sites (the honest 99% and 99.9% of the development webs). The score takes the signs as independent evidence:
``1 - (1 - a)(1 - b)...``. Features after Ntoulas, Najork, Manasse and Fetterly, Detecting spam web
pages through content analysis, WWW 2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from crawlproject.pages.content_features import CONCEALED, LINKED, REPEATED, SMALL_WORDS
from crawlproject.pages.page_types import NATURES
from crawlproject.records import Fetch, Page
from crawlproject.urls.domains import domain_of

STUFFED = "keyword_density"
FARMED = "links_only"

_TERMS = 80  # of a page, from which on shares of them mean something
_FARM_SITES = 12  # other sites that a page without text of its own links to


class SpamInspector:
    """Fills in ``Page.spam`` and, of ``Page.signs``, what the score came from. ``query`` are the terms of the topic."""

    def __init__(self, query: Mapping[str, int]) -> None:
        self._query = query

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        if len(page.terms) < _TERMS:
            return page
        evidence = {name: round(value, 3) for name, value in self._evidence(page) if value >= 0.005}
        if not evidence and _READ.isdisjoint(page.signs):
            return page
        others = {name: value for name, value in page.signs.items() if name not in _READ}
        spam = round(1.0 - prod(1.0 - value for value in evidence.values()), 3)
        return replace(page, spam=spam, signs={**others, **evidence})

    def _evidence(self, page: Page) -> Iterator[tuple[str, float]]:
        signs = page.signs
        yield CONCEALED, _ramp(signs.get(CONCEALED, 0.0), 0.35, 0.75)
        language = _ramp(signs.get(SMALL_WORDS, 0.0), 0.45, 0.2)  # 1: none to speak of
        yield REPEATED, _ramp(signs.get(REPEATED, 0.0), 0.5, 0.8) * (0.5 + 0.5 * language)
        keywords = sum([page.counts.get(term, 0) for term in self._query])
        yield STUFFED, _ramp(keywords / len(page.terms), 0.25, 0.45)
        yield FARMED, 0.5 * self._farmed(page, signs.get(LINKED, 0.0))

    def _farmed(self, page: Page, linked: float) -> float:
        """Links to many sites and hardly a word besides: a farm, or a list of links: only its link neighbourhood shows which."""
        if linked < 0.7 or len(page.links) < 2 * _FARM_SITES:
            return 0.0
        own = domain_of(page.url)
        sites = {site for link in page.links if (site := domain_of(link.url)) != own}
        return _ramp(linked, 0.7, 0.85) * _ramp(len(sites), _FARM_SITES, 2 * _FARM_SITES)


_READ = frozenset((CONCEALED, LINKED, REPEATED, SMALL_WORDS, *NATURES))


def _ramp(value: float, low: float, high: float) -> float:
    """0 at ``low`` and beyond, 1 at ``high``, straight between; ``low`` may be the larger one."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
