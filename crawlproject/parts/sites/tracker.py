"""What a crawl learns about hosts and sites: which hosts block, what each site is worth, which sites form link farms."""

from __future__ import annotations

from collections.abc import Callable

from crawlproject.parts.sites.host_health import HostHealth
from crawlproject.parts.sites.link_farms import FARMS, LinkFarms
from crawlproject.parts.sites.new_link_ratio import NewLinkRatio
from crawlproject.parts.sites.site_budgets import SiteBudgets
from crawlproject.records import FetchEvent


class SiteTracker:
    """``hosts``, ``farms`` and ``sites`` together. ``counts_link`` says whether a link that is new speaks of its site."""

    def __init__(self, hosts: HostHealth, sites: SiteBudgets, farms: LinkFarms | None = None) -> None:
        self.hosts = hosts
        self.sites = sites
        self.farms = farms or LinkFarms()
        self.counts_link: Callable[[str], bool] = lambda url: True
        self._new_links = NewLinkRatio()

    def learn(self, event: FetchEvent) -> None:
        """Hosts and farms come first: under which name the links of a page count for budgets depends on its site's farm."""
        self.hosts.learn(event)
        if not event.visit.is_page:
            self.sites.learn(event)
            return
        url = event.visit.url
        before = self.farms.linker(url)
        linked = self.farms.linked(url, event.links)
        self.farms.learn(event)
        linker, site = self.farms.linker(url), self.farms.site(url)
        if linker == FARMS != before and site is not None:
            self.sites.merge(before, linker, site.links)
        self.sites.learn(event, linked, linker, self._new_links.learn(url, event.links, self.counts_link))

    def counters(self) -> dict[str, int]:
        """Hosts given up, and sites that are part of a link farm."""
        return {"hosts/given_up": len(self.hosts.given_up), "sites/farms": self.farms.count}
