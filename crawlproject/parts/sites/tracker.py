"""What a crawl learns about hosts and sites: which hosts block, what each site is worth, which sites form link farms."""

from __future__ import annotations

from crawlproject.parts.sites.host_health import HostHealth
from crawlproject.parts.sites.link_farms import FARMS, LinkFarms
from crawlproject.parts.sites.new_link_ratio import NewLinkRatio
from crawlproject.parts.sites.site_budgets import SiteBudgets
from crawlproject.parts.sites.site_holds import SiteHolds
from crawlproject.records import FetchEvent


class SiteTracker:
    """A learner: ``hosts``, ``farms`` and ``sites`` together, with the ``holds`` that follow from the budgets of ``sites``."""

    def __init__(self, hosts: HostHealth, sites: SiteBudgets, farms: LinkFarms | None = None) -> None:
        self.hosts = hosts
        self.sites = sites
        self.holds = SiteHolds(sites)
        self.farms = farms or LinkFarms()
        self._new_links = NewLinkRatio()

    def apply(self, event: FetchEvent) -> None:
        """Hosts and farms come first: under which name the links of a page count for budgets depends on its site's farm."""
        self.holds.ended(event.visit.url)
        self.hosts.apply(event)
        if not event.visit.is_page:
            self.sites.apply(event)
            return
        url = event.visit.url
        before = self.farms.linker(url)
        linked = self.farms.linked(url, event.links)
        self.farms.apply(event)
        linker, site = self.farms.linker(url), self.farms.site(url)
        if linker == FARMS != before and site is not None:
            self.sites.merge(before, linker, site.links)
        self.sites.apply(event, linked, linker, self._new_links.learn(url, event.links))

    def stats(self) -> dict[str, int]:
        """Counters: hosts given up, times that a URL had to wait for budget, and sites that are part of a link farm."""
        found = {
            "hosts/given_up": len(self.hosts.given_up),
            "sites/waits": self.holds.count,
            "sites/farms": self.farms.count,
        }
        return {name: count for name, count in found.items() if count}
