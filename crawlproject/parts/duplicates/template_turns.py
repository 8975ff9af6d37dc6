"""URLs of a demoted template count less, and come later: one of them is tried at a time before the others have their turn.

The delay between two of them grows with each uninformative page, and is short again as soon as one is informative.
"""

from __future__ import annotations

from collections import OrderedDict

from crawlproject.parts.duplicates.url_templates import UrlTemplates
from crawlproject.records import UNINFORMATIVE, CrawlUrl

FACTOR = 0.1  # what the score of a URL counts under a demoted template

_TURNS = 100_000  # templates whose latest turn is remembered


class TemplateTurns:
    """By the demoted ``templates``. Run-time state: a resumed crawl begins without it."""

    def __init__(self, templates: UrlTemplates) -> None:
        self._templates = templates
        self._turns: OrderedDict[str, float] = OrderedDict()  # when the next URL of a template may be tried

    def lowered(self, url: str, score: float) -> float:
        """A tenth of a score that is above 0, ten times one that is below."""
        if self._templates.demoted(url) is None:
            return score
        return score * FACTOR if score > 0 else score / FACTOR

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """``UNINFORMATIVE`` under a demoted template, unless it is time to try another of its URLs."""
        name = self._templates.demoted(url.url)
        if name is None:
            return url.precedence
        if now < self._turns.get(name, 0.0):
            return UNINFORMATIVE
        self._turns.pop(name, None)
        self._turns[name] = now + self._templates.delay(name)
        if len(self._turns) > _TURNS:
            self._turns.popitem(last=False)
        return url.precedence
