"""What a crawl remembers of hosts and sites, told of each fetch: who blocks, who is worth how much, who is in which company."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crawlproject.inspection.sites.host_health import HostHealth
from crawlproject.inspection.sites.link_farms import FARMS, LinkFarms
from crawlproject.inspection.sites.new_link_ratio import NewLinkRatio
from crawlproject.inspection.sites.site_budgets import SiteBudgets, is_page
from crawlproject.records import OWN_LINKS, Fetch, Page
from crawlproject.urls.domains import sites_linked


class SiteTracker:
    """``hosts``, ``sites`` and ``farms`` together. Each fetch is told once, when it is in the history."""

    def __init__(self, hosts: HostHealth, sites: SiteBudgets, farms: LinkFarms | None = None) -> None:
        self.hosts = hosts
        self.sites = sites
        self.farms = farms or LinkFarms()
        self._open = NewLinkRatio()

    def kept(self, page: Page, at: float) -> None:
        """A page with content."""
        self.hosts.answered(page.url)
        linked = self.farms.linked(page)
        linker = self._learn(page.url, page.spam, page.signs, bool(page.duplicate_of), linked)
        new_link_ratio = self._open.learn(page.url, [link.url for link in page.links])
        self.sites.kept(page, linked, linker, new_link_ratio)
        self.sites.ended(page.url, at)

    def failed(self, url: str, error: str, fetch: Fetch) -> float:
        """No content. Until when the host rests as one that blocked, 0: no longer than usual."""
        self.sites.failed(url, error)
        self.sites.ended(url, fetch.at, error)
        return self.hosts.failed(url, fetch.status, error, fetch.at)

    def redirected(self, url: str, fetch: Fetch) -> None:
        """An answer that leads elsewhere."""
        self.sites.redirected(url, fetch.at)

    def dropped(self, url: str) -> None:
        """``url`` was taken and not fetched."""
        self.sites.dropped(url)

    def relive(self, lines: Iterable[Mapping[str, Any]], links: Iterable[Mapping[str, Any]]) -> None:
        """After a resume: the lines of the history, and of the link graph, which stand in the same order."""
        of_pages = _Following(links)
        for line in lines:
            url = line["url"]
            self.hosts.relive(line)
            links_of = of_pages.of(url)
            linked, linker, new_link_ratio = sites_linked(url, links_of), "", 0.0
            if is_page(line):
                signs = line.get("signs") or {}
                linker = self._learn(url, line.get("spam", 0.0), signs, bool(line.get("duplicate_of")), linked)
                new_link_ratio = self._open.learn(url, links_of)
            self.sites.relive(line, linked, linker, new_link_ratio)

    def _learn(self, url: str, spam: float, signs: Mapping[str, float], copy: bool, linked: dict[str, None]) -> str:
        """Tell ``farms`` of a page. Under which name its links count: those of all farms count together, the earlier ones
        of a site that joins them, too.
        """
        before = self.farms.linker(url)
        self.farms.learn(url, spam, signs, () if copy and OWN_LINKS not in signs else linked)
        linker = self.farms.linker(url)
        site = self.farms.site(url)
        if linker == FARMS != before and site is not None:
            self.sites.merge(before, linker, site.links)
        return linker

    def stats(self) -> dict[str, int]:
        """Counters: hosts given up, times that a URL had to wait for budget, and sites that are part of a link farm."""
        found = {
            "hosts/given_up": len(self.hosts.given_up),
            "sites/waits": self.sites.waited,
            "sites/farms": self.farms.count,
        }
        return {name: count for name, count in found.items() if count}


class _Following:
    """The lines of the link graph, page by page; a page without links has none."""

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self._lines = iter(lines)
        self._next = next(self._lines, None)

    def of(self, url: str) -> list[str]:
        """The targets of the page at ``url``; pages come in the order of the history."""
        found: list[str] = []
        while self._next is not None and self._next["source"] == url:
            found.append(self._next["target"])
            self._next = next(self._lines, None)
        return found
