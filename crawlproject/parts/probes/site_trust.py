"""How far a site is trusted, by the latest probes of its pages.

The distrust of a site is ``cloaked / (probes + 1)`` of its latest probes: one finding makes it one half, a second one two
thirds, and each honest page lowers it; it is 0 when all of the latest were honest. All pages of a distrusted site are probed for
a while: until enough is known of it, and, while the distrust is slight, until it is gone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from crawlproject.records import Page
from crawlproject.urls.hosts import domain_of

CLOAKED_SIGN = "cloaked"  # name of the sign: how much the site of a page was distrusted when it was fetched, 0 to 1
REMEMBERED = 8  # probes of a site that count: the latest
CLOSELY = 5  # probes of a distrusted site up to which each of its pages is probed
SLIGHT = 0.3  # distrust below which each page is probed, however many were: it may have been a false alarm

_SITES = 20_000  # sites that are remembered: those probed last


class SiteTrust:
    """Learns from probes. ``changed`` is called with a registrable domain and its distrust, 0 to 1."""

    def __init__(self, changed: Callable[[str, float], object] = lambda site, distrust: None) -> None:
        self._changed = changed
        self._sites: OrderedDict[str, tuple[bool, ...]] = OrderedDict()  # probes of a site, True: cloaked
        self._distrusted: dict[str, float] = {}

    def add(self, url: str, *, cloaked: bool) -> None:
        """Note the verdict on a page that was probed to the end."""
        site = domain_of(url)
        probes = (*self._sites.pop(site, ()), cloaked)[-REMEMBERED:]
        self._sites[site] = probes
        self._set(site, sum(probes) / (len(probes) + 1))
        if len(self._sites) > _SITES:
            self._set(self._sites.popitem(last=False)[0], 0.0)

    def distrust(self, url: str) -> float:
        """The distrust of the site of a canonical URL, 0 to 1."""
        return self._distrusted.get(domain_of(url), 0.0) if self._distrusted else 0.0

    def probes_all_of(self, url: str) -> bool:
        """Whether every page of the site is probed: it is distrusted slightly, or has had few probes."""
        distrust = self.distrust(url)
        return distrust > 0.0 and (distrust < SLIGHT or len(self._sites[domain_of(url)]) < CLOSELY)

    def marked(self, page: Page) -> Page:
        """The page with the distrust of its site as spam and as a sign."""
        distrust = self.distrust(page.url)
        if not distrust:
            return page
        spam = round(1.0 - (1.0 - page.spam) * (1.0 - distrust), 3)
        return replace(page, spam=spam, signs={**page.signs, CLOAKED_SIGN: round(distrust, 3)})

    def adjusted_score(self, url: str, score: float) -> float:
        """The score, lowered by the distrust of its site; a score below 0 becomes more negative."""
        distrust = self.distrust(url)
        if not distrust:
            return score
        return score * (1.0 - distrust) if score > 0 else score / (1.0 - distrust)

    def _set(self, site: str, distrust: float) -> None:
        if distrust == self._distrusted.get(site, 0.0):
            return
        if distrust:
            self._distrusted[site] = distrust
        else:
            del self._distrusted[site]
        self._changed(site, distrust)
