"""The way into the frontier: every URL that is found passes here.

A URL is normalised by learned rules, refused by scope and trap rules, and put into the frontier with its score, which holds may
lower. Whatever is refused is counted under a reason. ``leasing.py`` is the way out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from crawlproject.core.entry_rules import TOO_DEEP, EntryRules
from crawlproject.core.holds import Holds
from crawlproject.core.normalization import Normalization
from crawlproject.core.scarcity import Scarcity
from crawlproject.frontier.base import CountingFrontier, Frontier
from crawlproject.frontier.shared import FULL, HOST_FULL, SharedFrontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.parts.workers.host_shares import HostShares
from crawlproject.records import PROBE, CrawlUrl
from crawlproject.storage.history import History
from crawlproject.storage.logs import Refusals
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of


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
        normalization: Normalization | None = None,
        holds: Holds | None = None,
        scarcity: Scarcity | None = None,
    ) -> None:
        self.rules = rules
        self.shares: HostShares | None = None  # whose scores this worker keeps; None: it is the only one
        # Seeds, where seeds redirect to, next pages of series: no ordering revises these.
        self.planted: set[str] = set()
        self._canonicalize = canonicalize
        self._frontier = frontier
        self._ordering = ordering
        self._refusals = refusals
        self._history = history
        self._normalization = normalization or Normalization()
        self._holds = holds or Holds()
        self._floor = -math.inf
        self.scarcity = scarcity or Scarcity("pages")
        self._shared = frontier if isinstance(frontier, SharedFrontier) else None
        if self._shared is not None:
            self._shared.when_rejected(self._turned_away)

    # ------------------------------------------------------------ in

    def offer(self, url: CrawlUrl, *, any_extension: bool = False) -> bool:
        """Put a URL into the frontier. False: it was refused, has to wait, or is known (its score may have been raised).

        ``any_extension``: it is wanted whatever the name of its file.
        """
        known = url.key in self._frontier
        if not known and (rewritten := self._normalized(url)) is not url:
            url, known = rewritten, rewritten.key in self._frontier
        if url.depth == 0:
            self.planted.add(url.url)
        else:
            url = self._lowered(url)
        blocked = url.depth > 0 and self._holds.is_blocked(url.url)
        if blocked:
            self._ordering.postponed(url.url)
        if known:
            return self._frontier.put(url)  # may raise the score of a URL that waits
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
            return not blocked
        self._refusals.count("frontier/full")
        return False

    def found_by_another(self, url: CrawlUrl) -> None:
        """Another worker has found a URL, and has offered it by the same rules; the ordering has scored it."""
        if url.key in self._frontier or self._normalized(url) is not url:
            return
        reason = self.rules.refusal(url.url, url.depth)
        if reason == TOO_DEEP:
            self._ordering.too_deep(url.url)
        elif reason:
            self._ordering.refused(url.url)
        else:
            assert self._shared is not None, "only a shared frontier has other workers"
            self._shared.note(url.key)
            if self._holds.is_blocked(url.url):
                self._ordering.postponed(url.url)

    def seed(self, text: str, score: float | None = None) -> CrawlUrl | None:
        """The record of a seed that is brought while the crawl runs; None when it is refused, which is counted."""
        url = canonical_or_none(self._canonicalize, text)
        reason = self.rules.refusal(url, 0) if url else "seed/no_url"
        if url is None or reason:
            self._refusals.add(reason or "", url or text)
            return None
        self.planted.add(url)
        return CrawlUrl(url, self._ordering.seed_score(url) if score is None else score)

    def is_replaced(self, url: str) -> bool:
        """Whether a URL whose turn has come is a variant of one that is known. A seed is fetched as it is spelled."""
        return url not in self.planted and self._normalization.is_replaced(url, self._frontier.__contains__)

    # ------------------------------------------------------------ what waits

    def update(self) -> None:
        """Let the ordering revise what waits: new scores, and its floor."""
        revised = list(self._ordering.revise())
        self.rescore(revised)
        self.set_floor(anew=bool(revised))

    def set_floor(self, *, anew: bool = False) -> None:
        """Pass on the floor of the ordering when it has changed; ``anew``: or when the frontier may have lowered it by itself."""
        floor = self._ordering.floor
        if floor != self._floor or (anew and floor > -math.inf):
            self._floor = floor
            self._frontier.set_floor(floor, self.scarcity.spare(floor))

    def taken(self, url: CrawlUrl) -> None:
        """A URL is fetched."""
        if self.scarcity.taken(url.score, self._floor):
            self._frontier.set_floor(self._floor, self.scarcity.spare(self._floor))

    def rescore(self, revised: Iterable[tuple[str, float]]) -> None:
        """Pass new scores of this worker's hosts on to the frontier.

        Seeds keep theirs, whatever an ordering makes of the links to them.
        """
        shares = self.shares
        if shares is not None:
            shares.pass_time(self._holds.now)
        for url, score in revised:
            if url not in self.planted and (shares is None or shares.is_own(host_of(url))):
                self._frontier.rescore(url, self._holds.adjusted_score(url, score))

    def replay(self) -> None:
        """After a resume: tell the trap rules how many URLs of each host were admitted before, and find the seeds again.

        Not with a frontier that counts the hosts' URLs itself: it is not asked for all that waits in it.
        """
        self.planted.update(self._history.seeds_led_to)
        if self._shared is not None or isinstance(self._frontier, CountingFrontier):
            return
        for url in self._history:
            self.rules.traps.admitted(url)
        for waiting in self._frontier.waiting():
            # Not one that was killed between its history line and its links.
            if waiting.url not in self._history and waiting.kind != PROBE:
                self.rules.traps.admitted(waiting.url)

    # ------------------------------------------------------------ inside

    def _normalized(self, url: CrawlUrl) -> CrawlUrl:
        for variant, rewritten in self._normalization.rewrites(url.url):
            self._refusals.count("dust/respelled")
            self._ordering.redirected(variant, rewritten)
            url = replace(url, url=rewritten)
        return url

    def _lowered(self, url: CrawlUrl) -> CrawlUrl:
        score = self._holds.adjusted_score(url.url, url.score)
        return url if score == url.score else replace(url, score=score)

    def _turned_away(self, url: CrawlUrl, why: int) -> None:
        """What a shared frontier answered later."""
        if why == FULL:
            self._refusals.count("frontier/full")
        elif url.variant:
            pass  # another fetch of a URL that the ordering knows
        elif why == HOST_FULL:
            self._refusals.add("trap/host_full", url.url, url.parent)
            self._ordering.refused(url.url)
        elif url.url not in self._history and not self._frontier.leased(url.key):
            self._ordering.refused(url.url)  # another worker fetches it, or has
