"""Which sites were found cloaking, and how far they are to be believed.

The doubt about a site is ``cloaked / (probes + 1)`` of its latest probes, so that one finding makes it a half, a second two
thirds, and each honest page lowers it; it is gone when all of the latest were honest. A site that is doubted is looked at more
closely: until it is known for what it is, and when it may be better than that, until the doubt is gone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace

from crawlproject.records import CrawlUrl, Page
from crawlproject.urls.domains import domain_of

CLOAKED_SIGN = "cloaked"  # name of the sign: how much the site of a page was doubted when it was fetched, 0 to 1
REMEMBERED = 8  # probes of a site that count: the latest
CLOSELY = 5  # probes of a doubted site, until which each of its pages is one
SLIGHT = 0.3  # a doubt below which each of its pages is one however many there were: it may have been a false alarm

_SITES = 20_000  # sites that are remembered: those probed last


class SiteTrust:
    """A standing at the door, told of each page that was judged. ``changed`` is called with a site and the doubt about it."""

    def __init__(self, changed: Callable[[str, float], object] = lambda site, doubt: None) -> None:
        self._changed = changed
        self._sites: OrderedDict[str, tuple[bool, ...]] = OrderedDict()  # probes of a site, True: cloaked
        self._doubted: dict[str, float] = {}

    def judged(self, url: str, *, cloaked: bool) -> None:
        """A page was probed to the end."""
        site = domain_of(url)
        probes = (*self._sites.pop(site, ()), cloaked)[-REMEMBERED:]
        self._sites[site] = probes
        self._believe(site, sum(probes) / (len(probes) + 1))
        if len(self._sites) > _SITES:
            self._believe(self._sites.popitem(last=False)[0], 0.0)

    def about(self, url: str) -> float:
        """The doubt about the site of a canonical URL, 0 to 1."""
        return self._doubted.get(domain_of(url), 0.0) if self._doubted else 0.0

    def look_closely(self, url: str) -> bool:
        """Whether every page of the site is to be probed: it is doubted slightly, or after a few probes."""
        doubt = self.about(url)
        return doubt > 0.0 and (doubt < SLIGHT or len(self._sites[domain_of(url)]) < CLOSELY)

    def marked(self, page: Page) -> Page:
        """The page with the doubt about its site as spam and as a sign."""
        doubt = self.about(page.url)
        if not doubt:
            return page
        spam = round(1.0 - (1.0 - page.spam) * (1.0 - doubt), 3)
        return replace(page, spam=spam, signs={**page.signs, CLOAKED_SIGN: round(doubt, 3)})

    def sites(self) -> Iterator[tuple[str, float]]:
        """The sites that are doubted, each with the doubt."""
        return iter(self._doubted.items())

    # ------------------------------------------------------------ at the door

    def adjusted_score(self, url: str, score: float) -> float:
        """The part of a score that is believed; of one that is below 0, as many times more."""
        doubt = self.about(url)
        if not doubt:
            return score
        return score * (1.0 - doubt) if score > 0 else score / (1.0 - doubt)

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """No longer than its site's budget makes it, which is told of the doubt."""
        return now

    def release_order(self, url: str, now: float) -> float:
        """What is left beside the doubt."""
        return 1.0 - self.about(url)

    def release(self, url: str) -> None:
        """A doubt is not a wait."""

    def _believe(self, site: str, doubt: float) -> None:
        if doubt == self._doubted.get(site, 0.0):
            return
        if doubt:
            self._doubted[site] = doubt
        else:
            del self._doubted[site]
        self._changed(site, doubt)
