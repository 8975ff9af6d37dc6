"""The door of the frontier: every URL that wants in passes here, and every one that is taken passes out.

On the way in a URL is respelled by what was learned (``UrlNormalizer``), refused by scope and trap rules, and put into the
frontier with its score, lowered by its standing (``UrlHold``). On the way out it may have to wait: its template or its
site has lost its standing meanwhile. Whatever is refused is counted under a reason; nothing vanishes in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from math import prod
from typing import Protocol

from crawlproject.crawl.sitemaps import is_sitemap
from crawlproject.frontier.base import FULL, HOST_FULL, CountingFrontier, Frontier, SharedFrontier
from crawlproject.inspection.probes.probe_key import is_probe
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import CrawlUrl
from crawlproject.storage.history import History
from crawlproject.storage.refusals import Refusals
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of
from crawlproject.urls.traps import TrapFilter

TOO_DEEP = "trap/too_deep"  # the one refusal that a URL may escape on another path

_PARDONED = 20  # URLs that are let go together
_LOOKED_AT = 1_000  # URLs that have to wait, or are refused, in one search for the next: then others may have a turn
_LOOKED_THROUGH = 20_000  # waiting URLs among which the best of these are looked for


class UrlNormalizer(Protocol):
    """A learned rule about spellings: different URLs, similar text."""

    def normalized(self, url: str) -> str:
        """The canonical URL to crawl in place of ``url``; ``url`` itself when no rule applies.

        A URL that waits is asked about once more when its turn comes: the rule may be younger than it is.
        """
        ...


class UrlHold(Protocol):
    """What was learned about the company a URL keeps: its template, its site."""

    def adjusted_score(self, url: str, score: float) -> float:
        """``score`` as far as the standing of ``url`` lets it count; never higher than ``score``."""
        ...

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when a URL that is about to be fetched has to wait; ``now`` or earlier: it has not."""
        ...

    def host_blocked_until(self, url: str) -> float:
        """Until when ``url`` would have to wait if it came now, in seconds since the epoch; a time that is over: it would not."""
        ...

    def release_order(self, url: str, now: float) -> float:
        """How much is to be said for ``url`` when all that is left has to wait, 0 to 1.

        1: nothing speaks against it here; 0: it has to wait all the same.
        """
        ...

    def release(self, url: str) -> None:
        """Nothing else is left to fetch: ``url`` need not wait any more."""
        ...


class HostFilter(Protocol):
    """What was learned about hosts: those from which nothing is fetched any more."""

    def refusal(self, url: str) -> str:
        """Why a canonical URL is not to be fetched, as ``component/rule``; empty: it may be."""
        ...


class Admission:
    """Admits URLs to the frontier of one crawl, and lets them out.

    ``domains`` is ``CRAWL_ALLOWED_DOMAINS``; empty: the whole web. ``normalizers``, ``holds`` and ``host_filters`` are asked in
    turn. URLs that wait for their standing are let go when nothing would happen for ``patience`` seconds.
    """

    def __init__(
        self,
        *,
        domains: Iterable[str],
        canonicalize: Callable[..., str],
        traps: TrapFilter,
        frontier: Frontier,
        ordering: BaseOrdering,
        refusals: Refusals,
        history: History,
        normalizers: Sequence[UrlNormalizer] = (),
        holds: Sequence[UrlHold] = (),
        host_filters: Sequence[HostFilter] = (),
        patience: float = 2.0,
    ) -> None:
        self.traps = traps
        self.planted: set[str] = set()  # seeds, and where seeds redirect to
        self._domains = tuple(domain.lower().lstrip(".") for domain in domains)
        self._canonicalize = canonicalize
        self._frontier = frontier
        self._ordering = ordering
        self._refusals = refusals
        self._history = history
        self._normalizers = normalizers
        self._holds = holds
        self._lowering = [standing.adjusted_score for standing in holds]  # asked of every link
        self._held_until = [standing.host_blocked_until for standing in holds]
        self._host_filters = host_filters
        self._patience = patience
        self._now = 0.0  # of the latest search for a URL
        self._shared = frontier if isinstance(frontier, SharedFrontier) else None
        if self._shared is not None:
            self._shared.when_rejected(self._turned_away)

    # ------------------------------------------------------------ who may enter

    def refusal(self, url: str, depth: int) -> str | None:
        """Why a canonical URL may not enter, as ``component/rule``; None: it may."""
        if self._domains and not self._in_scope(host_of(url)):
            return "scope/domain"
        rule = self.traps.refusal(url, depth)
        return f"trap/{rule}" if rule else self._barred_by_warden(url) or None

    def is_barred(self, url: str, depth: int) -> bool:
        """Whether a canonical URL may not enter, and on no other path either."""
        return self.refusal(url, depth) not in (None, TOO_DEEP)

    def seed(self, text: str, score: float | None = None) -> CrawlUrl | None:
        """The record of a seed that is brought while the crawl runs; None when it is refused, which is counted."""
        url = canonical_or_none(self._canonicalize, text)
        reason = self.refusal(url, 0) if url else "seed/no_url"
        if url is None or reason:
            self._refusals.add(reason or "", url or text)
            return None
        self.planted.add(url)
        return CrawlUrl(url, self._ordering.seed_score(url) if score is None else score)

    def replay(self) -> None:
        """After a resume: tell the trap rules how many URLs of each host were admitted before, and find the seeds again.

        Not with a frontier that counts the hosts' URLs itself: it is not asked for all that waits in it.
        """
        self.planted.update(self._history.seeds_led_to)
        if self._shared is not None or isinstance(self._frontier, CountingFrontier):
            return
        for url in self._history:
            self.traps.admitted(url)
        for waiting in self._frontier.waiting():
            # Not one that was killed between its history line and its links.
            if waiting.url not in self._history and not is_probe(waiting.url):
                self.traps.admitted(waiting.url)

    # ------------------------------------------------------------ in

    def offer(self, url: CrawlUrl) -> bool:
        """Put a URL into the frontier. False: it was refused, has to wait for its standing, or is known (its score may have
        been raised).
        """
        known = url.url in self._frontier
        if not known and (spelled := self._normalized(url)) is not url:
            url, known = spelled, spelled.url in self._frontier
        if url.depth == 0:
            self.planted.add(url.url)
        else:
            url = self._lowered(url)
        held = self._held(url)
        if held is not url:
            self._ordering.postponed(url.url)
        if known:
            return self._frontier.put(held)  # may raise the score of a URL that waits
        # A packed sitemap is wanted, whatever its name.
        name = url.url.removesuffix(".gz") if is_sitemap(url) else url.url
        reason = self.refusal(name, url.depth)
        if reason:
            self._refusals.add(reason, url.url, url.parent)
            if reason == TOO_DEEP:
                self._ordering.too_deep(url.url)
            else:
                self._ordering.refused(url.url)
            return False
        if self._frontier.put(held):
            self.traps.admitted(url.url)
            return held is url
        self._refusals.count("frontier/full")
        return False

    def rescore(self, revised: Iterable[tuple[str, float]]) -> None:
        """Pass new scores on to the frontier. Seeds keep theirs, whatever an ordering makes of the links to them."""
        for url, score in revised:
            if url not in self.planted:
                self._frontier.rescore(url, self._score(url, score))

    def put_aside(self) -> None:
        """Take out of the frontier what the ordering puts aside; seeds stay."""
        for url in self._ordering.put_aside():
            if url not in self.planted and self._frontier.withdraw(url):
                self.traps.withdrawn(url)

    def recall(self) -> None:
        """Bring in what the ordering calls back; ask again while all of it is refused: others may wait behind it."""
        while urls := list(self._ordering.recall()):
            entered = [self.offer(url) for url in urls]
            if any(entered):
                return

    def _held(self, url: CrawlUrl) -> CrawlUrl:
        """``url`` itself, or its record with the time until which its standing makes it wait."""
        if url.depth == 0 or not self._holds:
            return url
        until = 0.0
        for host_blocked_until in self._held_until:
            until = max(until, host_blocked_until(url.url))
        return replace(url, not_before=until) if until > self._now and until > url.not_before else url

    def _normalized(self, url: CrawlUrl) -> CrawlUrl:
        for normalizer in self._normalizers:
            spelling = normalizer.normalized(url.url)
            if spelling != url.url:
                self._refusals.count("dust/respelled")
                self._ordering.redirected(url.url, spelling)
                url = replace(url, url=spelling)
        return url

    def _gave_way(self, url: CrawlUrl) -> bool:
        """Whether another spelling of a URL that is about to be fetched is known.

        A seed is fetched as it is spelled, and so is a probe.
        """
        if url.url in self.planted or is_probe(url.url):
            return False
        spellings = {normalizer.normalized(url.url) for normalizer in self._normalizers} - {url.url}
        return any(spelling in self._frontier for spelling in spellings)

    def _lowered(self, url: CrawlUrl) -> CrawlUrl:
        score = self._score(url.url, url.score)
        return url if score == url.score else replace(url, score=score)

    def _score(self, url: str, score: float) -> float:
        for adjusted_score in self._lowering:
            score = adjusted_score(url, score)
        return score

    # ------------------------------------------------------------ out

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the next URL that need not wait, or None when no host is eligible at ``now``.

        When nothing is left but what waits for its standing, the best of that is let go: a crawl does not idle on budgets.
        """
        self._now = now
        taken = self._take(now)
        if taken is None and self._holds and self._only_standings_wait(now):
            self.recall()  # all that the ordering attends to has to wait: it may bring other URLs
            taken = self._take(now)
            if taken is None and self._pardon(now):
                taken = self._take(now)
        return taken

    def _take(self, now: float) -> CrawlUrl | None:
        for _ in range(_LOOKED_AT):
            taken = self._frontier.take(now)
            if taken is None:
                return None
            if reason := self._barred_by_warden(taken.url):
                self._refusals.add(reason, taken.url, taken.parent)
                self._ordering.refused(taken.url)
                self._frontier.drop(taken.url)
            elif self._gave_way(taken):
                self._refusals.add("dust/copy", taken.url, taken.parent)
                self._ordering.refused(taken.url)
                self._frontier.drop(taken.url)
            elif (until := self._waits_until(taken, now)) > now:
                self._frontier.hold(taken.url, until)
                self._ordering.postponed(taken.url)
            else:
                return taken
        return None

    def _only_standings_wait(self, now: float) -> bool:
        """Whether nothing is being fetched, and nothing will be due soon. Other workers may know better, where there are any."""
        if self._shared is not None or self._frontier.leases() or not len(self._frontier):
            return False
        due = self._frontier.next_due(now)
        return due is not None and due > now + self._patience

    def _pardon(self, now: float) -> bool:
        """Let the best of the URLs go that wait for a later time; whether there were any."""
        waiting = islice((url for url in self._frontier.waiting() if url.not_before > now), _LOOKED_THROUGH)
        merits = (
            (release_order, url.score, url)
            for url in waiting
            if 0.0 < (release_order := self._release_order(url.url, now)) < 1.0
        )
        best = [url for _, _, url in nlargest(_PARDONED, merits, key=lambda item: item[:2])]
        for url in best:
            for standing in self._holds:
                standing.release(url.url)
            self._frontier.withdraw(url.url)
            self._frontier.put(replace(url, not_before=0.0))
        return bool(best)

    def _release_order(self, url: str, now: float) -> float:
        return prod([standing.release_order(url, now) for standing in self._holds])

    def _barred_by_warden(self, url: str) -> str:
        return next((reason for host_filter in self._host_filters if (reason := host_filter.refusal(url))), "")

    def _waits_until(self, url: CrawlUrl, now: float) -> float:
        if url.depth == 0:
            return now
        if is_probe(url.url):  # is no page of its site's budget, but a host that rests is left alone
            rests = [standing for standing in self._holds if standing.release_order(url.url, now) == 0.0]
            return max([standing.host_blocked_until(url.url) for standing in rests], default=now)
        return max([standing.hold_until(url, now) for standing in self._holds], default=now)

    # ------------------------------------------------------------ what a shared frontier answered later

    def _turned_away(self, url: CrawlUrl, why: int) -> None:
        if why == FULL:
            self._refusals.count("frontier/full")
        elif why == HOST_FULL:
            self._refusals.add("trap/host_full", url.url, url.parent)
            self._ordering.refused(url.url)
        elif url.url not in self._history and not self._frontier.leased(url.url):
            self._ordering.refused(url.url)  # another worker fetches it, or has

    def _in_scope(self, host: str) -> bool:
        return any(host == domain or host.endswith("." + domain) for domain in self._domains)
