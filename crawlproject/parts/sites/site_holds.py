"""Which URLs wait because their site is over budget, and until when.

A URL over budget waits, and is tried again after a delay that doubles with each trial of its site in vain; a small share of
the fetches are trials of sites that would have to wait longer. When nothing else is left, the best of them are released.
"""

from __future__ import annotations

from collections import OrderedDict

from crawlproject.parts.sites.budget_policy import POLICY
from crawlproject.parts.sites.site import Site
from crawlproject.parts.sites.site_budgets import SiteBudgets
from crawlproject.records import CrawlUrl
from crawlproject.urls.hosts import domain_of


class SiteHold:
    """What a run of a crawl did with a site."""

    __slots__ = ("in_flight", "released", "until", "waits")

    def __init__(self) -> None:
        self.in_flight: set[str] = set()  # URLs that are being fetched
        self.released = 0.0  # fetches beyond the budget
        self.until = 0.0  # URLs over budget wait until then
        self.waits = 0


class SiteHolds:
    """A URL hold, by the budgets of ``sites``. Run-time state: a resumed crawl begins without it."""

    def __init__(self, sites: SiteBudgets) -> None:
        self._sites = sites
        self._holds: OrderedDict[str, SiteHold] = OrderedDict()
        self._has_waited = False  # whether any site ever had to wait: every link is asked about
        self._trials = 0
        self.count = 0  # times that a URL had to wait

    def ended(self, url: str) -> None:
        """``url`` is no longer being fetched."""
        if hold := self._holds.get(domain_of(url)):
            hold.in_flight.discard(url)

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """``now`` when the site of ``url`` has budget left, or has waited long enough for a trial."""
        if not self._sites.share:
            return now
        hold = self._hold(domain_of(url.url))
        if not self._is_over(self._sites.site(url.url), hold) or self._may_try(hold, now):
            hold.in_flight.add(url.url)
            return now
        if hold.until <= now:
            self._make_wait(hold, now)
        self.count += 1
        return hold.until

    def host_blocked_until(self, url: str) -> float:
        """The end of the wait of a site over budget."""
        if not self._has_waited:
            return 0.0
        hold = self._holds.get(domain_of(url))
        if hold is None or not hold.until or not self._is_over(self._sites.site(url), hold):
            return 0.0
        return hold.until

    def block(self, url: str, until: float) -> None:
        """Another worker makes the host of ``url`` wait."""
        if self._sites.share:
            hold = self._hold(domain_of(url))
            hold.until = max(hold.until, until)
            self._has_waited = True

    def release_order(self, url: str, now: float) -> float:
        """1 within the budget; beyond it 0.9 for an honest site, whatever it is about, and next to nothing for any other."""
        hold, site = self._holds.get(domain_of(url)), self._sites.site(url)
        if not self._sites.share or (hold is None and site is None) or not self._is_over(site, hold or SiteHold()):
            return 1.0
        return 0.9 if site is None or site.trusted_mean > POLICY.honest else 0.01

    def release(self, url: str) -> None:
        """Nothing else is left to fetch: the site of ``url`` may have one more."""
        hold, site = self._hold(domain_of(url)), self._sites.site(url)
        hold.released += max(1.0, _used(site, hold) + 1.0 - self._sites.budget(site) - hold.released)
        hold.until = 0.0

    def _is_over(self, site: Site | None, hold: SiteHold) -> bool:
        """Whether a site has no budget left, or no part in that of the single-source sites."""
        if _used(site, hold) >= self._sites.budget(site) + hold.released:
            return True
        return not hold.released and self._sites.is_rationed(site)

    def _may_try(self, hold: SiteHold, now: float) -> bool:
        """Whether a site over budget has waited, and trials have been few enough."""
        most = POLICY.trials * self._sites.share * self._sites.fetches
        if not hold.waits or hold.until > now or self._trials >= most:
            return False
        self._trials += 1
        self._make_wait(hold, now)
        return True

    def _make_wait(self, hold: SiteHold, now: float) -> None:
        """For as many fetches of the crawl, at its pace, each time twice as many."""
        fetches = POLICY.first_wait * 2.0 ** min(hold.waits, POLICY.most_doublings)
        hold.until = now + min(POLICY.longest_wait, fetches * max(self._sites.pace, 1e-3))
        hold.waits += 1
        self._has_waited = True

    def _hold(self, name: str) -> SiteHold:
        hold = self._holds.get(name)
        if hold is None:
            hold = self._holds[name] = SiteHold()
            if len(self._holds) > POLICY.sites:
                self._holds.popitem(last=False)
        return hold


def _used(site: Site | None, hold: SiteHold) -> float:
    return (site.fetches if site else 0.0) + len(hold.in_flight)
