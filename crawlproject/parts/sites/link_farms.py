"""Link farms: sites that link to each other to look well linked, detected from the sites they link to.

After Wu and Davison, Identifying link farm spam pages, WWW 2005, but at the level of sites, while the crawl runs. They mark pages
that link to three others which link back, and then pages that link to three marked ones. Among honest sites that would mark
departments, the parts of one organisation and every community with a subject. So here the links only count where the pages give
cause: a site is suspect for what is on its pages (``Page.spam``), and a farm for its link neighbourhood,

    share = suspicion of the sites it links to / (their number + CAUTION),     partners counted twice

over the sites that were visited, where a partner is a site that links back. ``THRESHOLD`` suspects are needed, as in the
paper. The degree of ``CLIQUE`` grows from 0 to 1 as ``share`` goes from ``SOME`` to ``MOST``, both ``CREDIT`` higher for clean
pages, and makes the site itself a suspect, which is the paper's expansion. Captchas, parked domains and pages that are gone say
nothing about the sites that link to them: links grow old.

``SiteTracker`` joins all that a crawl learns about hosts and sites: which hosts block, what each site is worth, which sites form
link farms.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from crawlproject.core.learned_state import fields_of, refuse_fields, set_fields
from crawlproject.parts.sites.site import HostHealth, NewLinkRatio, ramp
from crawlproject.parts.sites.site_budgets import SiteBudgets
from crawlproject.records import CLIQUE, SUSPECTS, Fetch, FetchEvent, Page, Visit
from crawlproject.urls.hosts import domain_of, sites_linked

THRESHOLD = 3.0  # suspects that a farm links to, at least
SPAM_SITES = 1.0  # of them suspect for their own pages: otherwise the rest would mark each other for ever
CAUTION = 4.0  # honest sites that are assumed to be linked as well
SOME, MOST = 0.3, 0.5  # shares of suspects
CREDIT = 0.1  # added to both where nothing is wrong with the pages: others may have left the links there
PARTNER = 2.0  # sites that a partner counts as
FARM_SPAM = 0.9  # spam score of a page of a site with degree 1, in addition to other evidence
FARM = 0.5  # degree from which the links of a site count as one with those of all farms
FARMS = "link farms"  # in place of the name of such a site

_FEW, _MANY = 0.2, 0.5  # mean spam at which a site begins to be a suspect, and at which it fully is one
_PRIOR_PAGES = 1.0  # honest pages that each site is assumed to have
_PAGES = 40.0  # after which earlier findings count half
_LINKS = 64  # sites to which a site has linked lately
_SITES = 20_000  # sites that are remembered
_TELL_ALL = 16  # fetches, one of which reports to other workers all sites that its page links to
_SUSPECT = 0.5  # suspicion from which a site counts as a suspect in the reason that is shown


class LinkSite:
    """What is known of a visited site."""

    __slots__ = ("degree", "links", "page_spam", "pages", "spam", "suspicion")

    def __init__(self) -> None:
        self.pages = 0.0
        self.spam = 0.0  # sum over its pages, without what their links add
        self.page_spam = 0.0  # how much its pages look like spam, whatever they link to, 0 to 1
        self.degree = 0.0  # how much it is part of a farm, by the sign of its latest page, 0 to 1
        self.suspicion = 0.0  # the larger of both: how it counts for sites that link to it
        self.links: dict[str, None] = {}  # other sites, the latest last


class LinkNeighbourhood(NamedTuple):
    """The visited sites that a site links to. ``known`` and ``weighted`` are their number and suspicion, with partners counted
    twice. The others count each site once: their suspicion, the part due to their own pages, and the number of suspects."""

    known: float
    weighted: float
    suspicion: float
    page_spam: float
    suspects: int


class LinkFarms:
    """The visited sites of a crawl: inspects pages and learns from them.

    Memory is bounded by ``_SITES`` sites of ``_LINKS`` names.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("_sites", "_suspects")

    def __init__(self) -> None:
        self._sites: OrderedDict[str, LinkSite] = OrderedDict()
        self._suspects: set[str] = set()  # sites with any suspicion: a site that links to few needs no closer look
        self._latest: tuple[str, int, dict[str, None]] = ("", 0, {})

    # ------------------------------------------------------------ before a page is kept

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        """Add ``CLIQUE`` and ``SUSPECTS`` to the signs of a page of a farm, and raise its spam score."""
        if len(self._suspects) < THRESHOLD:
            return page
        own = domain_of(page.url)
        site, linked = self._sites.get(own), self.linked(page.url, [link.url for link in page.links])
        names = site.links | linked if site else linked
        if len(self._suspects.intersection(names)) < THRESHOLD:
            return page
        linked_sites = self._neighbourhood(own, names)
        if linked_sites.suspicion < THRESHOLD or linked_sites.page_spam < SPAM_SITES:
            return page
        credit = CREDIT * (1.0 - max(ramp(page.spam, _FEW, _MANY), site.page_spam if site else 0.0))
        degree = round(ramp(linked_sites.weighted / (linked_sites.known + CAUTION), SOME + credit, MOST + credit), 3)
        if degree <= 0.0:
            return page
        spam = round(1.0 - (1.0 - page.spam) * (1.0 - FARM_SPAM * degree), 3)
        return replace(page, spam=spam, signs={**page.signs, CLIQUE: degree, SUSPECTS: float(linked_sites.suspects)})

    def linked(self, url: str, links: Sequence[str]) -> dict[str, None]:
        """The other sites to which the ``links`` of the page at ``url`` lead; the last answer is remembered."""
        if self._latest[:2] != (url, len(links)):
            self._latest = url, len(links), sites_linked(url, links)
        return self._latest[2]

    def _neighbourhood(self, own: str, names: Iterable[str]) -> LinkNeighbourhood:
        known = weighted = suspicion = page_spam = 0.0
        suspects = 0
        for name in names:
            site = self._sites.get(name)
            if site is not None:
                weight = PARTNER if own in site.links else 1.0
                known += weight
                if found := site.suspicion:
                    weighted += weight * found
                    suspicion += found
                    page_spam += site.page_spam
                    suspects += found >= _SUSPECT
        return LinkNeighbourhood(known, weighted, suspicion, page_spam, suspects)

    # ------------------------------------------------------------ after it was kept

    def learn(self, visit: Visit, linked: Mapping[str, None]) -> list[str]:
        """Learn from a page how much it looks like spam and to which sites it ``linked``; return the new ones among them."""
        own = domain_of(visit.url)
        site = self._sites.pop(own, None) or LinkSite()
        self._sites[own] = site
        if len(self._sites) > _SITES:
            forgotten, _ = self._sites.popitem(last=False)
            self._suspects.discard(forgotten)
        degree = visit.signs.get(CLIQUE, 0.0)
        if site.pages >= _PAGES:
            site.pages, site.spam = site.pages / 2, site.spam / 2
        site.pages += 1.0
        site.spam += max(0.0, 1.0 - (1.0 - visit.spam) / (1.0 - FARM_SPAM * degree))
        site.page_spam = ramp(site.spam / (site.pages + _PRIOR_PAGES), _FEW, _MANY)
        site.degree = degree
        site.suspicion = max(site.page_spam, degree)
        (self._suspects.add if site.suspicion else self._suspects.discard)(own)
        if visit.repeats:
            return []
        links = site.links
        new = [name for name in linked if name not in links]
        for name in linked:
            links.pop(name, None)
            links[name] = None
        for name in list(islice(links, max(0, len(links) - _LINKS))):
            del links[name]
        return new

    def site(self, url: str) -> LinkSite | None:
        """What is known of the site of ``url``."""
        return self._sites.get(domain_of(url))

    @property
    def count(self) -> int:
        """The number of sites that are part of a farm."""
        return sum(site.degree >= FARM for site in self._sites.values())

    def linker(self, name: str) -> str:
        """The name under which links from a site count: its own, or one common name for all farms."""
        site = self._sites.get(name)
        return FARMS if site is not None and site.degree >= FARM else name


class SiteTracker:
    """``hosts``, ``farms`` and ``sites`` together. ``counts_link`` decides whether a new link counts for its site's ratio."""

    def __init__(self, hosts: HostHealth, sites: SiteBudgets, farms: LinkFarms | None = None) -> None:
        self.hosts = hosts
        self.sites = sites
        self.farms = farms or LinkFarms()
        self.counts_link: Callable[[str], bool] = lambda url: True
        self._new_links = NewLinkRatio()
        # The last page that was learned; of the sites that it links to, those that are new for its site, and those whose worth
        # it changed.
        self._news: tuple[str, Sequence[str], Sequence[str]] = ("", (), ())

    def learn(self, event: FetchEvent) -> None:
        """Learn from a fetch. Hosts and farms come first: the farm of a page's site decides under which name its links count."""
        self.hosts.learn(event)
        visit, links = event.visit, event.links
        if visit.is_page:
            ratio = self._new_links.learn(visit.url, links, self.counts_link)
            linked = self.farms.linked(visit.url, links)
            self._news = visit.url, *self._learn_page(event, linked, linked, ratio)
        else:
            self.sites.learn(event)

    def told(self, event: FetchEvent) -> tuple[Sequence[str], Sequence[str], float] | None:
        """What other workers need to learn from a page that was learned just now: of the sites that it links to, those that are
        new for its site, and those whose worth it changed; and the new-link ratio of its site. The pages of a site link to the
        same sites, so the others are left out, except now and then, for workers that join after old messages were dropped.
        """
        visit = event.visit
        if not visit.is_page:
            return None
        learned, new, changed = self._news
        if learned != visit.url or not self.sites.fetches % _TELL_ALL:
            new = changed = list(self.farms.linked(visit.url, event.links))
        return new, changed, self._new_links.of(visit.url)

    def learn_told(self, event: FetchEvent, told: tuple[Iterable[str], Iterable[str], float] | None) -> None:
        """Learn from another worker's fetch, but nothing about its host, which belongs to that worker."""
        if told is not None and event.visit.is_page:
            new, changed, ratio = told
            self._learn_page(event, dict.fromkeys(map(str, new)), list(map(str, changed)), float(ratio))
        else:
            self.sites.learn(event)

    def _learn_page(
        self, event: FetchEvent, linked: Mapping[str, None], paid: Collection[str], ratio: float
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Learn from a page. Returns the sites of ``linked`` that are new for its site, and those of ``paid`` that are worth more
        now.
        """
        visit = event.visit
        own = domain_of(visit.url)
        before = self.farms.linker(own)
        new = self.farms.learn(visit, linked)
        linker = self.farms.linker(own)
        if linker == FARMS != before and (site := self.farms.site(visit.url)) is not None:
            self.sites.merge(before, linker, site.links)
        return new, self.sites.learn(event, paid, linker, ratio)

    def learned(self) -> dict[str, Any]:
        """The whole state, for a checkpoint."""
        return {"fields": fields_of(self.hosts, self.farms, self.sites), "new_links": self._new_links.learned()}

    def set_learned(self, learned: Mapping[str, Any]) -> None:
        """Restore this state. Raises ``Unfit``."""
        refuse_fields(learned["fields"], self.hosts, self.farms, self.sites)
        self._new_links.set_learned(learned["new_links"])
        set_fields(learned["fields"], self.hosts, self.farms, self.sites)

    def counters(self) -> dict[str, int]:
        """Hosts given up, and sites that are part of a link farm."""
        return {"hosts/given_up": len(self.hosts.given_up), "sites/farms": self.farms.count}
