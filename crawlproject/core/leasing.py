"""The way out of the frontier: the next URL that may be fetched now.

A URL whose turn has come may be refused: its host was given up, its robots.txt forbids it, a rule made it the variant of
another. When its host or site is over budget or rests, the host is blocked in the frontier; when its template is held back,
the URL is held there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from crawlproject.core.admission import Admission
from crawlproject.core.holds import Holds
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import REVISIT, CrawlUrl
from crawlproject.urls.hosts import host_of, origin_of

if TYPE_CHECKING:
    from crawlproject.parts.workers.shared_learning import SharedLearning

_HELD = 20_000  # held URLs that are remembered; the oldest are forgotten
_RELEASED = 20  # of these that are released together
_CANDIDATES = 100  # hosts that are asked whether they are preferred
_LOOKED_AT = 1_000  # refused URLs, holds and blocks in one search for the next URL: then others may have a turn
_HONEST = 0.5  # release order of a blocked host that is released before any held URL


class TurnRules(Protocol):
    """What a kind of URL says when a turn comes."""

    def late_refusal(self, url: CrawlUrl) -> str:
        """Why a URL is not to be fetched after all, as ``component/rule``; empty: it may be."""
        ...

    def block_until(self, url: CrawlUrl, now: float) -> float:
        """Until when its host is blocked; ``now`` or earlier: it is not."""
        ...

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when the URL has to wait; ``now`` or earlier: it may be fetched."""
        ...

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """End the lease without a fetch."""
        ...


class Leasing:
    """Leases the URLs of one crawl.

    ``kinds`` has the rules of each kind of URL. Blocked hosts and held URLs are released when nothing else would be fetched for
    ``patience`` seconds. ``looks_back``: also those of a run before; not when most of what waits has its time to come.
    """

    def __init__(
        self,
        frontier: Frontier,
        admission: Admission,
        ordering: BaseOrdering,
        holds: Holds,
        kinds: Mapping[str, TurnRules],
        *,
        patience: float,
        looks_back: bool = True,
    ) -> None:
        self._frontier = frontier
        self._admission = admission
        self._ordering = ordering
        self._holds = holds
        self._kinds = kinds
        self._patience = patience
        self.told: SharedLearning | None = None  # tells other workers
        self._shared = frontier if isinstance(frontier, SharedFrontier) else None
        self._refused = 0  # URLs, when their turn came
        self._blocked_at_most = math.inf  # hosts: a look at all of them costs more than a fetch
        # By key; None: those of a run before were not looked for yet.
        self._held: dict[str, CrawlUrl] | None = None if looks_back else {}

    def take(self, now: float, preferred: Callable[[str], bool] | None = None) -> CrawlUrl | None:
        """Lease the next URL that need not wait, or None when no host is eligible at ``now``.

        When all that is left is blocked or held, the best of it is released: a crawl does not idle on budgets. Of the next
        hosts, ``_CANDIDATES`` at most, the first whose origin is ``preferred`` has its turn, if there is one.
        """
        self._holds.now = now
        with self._frontier.batch():
            taken = self._take(now)
            if taken is None and self._release_all_alike(now):
                taken = self._take(now)
            if taken is None and self._all_has_to_wait(now):
                taken = self._take_released(now)
            if taken is not None and preferred is not None:
                taken = self._preferred(taken, now, preferred)
            if taken is not None:
                self._admission.taken(taken)
            return taken

    def _preferred(self, first: CrawlUrl, now: float, preferred: Callable[[str], bool]) -> CrawlUrl:
        """The first URL of a preferred host from ``first`` on, which is leased; ``first``, if there is none."""
        passed: list[CrawlUrl] = []
        taken: CrawlUrl | None = first
        while taken is not None and not preferred(origin_of(taken.url)):
            passed.append(taken)
            taken = self._take(now) if len(passed) < _CANDIDATES else None
        if taken is None:
            taken = passed.pop(0)
        for url in passed:
            self._frontier.hold(url.key, url.not_before)  # its host has its turn back
        return taken

    def _take_released(self, now: float) -> CrawlUrl | None:
        """Release the best of what has to wait, and lease it; once more if all of that was refused."""
        while self._release_host(now, _HONEST) or self._release_held(now) or self._release_host(now):
            before = self._refused
            taken = self._take(now)
            if taken is not None or self._refused == before:
                return taken
        return None

    def _take(self, now: float) -> CrawlUrl | None:
        for _ in range(_LOOKED_AT):
            taken = self._frontier.take(now)
            if taken is None:
                return None
            kind = self._kinds[taken.kind]
            if reason := kind.late_refusal(taken):
                kind.refuse(taken, reason)
                self._refused += 1
            elif (until := kind.block_until(taken, now)) > now:
                self._block(taken, until)
            elif (until := kind.hold_until(taken, now)) > now:
                self._hold(taken, until)
            else:
                return taken
        return None

    def _block(self, url: CrawlUrl, until: float) -> None:
        host = host_of(url.url)
        self._frontier.hold(url.key, url.not_before)
        self._frontier.block_host(host, until)
        self._blocked_at_most += 1
        self._ordering.host_blocked(host)
        if self.told is not None:
            self.told.host_blocked(host, until)

    def _hold(self, url: CrawlUrl, until: float) -> None:
        self._frontier.hold(url.key, until)
        self._ordering.postponed(url.url)
        if self.told is not None:
            self.told.postponed(url.url)
        if self._held is not None and url.kind != REVISIT:
            self._held[url.key] = url
            if len(self._held) > _HELD:
                del self._held[next(iter(self._held))]

    def _release_all_alike(self, now: float) -> bool:
        """When every host that waits is blocked, blocks tell none from another: the best of them are released at once.

        Those of sites without merit wait on.
        """
        least = self._frontier.hosts() - self._frontier.leases()  # that have to be blocked
        if self._blocked_at_most < least and self._shared is None:
            return False
        found = list(self._frontier.blocked())
        self._blocked_at_most = len(found)
        blocked = [each for each in found if each.best is not None]
        if not blocked or len(blocked) < least:
            return False
        ranked = ((self._release_order(each.host, now), each.best, each.host) for each in blocked)
        best = nlargest(_RELEASED, (item for item in ranked if item[0] > _HONEST))
        for _, _, host in best:
            self._release(host)
        return bool(best)

    def _all_has_to_wait(self, now: float) -> bool:
        """Whether nothing is being fetched, and nothing will be due soon. Other workers may know better, where there are any."""
        if self._shared is not None or self._frontier.leases() or not len(self._frontier):
            return False
        due = self._frontier.next_due(now)
        return due is not None and due > now + self._patience

    def _release_host(self, now: float, least: float = 0.0) -> bool:
        """Release the best blocked host whose release order is above ``least``; whether there is one."""
        blocked = [found for found in self._frontier.blocked() if found.best is not None]
        ranked = [(self._release_order(found.host, now), found.best, found.host) for found in blocked]
        order, _, host = max(ranked, default=(0.0, 0.0, ""))
        if order <= least:
            return False
        self._release(host)
        return True

    def _release_order(self, host: str, now: float) -> float:
        return self._holds.release_order(f"http://{host}/", now)

    def _release(self, host: str) -> None:
        self._holds.release(f"http://{host}/")
        self._frontier.block_host(host, 0.0)

    def _release_held(self, now: float) -> bool:
        """Release the best held URLs; whether there are any."""
        if self._held is None:
            waiting = (url for url in self._frontier.waiting() if url.not_before > now)
            self._held = {url.key: url for url in islice(waiting, _HELD)}
        ranked = (
            (order, url.score, key)
            for key, url in self._held.items()
            if 0.0 < (order := self._holds.release_order(url.url, now)) < 1.0
        )
        best = nlargest(_RELEASED, ranked)
        for _, _, key in best:
            self._holds.release(self._held.pop(key).url)
            self._frontier.hold(key, 0.0)
        return bool(best)
