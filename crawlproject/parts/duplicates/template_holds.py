"""URLs of a demoted template count less, and wait: one of them is fetched at a time.

The delay between two of them grows with each uninformative page, and is short again as soon as one is informative.
"""

from __future__ import annotations

from collections import OrderedDict

from crawlproject.parts.duplicates.url_templates import UrlTemplates
from crawlproject.records import CrawlUrl

FACTOR = 0.1  # what the score of a URL counts under a demoted template
LONGEST_WAIT = 86_400.0  # seconds

_RELEASED = 1000  # URLs that are remembered
_TURNS = 100_000  # templates whose latest turn is remembered


class TemplateHolds:
    """A URL hold, by the demoted ``templates``. Run-time state: a resumed crawl begins without it."""

    def __init__(self, templates: UrlTemplates) -> None:
        self._templates = templates
        self._turns: OrderedDict[str, float] = OrderedDict()  # when the latest URL of a template may be fetched
        self._released: OrderedDict[str, None] = OrderedDict()

    def adjusted_score(self, url: str, score: float) -> float:
        """A tenth of a score that is above 0, ten times one that is below."""
        if self._templates.demoted(url) is None:
            return score
        return score * FACTOR if score > 0 else score / FACTOR

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """The next turn of a demoted template; a URL that has waited for its turn may be fetched."""
        name = self._templates.demoted(url.url)
        if name is None or url.not_before > 0 or url.url in self._released:
            return now
        latest = self._turns.pop(name, 0.0)
        self._turns[name] = min(max(latest, now) + self._templates.delay(name), now + LONGEST_WAIT)
        if len(self._turns) > _TURNS:
            self._turns.popitem(last=False)
        return self._turns[name]

    def release_order(self, url: str, now: float) -> float:
        """A tenth under a demoted template."""
        return 1.0 if self._templates.demoted(url) is None else FACTOR

    def release(self, url: str) -> None:
        """Nothing else is left to fetch: ``url`` need not wait for its turn."""
        self._released[url] = None
        if len(self._released) > _RELEASED:
            self._released.popitem(last=False)
