"""Hosts and sites: which hosts block, what each site is worth, which sites form link farms, and which hosts wait longer.

A budget forbids nothing: the hosts of a site over budget wait in a later precedence class, ``OVER_BUDGET``, or ``WASTE``
where the site wastes time on purpose. A fetch from there, made because nothing better was due, costs the site nothing. As
soon as the site has earned more, its hosts return to the usual class. A small share of the fetches are trials of sites that
would have to wait longer.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from itertools import islice
from math import ceil
from typing import Any

from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Handler, Services
from crawlproject.options import Options
from crawlproject.parts.sites.link_farms import LinkSite, SiteTracker
from crawlproject.parts.sites.options import SiteOptions
from crawlproject.parts.sites.site import HostHealth, Site
from crawlproject.parts.sites.site_budgets import POLICY, SiteBudgets, cost_of
from crawlproject.records import ACTIVE, OVER_BUDGET, WASTE, CrawlUrl, FetchEvent, Visit
from crawlproject.urls.hosts import domain_of, host_of


class Sites(Part):
    """Always present. ``CRAWL_SITE_BUDGET`` 0 disables budgets, ``CRAWL_BLOCKED_REST`` 0 the rests of hosts that block."""

    name = "sites"
    learned_classes = (Site, LinkSite)
    _services: Services

    def __init__(self, setup: Setup) -> None:
        self.tracker = make_tracker(setup.topic.seeds, setup.options, alone=setup.peers.knows_all, rests=self._rests)
        self.examine = self.tracker.farms.inspect  # type: ignore[method-assign]
        self.named = self.tracker.sites.add_named  # type: ignore[method-assign]
        self.distrusted = self.tracker.sites.set_distrust  # type: ignore[method-assign]
        self.turns = SiteTurns(self.tracker.sites, setup.frontier.set_host_precedence, self._postponed)
        self._hosts = self.tracker.hosts
        self._frontier = setup.frontier
        self._ordering = setup.ordering
        self._peers = setup.peers
        self._is_live = False  # in a replay the frontier knows which hosts rest

    @classmethod
    def make(cls, setup: Setup) -> Sites:
        return cls(setup)

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        rules = services.admission.rules
        self.tracker.counts_link = lambda url: rules.refusal(url, 1) is None
        return {}

    def learned(self) -> Any:
        return self.tracker.learned()

    def set_learned(self, learned: Any) -> None:
        self.tracker.set_learned(learned)

    def begin(self, now: float) -> None:
        self._is_live = True
        for host, until in list(self._hosts.resting.items()):
            if until > now:
                self._frontier.block_host(host, until)

    # ------------------------------------------------------------ URLs

    def refusal(self, url: str, depth: int) -> str:
        return self._hosts.refusal(url) if self._hosts.given_up else ""

    def is_postponed(self, url: str) -> bool:
        if self._hosts.rests_until(url) > self._services.now:
            return True
        return bool(self.turns.later) and self.turns.is_postponed(url)

    def turn(self, url: CrawlUrl, now: float) -> bool:
        return self.turns.turn(url.url)

    def left(self, url: CrawlUrl) -> None:
        self.turns.ended(url.url)

    def unreachable(self, url: CrawlUrl, until: float) -> None:
        self._hosts.rest(url.url, until)

    # ------------------------------------------------------------ pages

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number > 1:
            self._hosts.learn(event)
            return
        self.tracker.learn(event)
        self._paid(event.visit)

    def publish(self, event: FetchEvent) -> Any:
        return self.tracker.told(event) if event.visit.number == 1 else None

    def receive(self, event: FetchEvent, published: Any) -> None:
        if event.visit.number == 1:
            self.tracker.learn_told(event, published)
            self._paid(event.visit)

    def _paid(self, visit: Visit) -> None:
        self.turns.ended(visit.url, cost_of(visit))
        if self._is_live:
            self.turns.reconsider(visit.url)

    def counters(self) -> Mapping[str, int]:
        found = {**self.tracker.counters(), "sites/waits": self.turns.count}
        return {name: count for name, count in found.items() if count}

    def why_waits(self, host: str, now: float) -> str:
        if self._hosts.rests_until(f"http://{host}/") > now:
            return "refused or silent"
        return "over budget" if self.turns.is_postponed(f"http://{host}/") else ""

    # ------------------------------------------------------------ what follows

    def _rests(self, host: str, until: float) -> None:
        """Let a host rest until a time; 0 ends its rest."""
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
    """Make the record of hosts and sites. The seeds and the allowed domains count as named by a person."""
    own = options.of(SiteOptions)
    tracker = SiteTracker(
        HostHealth(first_rest=options.crawl_blocked_rest, patience=own.crawl_blocks_until_given_up, rests=rests),
        SiteBudgets(share=own.crawl_site_budget, alone=alone),
    )
    domains = [f"http://{domain}/" for domain in options.crawl_allowed_domains]
    for url in (*seeds, *domains):
        tracker.sites.add_named(url)
    return tracker


class _Turns:
    """What the current run has done with a site."""

    __slots__ = ("awaits_trial", "hosts", "in_flight", "is_trial", "spared", "waits")

    def __init__(self) -> None:
        self.in_flight: dict[str, bool] = {}  # URL that is being fetched -> whether the fetch counts
        self.spared = 0.0  # cost of the fetches in a later class, which do not count
        self.hosts: dict[str, int] = {}  # hosts in a later class, the first that was put back in front
        self.waits = 0
        self.awaits_trial = False
        self.is_trial = False  # whether the next fetch is a trial


class SiteTurns:
    """Decides by the budgets of ``sites`` which sites have their turn. Run-time state: a resumed crawl starts without it.

    ``set_precedence`` gives a host its class; ``postponed`` is called with each host that is put back.
    """

    def __init__(
        self,
        sites: SiteBudgets,
        set_precedence: Callable[[str, int], object],
        postponed: Callable[[str], object] = lambda host: None,
    ) -> None:
        self._sites = sites
        self._set_precedence = set_precedence
        self._report = postponed
        self._turns: OrderedDict[str, _Turns] = OrderedDict()
        self.later: OrderedDict[str, None] = OrderedDict()  # sites with hosts in a later class
        self._trials = 0
        self._next_trials: list[tuple[float, str]] = []  # a heap: the number of fetches when a trial is due, its site
        self.count = 0  # times that a host was put back

    def turn(self, url: str) -> bool:
        """Whether a URL whose turn has come is fetched. False: its host has a later class from now on."""
        if not self._sites.share:
            return True
        if self._next_trials:
            self._try_some()
        name, host = domain_of(url), host_of(url)
        site, turns = self._sites.get(name), self._turns.get(name)
        if turns is None:
            turns = self._turns[name] = _Turns()
            if len(self._turns) > POLICY.sites:
                self._bring_forward(*self._turns.popitem(last=False), math.inf)
        if url in turns.in_flight:
            return True  # it had its turn, and had to wait for robots.txt
        counts = host not in turns.hosts  # a host in a later class is fetched because nothing better was due
        if counts and self._left(site, turns) <= 0 and not turns.is_trial:
            self._put_back(name, host, turns, site)
            return False
        turns.is_trial = False
        turns.in_flight[url] = counts
        return True

    def ended(self, url: str, cost: float = 0.0) -> None:
        """Note that ``url`` is no longer being fetched, and what it cost its site."""
        turns = self._turns.get(domain_of(url))
        if turns is not None and not turns.in_flight.pop(url, True):
            turns.spared += cost

    def reconsider(self, url: str) -> None:
        """After a fetch, return hosts of its site, and of another one in turn, to the usual class if they have earned more."""
        if not self.later:
            return
        another = next(iter(self.later))
        self.later.move_to_end(another)
        for name in {domain_of(url), another} & self.later.keys():
            turns = self._turns[name]
            self._bring_forward(name, turns, self._left(self._sites.get(name), turns))

    def is_postponed(self, url: str) -> bool:
        """Whether the site of ``url`` waits in a later class: until it is reconsidered, whatever it has earned since."""
        return domain_of(url) in self.later

    # ------------------------------------------------------------ inside

    def _left(self, site: Site | None, turns: _Turns) -> float:
        """The fetches that a site may still make: 0 or less if its budget, or the share of single-source sites, is used up."""
        if self._sites.is_rationed(site):
            return 0.0
        used = (site.fetches if site else 0.0) + sum(turns.in_flight.values()) - turns.spared
        return self._sites.budget(site) - used

    def _put_back(self, name: str, host: str, turns: _Turns, site: Site | None) -> None:
        honest = site is None or site.mean(site.trusted_worth) > POLICY.honest
        if not turns.awaits_trial:
            turns.awaits_trial = True
            fetches = POLICY.first_wait * 2.0 ** min(turns.waits, POLICY.most_doublings)
            heappush(self._next_trials, (self._sites.fetches + fetches, name))
            turns.waits += 1
        turns.hosts[host] = precedence = OVER_BUDGET if honest else WASTE
        self.later[name] = None
        self.count += 1
        self._set_precedence(host, precedence)
        self._report(host)

    def _bring_forward(self, name: str, turns: _Turns, fetches: float) -> None:
        """Bring forward as many hosts of a site as it may make fetches: all names of a swarm would be put back one by one."""
        for host in list(islice(turns.hosts, ceil(min(fetches, len(turns.hosts))) if fetches > 0 else 0)):
            del turns.hosts[host]
            self._set_precedence(host, ACTIVE)
        if not turns.hosts:
            self.later.pop(name, None)

    def _try_some(self) -> None:
        """Give a trial to the sites whose time has come, as long as there were few enough."""
        fetches, trials = self._sites.fetches, self._next_trials
        while trials and trials[0][0] <= fetches and self._trials < POLICY.trials * self._sites.share * fetches:
            _, name = heappop(trials)
            turns = self._turns.get(name)
            if turns is None:
                continue
            turns.awaits_trial = False
            if turns.hosts:
                self._trials += 1
                turns.is_trial = True
                self._bring_forward(name, turns, 1)
