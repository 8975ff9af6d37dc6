"""What each site of a crawl has earned and used: the accounts behind its budget.

A page that is new and honest is worth one half, since it may lead to others, and up to 1 by its relevance, compared with the
relevant pages of this crawl; it is worth less if less than half of its text is new on its host. Duplicates, redirects within a
host and what wastes time on purpose, spam and captchas, reduce the worth of the site. A redirect to another place (a site that
moved, a register of documents, http to https) is no fault: it costs little, and nothing when a page is found there.

So a registrable domain without end does not use up the crawl. After BEAST (Lee, Leonard, Wang and Loguinov, IRLbot, WWW
2008; paper 004 section 6): a budget grows with links from *other* sites, which are harder to forge than one's own pages. In a
topical crawl both links and pages count by their worth:

    budget = first + paid + per_link * links * mean worth
    paid   = back * worth of its pages, but never more than supported * trust * (1 + links)
    first  = first * trust, but never more than most_first

``links`` is the worth of the links from other sites, each site counted once. So honest pages pay for themselves as long as
others link to their site: ``paid`` approaches its bound slowly. The budget of a site that a person named is unlimited until there
is evidence against it (``Site.is_suspect``). ``trust`` is 1 while the crawl meets spam, captchas and sites that look endless, and
grows to ``most_trust`` while it does not; up to ``most_back`` it also multiplies ``back``. The less trust there is, the less is
paid for the pages of a site that looks endless, and the less its links count.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from crawlproject.parts.sites.site import SPAM, Site, ramp
from crawlproject.records import NEEDS_BROWSER, NEW_TEXT, NOVELTY, RENDERED, FetchEvent, Visit
from crawlproject.urls.hosts import domain_of, origin_of

MAX_HOPS = 5  # redirects in a row that are forgiven

_WASTE = ("block/", "flood/", "safety/decompression", "parked", "soft_404")
_UNKNOWN = Site()


class SiteBudgets:
    """The sites of a crawl. Memory is bounded by ``POLICY.sites`` sites.

    ``share`` scales budgets and trials; 0 switches them off. ``alone`` is False with other workers of the same crawl: each
    knows only a part of the links, so first budgets are as large as can be, and single-source sites are not limited.
    """

    LEARNED: ClassVar[tuple[str, ...]] = (
        "_led_to",
        "_relevance",
        "_single_source",
        "_sites",
        "_squares",
        "_wasted",
        "fetches",
    )

    def __init__(self, *, share: float = 1.0, alone: bool = True) -> None:
        self.share = share
        self.fetches = 0
        self._alone = alone
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._relevance = 0.0  # sum of the relevance of all pages, and of its squares
        self._squares = 0.0
        self._wasted = 0.0  # fetches of spam, captchas and the like
        self._single_source = 0.0  # fetches of single-source sites; those that brought nothing count less
        self._led_to: OrderedDict[str, tuple[str, ...]] = OrderedDict()  # URL elsewhere -> sites that redirected to it

    def get(self, name: str) -> Site | None:
        """What is known of a site, by its name."""
        return self._sites.get(name)

    def add_named(self, url: str) -> None:
        """Note that a person named the site of ``url``: its budget is unlimited; if it is suspect, it counts as well linked."""
        site = self._site(domain_of(url))
        site.links[""] = POLICY.seed
        site.named = site.recommended = True

    def set_distrust(self, site: str, degree: float) -> None:
        """Count the pages of a registrable domain as spam to this degree, 0 to 1, including earlier ones."""
        self._site(site).distrust = degree

    def learn(
        self, event: FetchEvent, linked: Collection[str] = (), linker: str = "", new_link_ratio: float = 0.0
    ) -> Sequence[str]:
        """Charge a fetch to its site. A page also earns what it is worth, for its site and for those that it links to.

        ``linked`` are the other sites that the page links to; returns those of whose record the page changed something.
        ``linker`` is the name under which its links count, by default its site. ``new_link_ratio`` is that of its site by now.
        """
        if not self.share:
            return ()
        changed: Sequence[str] = ()
        visit, name = event.visit, domain_of(event.visit.url)
        site = self._site(name)
        if visit.is_page:
            site.new_link_ratio = new_link_ratio
            self._wasted += POLICY.tedious * ramp(new_link_ratio, POLICY.surely_open, POLICY.surely_endless)
            changed = self._earn(visit, site, linked, linker or name)
            for earlier in self._led_to.pop(visit.url, ()):  # the redirects that led to the page were no waste
                if visit.spam < 0.5 and (before := self._sites.get(earlier)):
                    before.fetches = max(0.0, before.fetches - POLICY.moved)
                    self._single_source = max(0.0, self._single_source - POLICY.moved * before.single_source)
        elif visit.redirect:
            self._redirect(visit, site)
        elif visit.error.startswith(_WASTE):
            site.worth -= POLICY.blocked
            self._wasted += 1.0
            site.wasted += 1.0
        site, cost = self._site(name), cost_of(visit)  # its links may have made the crawl forget the site
        self.fetches += 1
        self._single_source += cost * site.single_source
        site.fetches += cost
        return changed

    def merge(self, name: str, into: str, linked: Iterable[str]) -> None:
        """Count the links of the site ``name`` to the sites ``linked`` under another name from now on."""
        for target in linked:
            site = self._sites.get(target)
            if site is not None and name in site.links:
                site.links[into] = max(site.links.pop(name), site.links.get(into, 0.0))

    # ------------------------------------------------------------ what follows

    def site(self, url: str) -> Site | None:
        """What is known of the site of ``url``."""
        return self._sites.get(domain_of(url))

    def budget(self, site: Site | None) -> float:
        """How many fetches a site is worth so far; None: an unknown site.

        Infinite for a site that a person named and that is not suspect.
        """
        site = site or _UNKNOWN
        if site.named and not site.is_suspect:
            return self.share * math.inf
        trust, links, worth = self.trust, sum(site.links.values()), site.trusted_worth
        most = POLICY.supported * trust * (1.0 + links)
        paid = POLICY.back * min(trust, POLICY.most_back) * worth
        endless = site.endless / trust
        if paid > 0.0:
            paid *= 1.0 - endless
            paid = most * paid / (most + paid)
        first = min(POLICY.most_first, POLICY.first * trust) if self._alone else POLICY.most_first
        earned = first + paid + POLICY.per_link * links * site.mean(worth) * (1.0 - POLICY.lured * endless)
        return self.share * earned

    @property
    def trust(self) -> float:
        """How much larger budgets can be than on a hostile web: 1 while spam, captchas and endless sites are met,
        ``POLICY.most_trust`` while none are, since budgets only cost recall there.
        """
        wasted = self._wasted + POLICY.hostile * POLICY.prior_fetches
        return min(POLICY.most_trust, max(1.0, POLICY.hostile / (wasted / (self.fetches + POLICY.prior_fetches))))

    def is_rationed(self, site: Site | None) -> bool:
        """Whether only one other site links to ``site``, and such sites have used up their share of the fetches."""
        if not self._alone or not (site or _UNKNOWN).single_source:
            return False
        share = POLICY.single_source * min(self.trust, POLICY.most_single_source)
        return self._single_source >= self.share * (share * (self.fetches + POLICY.early_fetches))

    # ------------------------------------------------------------ the books

    def _earn(self, visit: Visit, site: Site, linked: Collection[str], linker: str) -> list[str]:
        changed: list[str] = []
        value = self._value(visit)
        self._wasted += visit.spam**2
        site.wasted += max(visit.spam**2, 1.0 - visit.signs.get(NOVELTY, 1.0), float(visit.repeats))
        site.worth += value - SPAM * visit.spam**2 - POLICY.duplicate * visit.repeats
        if visit.depth == 0:  # a person led the crawl to it, whatever it looks like
            for target in linked:
                self._site(target).recommended = True
            changed.extend(linked)
        if value <= 0.0 or visit.repeats or not linked:
            return changed
        weight = value * site.mean(site.worth) * (1.0 - site.endless / self.trust)
        sites = self._sites
        for name in linked:
            links = known.links if (known := sites.get(name)) is not None else {}
            if weight > links.get(linker, 0.0) and (linker in links or len(links) < POLICY.linkers):
                self._site(name).links[linker] = weight
                changed.append(name)
        return changed

    def _value(self, visit: Visit) -> float:
        """What a page is worth, 0 to 1."""
        honest = (1.0 - visit.spam) * _new_share(visit) * (not visit.repeats)
        relevance = visit.relevance * honest
        self._relevance += relevance
        self._squares += relevance * relevance
        reference = self._squares / self._relevance if self._relevance else 0.0
        relative = min(1.0, relevance / reference) if reference else 0.0
        return POLICY.neutral * honest + (1.0 - POLICY.neutral) * relative

    def _redirect(self, visit: Visit, site: Site) -> None:
        if origin_of(visit.redirect) == origin_of(visit.url):
            site.worth -= POLICY.detour
            return
        if visit.depth == 0:
            self.add_named(visit.redirect)  # a seed has moved
        self._led_to[visit.redirect] = (*self._led_to.pop(visit.url, ()), domain_of(visit.url))[-MAX_HOPS:]
        if len(self._led_to) > POLICY.targets:
            self._led_to.popitem(last=False)

    def _site(self, name: str) -> Site:
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = Site()
            if len(self._sites) > POLICY.sites:
                self._forget()
        return site

    def _forget(self) -> None:
        """Forget a tenth of the sites: those that were never visited, or else the oldest."""
        unvisited = [name for name, site in self._sites.items() if not site.fetches and not site.named]
        for name in unvisited[: POLICY.sites // 10] or list(self._sites)[: POLICY.sites // 10]:
            del self._sites[name]


def _new_share(visit: Visit) -> float:
    """How new the text of a page is on its host, 0 to 1; 1 if at least half of it is new."""
    return visit.signs.get(NOVELTY, min(1.0, visit.signs.get(NEW_TEXT, 1.0) / POLICY.mostly_new))


def cost_of(visit: Visit) -> float:
    """What a fetch costs its site; a fetch that brought nothing costs less."""
    missing = visit.error and not visit.is_page and not visit.error.startswith((*_WASTE, NEEDS_BROWSER))
    leads_elsewhere = visit.redirect and origin_of(visit.redirect) != origin_of(visit.url)
    cost = POLICY.missing if missing else POLICY.moved if leads_elsewhere else 1.0
    return cost + visit.signs.get(RENDERED, 0.0)


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The parameters of the budgets. The idea of a budget that links pay for is IRLbot's; all numbers are ours, chosen by
    measurements on the development webs."""

    # the budget, in fetches
    first: float = 2.0  # of an unknown site, times trust
    most_first: float = 10.0  # upper limit of that
    back: float = 2.0  # for a page of full worth
    most_back: float = 2.0  # trust up to which more is paid for a page
    per_link: float = 1.0  # for a linking site of full worth: the budget of IRLbot
    supported: float = 30.0  # that pages may earn at most, times trust and 1 + linking sites
    seed: float = 5.0  # linking sites that a seed counts as
    linkers: int = 64  # linking sites that are remembered of a site
    lured: float = 0.5  # share of the links to an endless site that do not count: they may be there to lure visitors

    # trust in the web
    hostile: float = 0.05  # share of wasted fetches from which trust is 1
    most_trust: float = 10.0  # while no fetch was wasted
    prior_fetches: float = 10.0  # assumed to have been made before, with that share wasted

    # sites that only one other site links to: names are as cheap as pages, and a swarm of domains has many first budgets
    single_source: float = (
        0.03  # share of all fetches that go to them, times trust: what crawls of honest webs spend there
    )
    most_single_source: float = 3.0  # trust up to which they get more
    # assumed to have been made from other sites: in the beginning most sites have a single source
    early_fetches: float = 300.0

    # the worth of a fetch, 1 for the best page
    neutral: float = 0.5  # of a page that is new and honest, whatever it is about: it may be the way to others
    mostly_new: float = 0.5  # share of the text of a page that is enough, if it is new on its host
    duplicate: float = 0.5  # that a duplicate takes away
    blocked: float = 1.5  # that a captcha, a parked domain or a soft 404 takes away
    detour: float = 0.25  # that a redirect within a host takes away: the page that it leads to pays it back
    missing: float = 0.1  # share of a fetch that a missing page costs: a link to it may be old
    moved: float = 0.25  # share that a redirect to another place costs, until a page comes from there
    tedious: float = 0.5  # share of a fetch that is wasted on a page of a site that is surely endless
    surely_open: float = 0.92  # new-link ratio from which a site makes the whole crawl careful
    surely_endless: float = 0.98  # and as careful as can be
    # trials
    trials: float = 0.03  # share of all fetches that may go to sites over budget, although better ones are due
    first_wait: float = 50.0  # fetches of the crawl until the first trial of such a site; doubles with each
    most_doublings: int = 10
    honest: float = (
        0.25  # mean worth of a site whose hosts come before those of sites that waste time, beyond its budget
    )

    sites: int = 200_000  # that are remembered
    targets: int = 20_000  # of redirects to other places


POLICY = BudgetPolicy()
