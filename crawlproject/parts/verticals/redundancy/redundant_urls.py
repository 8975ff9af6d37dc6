"""Learns which URL patterns of a site lead to what other pages show, and refuses such URLs: ``trap/redundant``.

The evidence is what pages of the pattern showed: the same as the page that links to them (the sign ``SHOWN_BEFORE``), or other
content. A URL with a word for another view is presumed redundant, which evidence can refute. One in ``AUDITED`` refused URLs is
fetched all the same, so that a wrong rule is found out. ``url_templates.py`` makes URLs wait that *may* bring nothing; here URLs
are refused, which takes more: no new link either, and several kinds of pages, of which this one is the view.

Some words of a URL indicate that it shows another page again: in another order, for print, or with a form to reply. Forums,
blogs and shops link to such pages next to their content: duplicate and uninformative pages (Cai et al., "iRobot: An
Intelligent Crawler for Web Forums", WWW 2008). The words are a list of parameters and segments that widespread software uses;
it is taken for granted until the pages of a site refute it. The rest is learned.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest

from crawlproject.core.stopping import wilson_lower_bound
from crawlproject.parts.verticals.redundancy.path_orders import PathOrders, names_in, view_patterns
from crawlproject.parts.verticals.site_template import SiteTemplates
from crawlproject.records import QUERY, SHOWN_BEFORE, FetchEvent
from crawlproject.urls.hosts import host_of

REASON = "trap/redundant"
AUDITED = 25  # one of so many refused URLs is fetched all the same
CONFIRMED_FROM = 0.55  # lower bound of the share of redundant pages: four in a row reach it
WITHDRAWN_BELOW = 0.4
PRESUMED = 4.0  # redundant pages that a word for another view counts as

_HOSTS = 5_000
_PATTERNS = 2_000  # of a host
_MEMORY = 60.0  # pages of a pattern that count: older ones fade
_ORDERS = frozenset((
    "sort", "sortby", "sort_by", "sortdir", "sort_order", "sortorder", "order", "orderby", "order_by", "order_dir", "orderdir",
))  # fmt: skip
_PARAMETERS = _ORDERS | frozenset((
    "replytocom", "reply", "replyto", "quote", "print", "printable", "printview", "printpage", "share", "sharesource",
))  # fmt: skip
_ACTIONS = ("action", "act", "do", "mode", "view", "format", "task")
_DONE = (
    "reply",
    "print",
    "printable",
    "quote",
    "report",
    "share",
    "email",
    "post_reply",
    "newreply",
    "printpage",
    "printview",
)
_SEGMENTS = frozenset((
    "print", "printable", "printview", "reply", "newreply", "post-reply", "quote", "email-this", "report-post",
    "printthread.php", "newreply.php", "report.php", "sendmessage.php",
))  # fmt: skip
_PAIR = re.compile(r"(?:^|[&;])([^=&;]+)(?:=([^&;]*))?")


@dataclass(slots=True)
class PatternEvidence:
    """The pages of a pattern; older ones fade."""

    redundant: float = 0.0
    informative: float = 0.0
    refused: bool = False

    def add(self, *, redundant: bool, presumed: float) -> None:
        fade = 1 - 1 / _MEMORY
        self.redundant = self.redundant * fade + redundant
        self.informative = self.informative * fade + (not redundant)
        share = wilson_lower_bound(self.redundant + presumed, self.informative)
        self.refused = share >= (WITHDRAWN_BELOW if self.refused or presumed else CONFIRMED_FROM)


@dataclass(slots=True)
class _Site:
    """What is known of a host. ``names``: the sets of parameters that were seen, by the path of a pattern."""

    patterns: OrderedDict[str, PatternEvidence] = field(default_factory=OrderedDict)
    names: dict[str, set[frozenset[str]]] = field(default_factory=dict)


class RedundantUrls:
    """Learns from pages, and refuses URLs.

    ``known`` says whether a URL waits or was fetched, ``planted`` whether it is fetched whatever the rules say: next pages of
    series. Unless it ``learns``, it refuses only what custom ``templates`` of sites skip.
    """

    def __init__(
        self,
        templates: SiteTemplates,
        known: Callable[[str], bool],
        *,
        learns: bool = True,
        planted: Callable[[str], bool] = lambda url: False,
    ) -> None:
        self._planted = planted
        self._templates = templates
        self._known = known
        self._learns = learns
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._orders = PathOrders(known)

    def learn(self, event: FetchEvent) -> None:
        """Learn from a fetch. A fetch without a page says nothing, unless it led to another view, such as a login. Pages that
        others repeat say nothing either."""
        visit = event.visit
        if not self._learns or not visit.depth or visit.kind == QUERY:
            return
        led_away = bool(visit.redirect) and self.is_view(visit.redirect)
        if not visit.is_page and not led_away:
            return
        if visit.is_page:
            self._orders.add(visit.url, event.links)
        shown = 1.0 if led_away else visit.signs.get(SHOWN_BEFORE, 0.0)
        if not shown and visit.duplicate_of:
            shown = 1.0 if visit.duplicate_of == visit.parent else 0.5
        if 0.0 < shown < 1.0:
            return  # a page with its own content, which others repeat
        site = self._sites.setdefault(host_of(visit.url), _Site())
        self._sites.move_to_end(host_of(visit.url))
        presumed = PRESUMED if is_redundant(visit.url) else 0.0
        for pattern in view_patterns(visit.url):
            path, names = names_in(pattern)
            site.names.setdefault(path, set()).add(names)
            site.patterns.setdefault(pattern, PatternEvidence()).add(redundant=shown > 0.0, presumed=presumed)
            site.patterns.move_to_end(pattern)
        while len(site.patterns) > _PATTERNS:
            site.patterns.popitem(last=False)
            site.names = {}
        if len(self._sites) > _HOSTS:
            self._sites.popitem(last=False)

    def refusal(self, url: str) -> str:
        """``REASON`` if a URL is refused; else empty."""
        own = self._templates.of(url)
        verdict = own.skip(url) if own is not None else None
        if verdict is None:
            verdict = self._learns and self.is_view(url) and xxh3_64_intdigest(url.encode()) % AUDITED != 0
        return REASON if verdict and not self._planted(url) else ""

    def is_view(self, url: str) -> bool:
        """Whether ``url`` is known to lead to what other pages show."""
        if self._orders.is_order(url):
            return True
        site = self._sites.get(host_of(url))
        if site is not None:
            for pattern in view_patterns(url):
                found = site.patterns.get(pattern)
                if found is None:
                    continue
                if found.refused:
                    return not self._is_base(site, pattern)
                if found.informative >= 1.0:
                    return False
        if not is_redundant(url):
            return False
        base = base_of(url)
        return not base or self._known(base)

    def leads_on(self, source: str, target: str) -> bool:
        """Whether a new link may lead to new content: neither to another view, nor to a page like the one that has it."""
        return not (self.is_view(target) or is_redundant(target) or _alike(source, target))

    @staticmethod
    def _is_base(site: _Site, pattern: str) -> bool:
        """Whether other URLs add a parameter to ``pattern``: then they are the views, and it is what they show."""
        path, names = names_in(pattern)
        return any(names < others for others in site.names.get(path, ()))


def _alike(source: str, target: str) -> bool:
    """Whether two URLs of one host have the same narrowest pattern, or the second adds parameters to the first."""
    if host_of(source) != host_of(target):
        return False
    mine, theirs = view_patterns(source)[0], view_patterns(target)[0]
    if mine == theirs:
        return True
    path, names = names_in(mine)
    other, more = names_in(theirs)
    return path == other and names < more


def is_redundant(url: str) -> bool:
    """Whether a canonical URL looks like another view of a page."""
    path, _, query = url.partition("?")
    if not _SEGMENTS.isdisjoint(path.lower().split("/")[3:]):
        return True
    for name, value in _PAIR.findall(query.lower()) if query else ():
        if name in _PARAMETERS or (name in _ACTIONS and value in _DONE):
            return True
    return False


def base_of(url: str) -> str:
    """The canonical URL that a redundant URL shows in another order; empty for another kind of view."""
    path, _, query = url.partition("?")
    pairs = query.split("&")
    kept = [pair for pair in pairs if pair.partition("=")[0].lower() not in _ORDERS]
    if not query or len(kept) == len(pairs):
        return ""
    return f"{path}?{'&'.join(kept)}" if kept else path
