"""Budgets of sites: how many fetches a registrable domain is worth, so that one without end does not eat the crawl.

After BEAST (Lee, Leonard, Wang and Loguinov, IRLbot, WWW 2008; paper 004 section 6): a budget grows with links from *other*
sites, which are harder to forge than pages of one's own. For a topical crawl both the links and the pages count for what they
were worth:

    budget = first + paid + PER_LINK * links * mean worth
    paid   = BACK * worth of its pages, but never more than SUPPORTED * trust * (1 + links)
    first  = FIRST * trust, but never more than MOST_FIRST

``links`` is the worth of the links from other sites, each of these counted once. A page that is new and honest is worth one half,
for it may be the way to others, and up to 1 as it is relevant, compared with the relevant pages of this crawl. A copy and
what was a waste of time on purpose, spam and walls, take from the worth of the site. So honest pages pay for themselves, as
long as others link to the site: ``paid`` nears its bound slowly. The mean worth begins at one half and moves with each page.
``trust`` is 1 while the crawl meets spam, walls and sites that look endless, and grows to ``MOST_TRUST`` while it does not; up
to 2 it multiplies ``BACK``, too.

A site looks endless when its pages lead to ever new pages of it (``new_link_ratio.py``). The less trust there is, the less such
pages are paid for, and such links count.

Names are as cheap as pages: a swarm of domains has a first budget for each. So a site of which only one other site has told, one
without a seed, is *single-source* until a few of its pages were fetched, and all such sites together get ``SINGLE_SOURCE`` of the
fetches, up to three times as much where there is trust.

A URL over budget waits, and is tried again after a delay that doubles with each vain trial of its site; one in so many
fetches is a trial of a site that would have to wait still. When nothing else is left the budgets are raised (``pardon``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from crawlproject.inspection.sites.site import SPAM, Site, ramp
from crawlproject.records import NOVELTY, CrawlUrl, FetchEvent, Visit
from crawlproject.urls.domains import domain_of

FIRST = 2.0
MOST_FIRST = 10.0
BACK = 2.0
PER_LINK = 1.0
SUPPORTED = 30.0
HOSTILE = 0.05  # share of spam, walls and their kin among the fetches from which on budgets are as strict as can be
MOST_TRUST = 10.0  # times ``SUPPORTED`` where there are none
TRIALS = 0.03  # of all fetches may be of sites over budget, besides those that nothing else was left for
SINGLE_SOURCE = 0.1  # times ``trust``, up to 3, of all fetches may be of sites that only one other site links to
LONGEST_WAIT = 3_600.0  # seconds

_PRIOR_FETCHES = 10.0  # as if so many had been made, with so many bad ones that budgets are strict
_MOST_SINGLE_SOURCE = 3.0  # of trust that hearsay is listened to
_MOST_BACK = 2.0  # of trust that pages are paid for
_FIRST_WAIT = 50.0  # fetches of the crawl that a URL over budget waits at first
_DOUBLINGS = 10
_LONGEST_PAUSE = 5.0  # seconds between two fetches that count for the pace: a crawl that idles is not slow
_NEUTRAL = 0.5  # worth of a page that is new and honest, whatever it is about: it may be the way to others
_MISSING = 0.1  # of a fetch is what a page that is not there counts for: a link to it may be old
_HONEST = 0.25  # mean worth of a site that is let go beyond its budget before others
_COPY = 0.5  # worth that a copy takes from its site
_WALL = 1.5  # that a wall takes, or a soft 404
_WASTE = ("block/", "parked", "soft_404")
_SURELY_OPEN, _SURELY_ENDLESS = 0.92, 0.98  # openness of a site from which on it makes the whole crawl careful
_TEDIOUS = 0.5  # of a waste is a page of a site that is surely endless
_LURED = 0.5  # of the links to such a site do not count: somebody left them to lure visitors
_DETOUR = 0.25  # worth that a redirect takes: what it leads to pays it back
_EARLY_FETCHES = 100.0  # as if so many had been made of other sites: in the beginning all that is known is hearsay
_LINKERS = 64  # linking sites that are remembered of a site
_SEED = 5.0  # links that a seed is worth
_SITES = 200_000  # sites that are remembered
_SMOOTHING = 0.02  # of the mean time between fetches


class SiteBudgets:
    """The sites of a crawl. An inspector that hears of each page that is kept, and a standing at the door.

    ``share`` scales budgets and trials; 0 switches them off. ``alone`` is False with other workers of the same crawl: each
    knows a part of the links only, and none can tell that all others wait, too, so that budgets would have to be raised. Then
    first budgets are as large as can be, and hearsay is not limited. Memory is bounded by ``_SITES`` sites.
    """

    def __init__(self, *, share: float = 1.0, alone: bool = True) -> None:
        self._share = share
        self._alone = alone
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._relevance = 0.0  # sum of the relevance of all pages, and of its squares
        self._squares = 0.0
        self._fetches = 0
        self._wasted = 0.0  # fetches of spam, walls and their kin
        self._trials = 0
        self._single_source = 0.0  # fetches, of which those that brought nothing count less
        self._pace = 0.0  # seconds between fetches
        self._latest = 0.0
        self.waited = 0  # times that a URL had to wait

    def seeded(self, url: str) -> None:
        """A person recommends ``url``: as good as links from several sites."""
        site = self._site(domain_of(url))
        site.links[""] = _SEED
        site.recommended = True

    # ------------------------------------------------------------ what happens

    def apply(
        self, event: FetchEvent, linked: Iterable[str] = (), linker: str = "", new_link_ratio: float = 0.0
    ) -> None:
        """Whatever a fetch brought, its site pays for it; for a page it gets back what the page was worth.

        ``linked`` are the other sites that the page links to; ``linker`` is the name under which its links count, unless it is
        that of its site; ``new_link_ratio`` is that of its site by now.
        """
        if not self._share:
            return
        visit = event.visit
        if visit.is_page:
            self._page(visit, linked, linker, new_link_ratio)
        elif visit.redirect:
            self._site(domain_of(visit.url)).worth -= _DETOUR
        elif visit.error.startswith(_WASTE):  # what is merely missing costs the fetch only
            self._site(domain_of(visit.url)).worth -= _WALL
            self._wasted += 1.0
        self._ended(visit)

    def merge(self, name: str, into: str, linked: Iterable[str]) -> None:
        """The links of the site ``name`` to the sites ``linked`` count under another name from now on."""
        for target in linked:
            site = self._sites.get(target)
            if site is not None and name in site.links:
                site.links[into] = max(site.links.pop(name), site.links.get(into, 0.0))

    def _ended(self, visit: Visit) -> None:
        if self._fetches and visit.at >= self._latest:
            pause = min(visit.at - self._latest, _LONGEST_PAUSE)
            self._pace += max(_SMOOTHING, 1.0 / (self._fetches + 1)) * (pause - self._pace)
        self._latest = max(visit.at, self._latest)
        self._fetches += 1
        site = self._site(domain_of(visit.url))
        missing = visit.error and not visit.is_page and not visit.error.startswith(_WASTE)
        cost = _MISSING if missing else 1.0
        self._single_source += cost * site.single_source
        site.fetches += cost
        site.out.discard(visit.url)

    def dropped(self, url: str) -> None:
        """``url`` was taken and not fetched."""
        if site := self._sites.get(domain_of(url)):
            site.out.discard(url)

    def doubted(self, site: str, doubt: float) -> None:
        """The pages of a registrable domain count as spam to this degree, 0 to 1, those before included."""
        self._site(site).doubt = doubt

    # ------------------------------------------------------------ at the door

    def adjusted_score(self, url: str, score: float) -> float:
        """A site over budget waits; its scores stay as they are."""
        return score

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """``now`` when the site of ``url`` has budget left, or has waited long enough for a trial."""
        if not self._share:
            return now
        site = self._site(domain_of(url.url))
        if not self._is_over(site) or self._may_try(site, now):
            site.out.add(url.url)
            return now
        if site.until <= now:
            self._make_wait(site, now)
        self.waited += 1
        return site.until

    def host_blocked_until(self, url: str) -> float:
        """The end of the wait of a site over budget."""
        site = self._sites.get(domain_of(url)) if self._share else None
        if site is None or not site.until or not self._is_over(site):
            return 0.0
        return site.until

    def release_order(self, url: str, now: float) -> float:
        """1 within the budget; beyond it 0.9 for an honest site, whatever it is about, and next to nothing for any other."""
        site = self._sites.get(domain_of(url)) if self._share else None
        if site is None or not self._is_over(site):
            return 1.0
        return 0.9 if site.believed_mean > _HONEST else 0.01

    def pardon(self, url: str) -> None:
        """Nothing else is left to fetch: the site of ``url`` may have one more."""
        site = self._site(domain_of(url))
        site.pardoned += max(1.0, site.fetches + len(site.out) + 1.0 - self.budget(site))
        site.until = 0.0

    def budget(self, site: Site) -> float:
        """How many fetches a site is worth so far."""
        links = sum(site.links.values())
        trust = self.trust
        most = SUPPORTED * trust * (1.0 + links)
        paid = BACK * min(trust, _MOST_BACK) * site.believed
        endless = site.endless / trust
        if paid > 0.0:
            paid *= 1.0 - endless
            paid = most * paid / (most + paid)
        first = min(MOST_FIRST, FIRST * trust) if self._alone else MOST_FIRST
        earned = first + paid + PER_LINK * links * site.believed_mean * (1.0 - _LURED * endless)
        return self._share * earned + site.pardoned

    @property
    def trust(self) -> float:
        """1 while traps are met, up to ``MOST_TRUST`` while none are: on a web without them budgets only cost recall."""
        wasted = (self._wasted + HOSTILE * _PRIOR_FETCHES) / (self._fetches + _PRIOR_FETCHES)
        return min(MOST_TRUST, max(1.0, HOSTILE / wasted))

    def site(self, url: str) -> Site | None:
        """What is known of the site of ``url``."""
        return self._sites.get(domain_of(url))

    def _is_over(self, site: Site) -> bool:
        """Whether a site has no budget left, or no part in that of hearsay."""
        if site.fetches + len(site.out) >= self.budget(site):
            return True
        if not self._alone or not site.single_source or site.pardoned:
            return False
        most = SINGLE_SOURCE * min(self.trust, _MOST_SINGLE_SOURCE)
        return self._single_source >= self._share * most * (self._fetches + _EARLY_FETCHES)

    def _may_try(self, site: Site, now: float) -> bool:
        """Whether a site over budget has waited, and trials have been few enough."""
        if not site.waits or site.until > now or self._trials >= TRIALS * self._share * self._fetches:
            return False
        self._trials += 1
        self._make_wait(site, now)
        return True

    def _make_wait(self, site: Site, now: float) -> None:
        """For as many fetches of the crawl, at its pace, each time twice as many."""
        fetches = _FIRST_WAIT * 2.0 ** min(site.waits, _DOUBLINGS)
        site.until = now + min(LONGEST_WAIT, fetches * max(self._pace, 1e-3))
        site.waits += 1

    # ------------------------------------------------------------ worth

    def _page(self, visit: Visit, linked: Iterable[str], linker: str, new_link_ratio: float) -> None:
        site = self._site(domain_of(visit.url))
        site.new_link_ratio = new_link_ratio
        self._wasted += _TEDIOUS * ramp(new_link_ratio, _SURELY_OPEN, _SURELY_ENDLESS)
        value = self._value(visit)
        self._wasted += visit.spam**2
        site.worth += value - SPAM * visit.spam**2 - _COPY * visit.repeats
        if visit.depth == 0:  # a person led the crawl to it, whatever it looks like
            for target in linked:
                self._site(target).recommended = True
        if value > 0.0 and not visit.repeats:
            self._links(visit.url, value, linked, linker)

    def _value(self, visit: Visit) -> float:
        """What a page is worth, 0 to 1."""
        honest = (1.0 - visit.spam) * visit.signs.get(NOVELTY, 1.0) * (not visit.repeats)
        relevance = visit.relevance * honest
        self._relevance += relevance
        self._squares += relevance * relevance
        reference = self._squares / self._relevance if self._relevance else 0.0
        return _NEUTRAL * honest + (1.0 - _NEUTRAL) * (min(1.0, relevance / reference) if reference else 0.0)

    def _links(self, url: str, value: float, linked: Iterable[str], linker: str) -> None:
        own = domain_of(url)
        site = self._site(own)
        weight = value * site.mean * (1.0 - site.endless / self.trust)
        linker = linker or own
        for target in linked:
            site = self._site(target)
            if weight > site.links.get(linker, 0.0) and (linker in site.links or len(site.links) < _LINKERS):
                site.links[linker] = weight

    def _site(self, name: str) -> Site:
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = Site()
            if len(self._sites) > _SITES:
                self._forget()
        return site

    def _forget(self) -> None:
        """Let a tenth of the sites go: those that were never visited, or else the oldest."""
        unvisited = [name for name, site in self._sites.items() if not site.fetches and not site.out]
        names = unvisited[: _SITES // 10] or list(self._sites)[: _SITES // 10]
        for name in names:
            del self._sites[name]
