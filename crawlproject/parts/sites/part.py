"""Hosts and sites: which hosts block, what each site is worth, which sites form link farms, and who comes later for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from crawlproject.core.kinds.handler import Handler
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Services
from crawlproject.options import Options
from crawlproject.parts.sites.host_health import HostHealth
from crawlproject.parts.sites.options import SiteOptions
from crawlproject.parts.sites.site_budgets import SiteBudgets, cost_of
from crawlproject.parts.sites.site_turns import SiteTurns
from crawlproject.parts.sites.tracker import SiteTracker
from crawlproject.records import CrawlUrl, Fetch, FetchEvent, Page


class Sites(Part):
    """Always there. ``CRAWL_SITE_BUDGET`` 0 leaves budgets out, ``CRAWL_BLOCKED_REST`` 0 the rests of hosts that block."""

    name = "sites"
    _services: Services

    def __init__(self, setup: Setup) -> None:
        self.tracker = make_tracker(setup.topic.seeds, setup.options, alone=setup.peers.knows_all, rests=self._rests)
        self.turns = SiteTurns(self.tracker.sites, setup.frontier.set_host_precedence, self._postponed)
        self._hosts = self.tracker.hosts
        self._frontier = setup.frontier
        self._ordering = setup.ordering
        self._peers = setup.peers
        self._is_live = False  # in a replay the frontier knows what rests

    @classmethod
    def make(cls, setup: Setup) -> Sites:
        return cls(setup)

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        rules = services.admission.rules
        self.tracker.counts_link = lambda url: rules.refusal(url, 1) is None
        return {}

    def begin(self, now: float) -> None:
        self._is_live = True
        for host, until in self._hosts.resting():
            if until > now:
                self._frontier.block_host(host, until)

    # ------------------------------------------------------------ URLs

    def refusal(self, url: str, depth: int) -> str:
        return self._hosts.refusal(url)

    def is_postponed(self, url: str) -> bool:
        return self._hosts.rests_until(url) > self._services.now or self.turns.is_postponed(url)

    def turn(self, url: CrawlUrl, now: float) -> bool:
        return self.turns.turn(url.url)

    def left(self, url: CrawlUrl) -> None:
        self.turns.ended(url.url)

    def unreachable(self, url: CrawlUrl, until: float) -> None:
        self._hosts.rest(url.url, until)

    # ------------------------------------------------------------ pages

    def examine(self, page: Page, fetch: Fetch) -> Page:
        return self.tracker.farms.inspect(page, fetch)

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number > 1:
            self._hosts.learn(event)
            return
        self.tracker.learn(event)
        self.turns.ended(event.visit.url, cost_of(event.visit))
        if self._is_live:
            self.turns.reconsider(event.visit.url)

    def distrusted(self, site: str, degree: float) -> None:
        self.tracker.sites.set_distrust(site, degree)

    def named(self, url: str) -> None:
        self.tracker.sites.add_named(url)

    def counters(self) -> Mapping[str, int]:
        found = {**self.tracker.counters(), "sites/waits": self.turns.count}
        return {name: count for name, count in found.items() if count}

    def why_waits(self, host: str, now: float) -> str:
        if self._hosts.rests_until(f"http://{host}/") > now:
            return "refused or silent"
        return "over budget" if self.turns.is_postponed(f"http://{host}/") else ""

    # ------------------------------------------------------------ what follows

    def _rests(self, host: str, until: float) -> None:
        """A host rests until a time; 0: no longer."""
        if self._is_live:
            self._frontier.block_host(host, until)
            if until:
                self._postponed(host)

    def _postponed(self, host: str) -> None:
        self._ordering.host_blocked(host)
        self._peers.host_postponed(host)


def make_tracker(
    seeds: Iterable[str],
    options: Options,
    *,
    alone: bool,
    rests: Callable[[str, float], object] = lambda host, until: None,
) -> SiteTracker:
    """What is remembered of hosts and sites; before anything else that a person names the seeds and the allowed domains."""
    own = options.of(SiteOptions)
    tracker = SiteTracker(
        HostHealth(first_rest=options.crawl_blocked_rest, patience=own.crawl_blocks_until_given_up, rests=rests),
        SiteBudgets(share=own.crawl_site_budget, alone=alone),
    )
    domains = [f"http://{domain.lower().lstrip('.')}/" for domain in options.crawl_allowed_domains]
    for url in (*seeds, *domains):
        tracker.sites.add_named(url)
    return tracker
