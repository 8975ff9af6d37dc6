"""What each site of a crawl has earned and used: the books behind the budgets of ``budget_policy.py``.

A page that is new and honest is worth one half, for it may be the way to others, and up to 1 as it is relevant, compared with
the relevant pages of this crawl. Duplicates, redirects within a host and what was a waste of time on purpose, spam and captchas,
take from the worth of the site. A redirect to another place (a site that moved, a register of documents, http to https) speaks
against nobody: it costs little, and nothing when a page is found there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from crawlproject.parts.sites.budget_policy import POLICY, budget, single_source_limit, trust_in_web
from crawlproject.parts.sites.site import SPAM, Site, ramp
from crawlproject.records import NEEDS_BROWSER, NOVELTY, RENDERED, FetchEvent, Visit
from crawlproject.urls.hosts import domain_of, origin_of

MAX_HOPS = 5  # redirects in a row that are forgiven

_WASTE = ("block/", "flood/", "safety/decompression", "parked", "soft_404")
_UNKNOWN = Site()


class SiteBudgets:
    """The sites of a crawl. Memory is bounded by ``POLICY.sites`` sites.

    ``share`` scales budgets and trials; 0 switches them off. ``alone`` is False with other workers of the same crawl: each
    knows a part of the links only, so first budgets are as large as can be, and single-source sites are not limited.
    """

    def __init__(self, *, share: float = 1.0, alone: bool = True) -> None:
        self.share = share
        self.fetches = 0
        self._alone = alone
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._relevance = 0.0  # sum of the relevance of all pages, and of its squares
        self._squares = 0.0
        self._wasted = 0.0  # fetches of spam, captchas and their kin
        self._single_source = 0.0  # fetches, of which those that brought nothing count less
        self._led_to: OrderedDict[str, tuple[str, ...]] = OrderedDict()  # sites that redirected to a URL elsewhere

    def add_named(self, url: str) -> None:
        """A person names the site of ``url``: it has no budget, and is as good as linked from several sites if it needs one."""
        site = self._site(domain_of(url))
        site.links[""] = POLICY.seed
        site.named = site.recommended = True

    def set_distrust(self, name: str, distrust: float) -> None:
        """The pages of a registrable domain count as spam to this degree, 0 to 1, those before included."""
        self._site(name).distrust = distrust

    def learn(
        self, event: FetchEvent, linked: Iterable[str] = (), linker: str = "", new_link_ratio: float = 0.0
    ) -> None:
        """Every fetch costs its site; a page also earns what it is worth, for its site and for those that it links to.

        ``linked`` are the other sites that the page links to. ``linker`` is the name under which its links count, by default
        its site. ``new_link_ratio`` is that of its site by now.
        """
        if not self.share:
            return
        visit, site = event.visit, self._site(domain_of(event.visit.url))
        if visit.is_page:
            site.new_link_ratio = new_link_ratio
            self._wasted += POLICY.tedious * ramp(new_link_ratio, POLICY.surely_open, POLICY.surely_endless)
            self._earn(visit, site, linked, linker)
            self._forgive(visit)
        elif visit.redirect:
            self._redirect(visit, site)
        elif visit.error.startswith(_WASTE):
            site.worth -= POLICY.blocked
            self._wasted += 1.0
            site.wasted += 1.0
        self._pay(visit)

    def merge(self, name: str, into: str, linked: Iterable[str]) -> None:
        """The links of the site ``name`` to the sites ``linked`` count under another name from now on."""
        for target in linked:
            site = self._sites.get(target)
            if site is not None and name in site.links:
                site.links[into] = max(site.links.pop(name), site.links.get(into, 0.0))

    # ------------------------------------------------------------ what follows

    def site(self, url: str) -> Site | None:
        """What is known of the site of ``url``."""
        return self._sites.get(domain_of(url))

    def named(self, name: str) -> Site | None:
        """What is known of the site of this name."""
        return self._sites.get(name)

    def budget(self, site: Site | None) -> float:
        """How many fetches a site is worth so far; None: one that nothing is known of."""
        return self.share * budget(site or _UNKNOWN, self.trust, alone=self._alone)

    @property
    def trust(self) -> float:
        """How far budgets can be larger than on a hostile web, 1 to ``POLICY.most_trust``."""
        return trust_in_web(self._wasted, self.fetches)

    def is_rationed(self, site: Site | None) -> bool:
        """Whether only one other site links to ``site``, and such sites have used up their part of the fetches."""
        if not self._alone or not (site or _UNKNOWN).single_source:
            return False
        return self._single_source >= self.share * single_source_limit(self.trust, self.fetches)

    # ------------------------------------------------------------ the books

    def _earn(self, visit: Visit, site: Site, linked: Iterable[str], linker: str) -> None:
        value = self._value(visit)
        self._wasted += visit.spam**2
        site.wasted += max(visit.spam**2, 1.0 - visit.signs.get(NOVELTY, 1.0), float(visit.repeats))
        site.worth += value - SPAM * visit.spam**2 - POLICY.duplicate * visit.repeats
        if visit.depth == 0:  # a person led the crawl to it, whatever it looks like
            for target in linked:
                self._site(target).recommended = True
        if value > 0.0 and not visit.repeats:
            self._link(site, value, linked, linker or domain_of(visit.url))

    def _value(self, visit: Visit) -> float:
        """What a page is worth, 0 to 1."""
        honest = (1.0 - visit.spam) * visit.signs.get(NOVELTY, 1.0) * (not visit.repeats)
        relevance = visit.relevance * honest
        self._relevance += relevance
        self._squares += relevance * relevance
        reference = self._squares / self._relevance if self._relevance else 0.0
        relative = min(1.0, relevance / reference) if reference else 0.0
        return POLICY.neutral * honest + (1.0 - POLICY.neutral) * relative

    def _link(self, site: Site, value: float, linked: Iterable[str], linker: str) -> None:
        weight = value * site.mean * (1.0 - site.endless / self.trust)
        sites = self._sites
        for name in linked:
            links = (sites.get(name) or self._site(name)).links
            if weight > links.get(linker, 0.0) and (linker in links or len(links) < POLICY.linkers):
                links[linker] = weight

    def _pay(self, visit: Visit) -> None:
        self.fetches += 1
        site = self._site(domain_of(visit.url))
        cost = cost_of(visit)
        self._single_source += cost * site.single_source
        site.fetches += cost

    def _redirect(self, visit: Visit, site: Site) -> None:
        if not _leads_elsewhere(visit):
            site.worth -= POLICY.detour
            return
        if visit.depth == 0:
            self.add_named(visit.redirect)  # a seed has moved
        self._led_to[visit.redirect] = (*self._led_to.pop(visit.url, ()), domain_of(visit.url))[-MAX_HOPS:]
        if len(self._led_to) > POLICY.targets:
            self._led_to.popitem(last=False)

    def _forgive(self, visit: Visit) -> None:
        """A page came: the redirects that led to it were no waste."""
        for name in self._led_to.pop(visit.url, ()):
            if visit.spam < 0.5 and (site := self._sites.get(name)):
                site.fetches = max(0.0, site.fetches - POLICY.moved)

    def _site(self, name: str) -> Site:
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = Site()
            if len(self._sites) > POLICY.sites:
                self._forget()
        return site

    def _forget(self) -> None:
        """Let a tenth of the sites go: those that were never visited, or else the oldest."""
        unvisited = [name for name, site in self._sites.items() if not site.fetches and not site.named]
        for name in unvisited[: POLICY.sites // 10] or list(self._sites)[: POLICY.sites // 10]:
            del self._sites[name]


def cost_of(visit: Visit) -> float:
    """What a fetch costs its site; one that brought nothing costs less."""
    missing = visit.error and not visit.is_page and not visit.error.startswith((*_WASTE, NEEDS_BROWSER))
    cost = POLICY.missing if missing else POLICY.moved if _leads_elsewhere(visit) else 1.0
    return cost + visit.signs.get(RENDERED, 0.0)


def _leads_elsewhere(visit: Visit) -> bool:
    """Whether a visit was redirected to another scheme, host or port."""
    return bool(visit.redirect) and origin_of(visit.redirect) != origin_of(visit.url)
