"""The way into the frontier: every URL that is found passes through here.

Learned rules may respell a URL. The scope, the trap rules, the parts, and robots.txt if it is known, may refuse it
(``EntryRules``). Otherwise it enters the frontier with its score, which parts may lower. Each refusal is counted under its
reason, ``component/rule``, in ``refused.json``. ``leasing.py`` is the way out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from crawlproject.core.parts import Parts
from crawlproject.core.peers import Peers
from crawlproject.core.stopping import Scarcity
from crawlproject.frontier.base import CountingFrontier, Frontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import ACTIVE, FIRST, LISTINGS, PAGE, QUERY, CrawlUrl
from crawlproject.storage.history import History
from crawlproject.storage.logs import Refusals
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of, is_within
from crawlproject.urls.post import is_post
from crawlproject.urls.traps import TrapFilter

OUTSIDE = "scope/domain"
TOO_DEEP = "trap/too_deep"  # the only refusal that another path to the URL may avoid


class Admission:
    """Admits URLs to the frontier of one crawl, and keeps their scores up to date while they wait."""

    def __init__(
        self,
        *,
        rules: EntryRules,
        canonicalize: Callable[..., str],
        frontier: Frontier,
        ordering: BaseOrdering,
        refusals: Refusals,
        history: History,
        parts: Parts,
        peers: Peers,
        scarcity: Scarcity,
    ) -> None:
        self.rules = rules
        self.scarcity = scarcity
        self.floor = -math.inf  # the last one that was passed to the frontier
        # Seeds, targets of their redirects, next pages of series: no ordering revises their scores.
        self.planted: set[str] = set()
        self._canonicalize = canonicalize
        self._frontier = frontier
        self._ordering = ordering
        self._refusals = refusals
        self._history = history
        self._peers = peers
        self._spellings = parts.spellings
        self._lowering = parts.lowering  # this and the next are called for every link
        self._postponing = parts.postponing

    # ------------------------------------------------------------ in

    def offer(self, url: CrawlUrl, *, any_extension: bool = False) -> bool:
        """Put a URL into the frontier. False: it was refused, has to wait, or is known (its score may have been raised).

        ``any_extension``: accept any file extension.
        """
        known = url.key in self._frontier
        if not known and (respelled := self._respelled(url)) is not url:
            url, known = respelled, respelled.key in self._frontier
        if not url.depth or url.precedence < ACTIVE:
            self.planted.add(url.url)
        if url.depth:
            score = url.score
            for lowered in self._lowering:
                score = lowered(url.url, score)
            if score != url.score:
                url = replace(url, score=score)
        postponed = url.precedence > FIRST and self.is_postponed(url.url)
        if postponed:
            self._ordering.postponed(url.url)
        if known:
            return self._frontier.put(url)  # may raise the score of a waiting URL
        reason = self.rules.refusal(url.url, url.depth, any_extension=any_extension)
        if reason:
            self._refusals.add(reason, url.url, url.parent)
            if reason == TOO_DEEP:
                self._ordering.too_deep(url.url)
            else:
                self._ordering.refused(url.url)
            return False
        if self._frontier.put(url):
            self.rules.traps.admitted(url.url)
            return not postponed
        self._refusals.count("frontier/full")
        return False

    def found_by_another(self, url: CrawlUrl) -> bool:
        """Another worker has offered a URL by the same rules, and the ordering has scored it. Return whether it waits."""
        if url.key in self._frontier or self._respelled(url) is not url:
            return False
        reason = self.rules.refusal(url.url, url.depth)
        if reason == TOO_DEEP:
            self._ordering.too_deep(url.url)
        elif reason:
            self._ordering.refused(url.url)
        elif self.is_postponed(url.url):
            self._ordering.postponed(url.url)
        return not reason

    def seed(self, text: str, score: float | None = None) -> CrawlUrl | None:
        """The record of a seed that is added while the crawl runs; None if it is refused, which is counted."""
        url = canonical_or_none(self._canonicalize, text)
        reason = self.rules.refusal(url, 0) if url else "seed/no_url"
        if url is None or reason:
            self._refusals.add(reason or "", url or text)
            return None
        self.planted.add(url)
        return self.seed_record(url, score)

    def seed_record(self, url: str, score: float | None = None) -> CrawlUrl:
        """The record of a seed in canonical spelling."""
        score = self._ordering.seed_score(url) if score is None else score
        return CrawlUrl(url, score, precedence=FIRST if self._ordering.seeds_first else ACTIVE)

    def respell(self, url: CrawlUrl) -> bool:
        """Offer a page, listing or query whose turn has come in the spelling that this run's settings give it. Return whether
        that is another one: ``url`` is then not fetched.
        """
        spelled = canonical_or_none(self._canonicalize, url.url)
        is_listing = url.kind in LISTINGS
        if not spelled or spelled == url.url or url.request is not None or is_post(url.url):
            return False
        if url.kind not in (PAGE, QUERY) and not is_listing:
            return False
        self._ordering.redirected(url.url, spelled)
        self.offer(replace(url, url=spelled), any_extension=is_listing)
        return True

    def is_replaced(self, url: str) -> bool:
        """Whether a URL whose turn has come is a variant of a known one. A seed is fetched as it is spelled."""
        if not self._spellings or url in self.planted or is_post(url):
            return False
        for respelled in self._spellings:
            variant = respelled(url)
            if variant != url and variant in self._frontier:
                return True
        return False

    # ------------------------------------------------------------ waiting URLs

    def update(self) -> None:
        """Let the ordering revise the scores of waiting URLs."""
        revised = list(self._ordering.revise())
        self.revise(revised, anew=bool(revised))

    def revise(self, revised: Iterable[tuple[str, float]], *, anew: bool) -> None:
        """Pass new scores of this worker's URLs on to the frontier, and the floor of the ordering if it has changed.

        Seeds keep their scores, whatever score an ordering derives from links to them. ``anew``: the floor is passed on even if
        it has not changed, because the frontier may have lowered it.
        """
        keeps = self._peers.keeps
        for url, score in revised:
            if url not in self.planted and keeps(url):
                for lowered in self._lowering:
                    score = lowered(url, score)
                self._frontier.rescore(url, score)
        floor = self._ordering.floor
        if floor != self.floor or (anew and floor > -math.inf):
            self.floor = floor
            self._frontier.set_floor(floor, self.scarcity.spare(floor))

    def replay(self) -> None:
        """After a resume: count for the trap rules how many URLs of each host were admitted before, and find the seeds again.

        A frontier that counts the URLs of its hosts needs no counting: its waiting URLs are then not listed.
        """
        self.planted.update(self._history.seeds_led_to)
        if self._peers.has_server or isinstance(self._frontier, CountingFrontier):
            return
        for url in self._history:
            self.rules.traps.admitted(url)
        for waiting in self._frontier.waiting():
            # If the crawl was killed between the history line and the links of a URL, it is counted above.
            if waiting.url not in self._history and not waiting.variant:
                self.rules.traps.admitted(waiting.url)

    # ------------------------------------------------------------ inside

    def _respelled(self, url: CrawlUrl) -> CrawlUrl:
        """The record with the respelled URL, usually ``url`` itself; a POST is never respelled."""
        for respelled in self._spellings:
            if (variant := respelled(url.url)) != url.url and not is_post(url.url):
                self._refusals.count("dust/respelled")
                self._ordering.redirected(url.url, variant)
                url = replace(url, url=variant)
        return url

    def is_postponed(self, url: str) -> bool:
        """Whether the host of ``url`` waits in a later class."""
        for is_postponed in self._postponing:  # noqa: SIM110 - called for every link, and a generator takes twice the time
            if is_postponed(url):
                return True
        return False


class EntryRules:
    """The rules by which one crawl admits URLs. ``domains`` is ``CRAWL_ALLOWED_DOMAINS``; empty: the whole web.

    ``refusals`` are functions of a URL and its depth that return why it is never fetched, or "": those of the parts, and of
    robots.txt where it is known.
    """

    def __init__(
        self, domains: Iterable[str], traps: TrapFilter, refusals: Iterable[Callable[[str, int], str]]
    ) -> None:
        self.traps = traps
        self._domains = frozenset(domains)
        self._refusals = tuple(refusals)

    def refusal(self, url: str, depth: int, *, any_extension: bool = False) -> str | None:
        """Why a canonical URL, ``depth`` links from a seed, may not enter the frontier; None: it may.

        ``any_extension``: accept any file extension.
        """
        if self._is_outside(url):
            return OUTSIDE
        rule = self.traps.refusal(url, depth, any_extension=any_extension)
        if rule:
            return f"trap/{rule}"
        return self._other_refusal(url, depth) or None

    def late_refusal(self, url: str, depth: int = 0, *, any_domain: bool = False) -> str:
        """Why an admitted URL is not fetched after all, because of what was learned since, or because the crawl was resumed with
        fewer domains; empty: it is fetched.

        ``depth`` 0 is also used for URLs that were fetched before. ``any_domain``: a spider asks for it by a request of its own.
        """
        return OUTSIDE if not any_domain and self._is_outside(url) else self._other_refusal(url, depth)

    def is_barred(self, url: str, depth: int) -> bool:
        """Whether a canonical URL may not enter on any path."""
        return self.refusal(url, depth) not in (None, TOO_DEEP)

    def _is_outside(self, url: str) -> bool:
        return bool(self._domains) and not is_within(host_of(url), self._domains)

    def _other_refusal(self, url: str, depth: int) -> str:
        for refusal in self._refusals:
            if reason := refusal(url, depth):
                return reason
        return ""
