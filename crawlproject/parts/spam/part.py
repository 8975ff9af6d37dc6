"""Spam pages count less: each page gets a spam score from its own signs (paper 004 section 6.3).

Signs are keywords without language, text that is invisible, links without text. Each is a number from 0, as for most pages,
to 1, as for hardly any honest page; the limits in between come from the pages of public sites (the honest 99% and 99.9% of the
development webs). The score takes the signs as independent evidence: ``1 - (1 - a)(1 - b)...``. Features after Ntoulas, Najork,
Manasse and Fetterly, Detecting spam web pages through content analysis, WWW 2006.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import repeat
from pathlib import Path

from crawlproject.core.part import Part, Setup
from crawlproject.pages.content_features import CONCEALED, LINKED, REPEATED, SMALL_WORDS
from crawlproject.pages.page_types import NATURES
from crawlproject.parts.spam.model import SpamModel
from crawlproject.parts.spam.options import SpamOptions
from crawlproject.records import Fetch, Page
from crawlproject.urls.hosts import sites_linked

STUFFED = "keyword_density"
FARMED = "links_only"

_TERMS = 80  # of a page: shares of fewer mean nothing
_FARM_SITES = 12  # other sites that a page without its own text links to


class Spam(Part):
    """Always present. Sets ``Page.spam`` and adds to ``Page.signs`` the evidence for the score.

    ``query`` holds the terms of the topic. The score of a ``model`` (``CRAWL_SPAM_MODEL``) replaces that of the built-in
    weights.
    """

    name = "spam"

    def __init__(self, query: Mapping[str, int], model: SpamModel | None = None) -> None:
        self._query = query
        self._model = model

    @classmethod
    def make(cls, setup: Setup) -> Spam:
        name = setup.options.of(SpamOptions).crawl_spam_model
        model = SpamModel.read(Path(name), "setting CRAWL_SPAM_MODEL") if name else None
        return cls(setup.judge.query, model)

    def examine(self, page: Page, fetch: Fetch) -> Page:
        if len(page.terms) < _TERMS:
            return page
        spam, evidence = 0.0, dict[str, float]()
        if self._model is None:
            honest = 1.0
            for name, value in self._evidence(page).items():
                if value >= 0.005:
                    evidence[name] = round(value, 3)
                    honest *= 1.0 - evidence[name]
            spam = round(1.0 - honest, 3)
        elif spam := round(self._model.score(features := self.features(page)), 3):
            evidence = {name: round(value, 3) for name, value in self._model.against(features).items()}
        if not evidence and _READ.isdisjoint(page.signs):
            return page
        others = {name: value for name, value in page.signs.items() if name not in _READ}
        return replace(page, spam=spam, signs={**others, **evidence})

    examine_again = examine

    def features(self, page: Page) -> dict[str, float]:
        """The features of a page for a model, shares from 0 to 1: its signs, the evidence, and how many sites it links to.

        Empty for a short page, whose shares mean nothing.
        """
        if len(page.terms) < _TERMS:
            return {}
        evidence = {f"{name}_evidence": value for name, value in self._evidence(page).items()}
        known = {name: page.signs.get(name, 0.0) for name in (CONCEALED, LINKED, REPEATED, SMALL_WORDS)}
        sites = min(1.0, _sites_linked(page) / (2 * _FARM_SITES))
        return {**known, **evidence, STUFFED: self._density(page), "other_sites": sites}

    def _evidence(self, page: Page) -> dict[str, float]:
        signs = page.signs
        language = _ramp(signs.get(SMALL_WORDS, 0.0), 0.45, 0.2)  # 1: hardly any
        linked, farmed = signs.get(LINKED, 0.0), 0.0
        if (
            linked >= 0.7 and len(page.links) >= 2 * _FARM_SITES
        ):  # or a list of links: its link neighbourhood shows which
            farmed = _ramp(linked, 0.7, 0.85) * _ramp(_sites_linked(page), _FARM_SITES, 2 * _FARM_SITES)
        return {
            CONCEALED: _ramp(signs.get(CONCEALED, 0.0), 0.35, 0.75),
            REPEATED: _ramp(signs.get(REPEATED, 0.0), 0.5, 0.8) * (0.5 + 0.5 * language),
            STUFFED: _ramp(self._density(page), 0.25, 0.45),
            FARMED: 0.5 * farmed,
        }

    def _density(self, page: Page) -> float:
        """The share of the page's terms that are terms of the topic."""
        return sum(map(page.counts.get, self._query, repeat(0))) / len(page.terms)


_READ = frozenset((CONCEALED, LINKED, REPEATED, SMALL_WORDS, *NATURES))


def _sites_linked(page: Page) -> int:
    return len(sites_linked(page.url, (link.url for link in page.links)))


def _ramp(value: float, low: float, high: float) -> float:
    """0 at ``low`` and beyond, 1 at ``high``, linear between; ``low`` may be the larger one."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
