"""The way out of the frontier: the next URL that may be fetched now.

A URL whose turn has come may be refused, since its host was given up or a rule made it the variant of another, or may have to
wait: its template, its site or its host is held back meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from typing import Protocol

from crawlproject.crawl.admission import Admission
from crawlproject.crawl.holds import Holds
from crawlproject.frontier.base import Frontier, SharedFrontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.records import CrawlUrl

_RELEASED = 20  # URLs that are released together
_LOOKED_AT = 1_000  # URLs that have to wait, or are refused, in one search for the next: then others may have a turn
_LOOKED_THROUGH = 20_000  # waiting URLs among which the best of these are looked for


class TurnRules(Protocol):
    """What a kind of URL says when a turn comes."""

    def late_refusal(self, url: CrawlUrl) -> str:
        """Why a URL is not to be fetched after all, as ``component/rule``; empty: it may be."""
        ...

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when the URL has to wait; ``now`` or earlier: it may be fetched."""
        ...

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """End the lease without a fetch."""
        ...


class Leasing:
    """Leases the URLs of one crawl.

    ``kinds`` has the rules of each kind of URL. URLs that are held are released when nothing else would be fetched for
    ``patience`` seconds.
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
    ) -> None:
        self._frontier = frontier
        self._admission = admission
        self._ordering = ordering
        self._holds = holds
        self._kinds = kinds
        self._patience = patience
        self._shared = frontier if isinstance(frontier, SharedFrontier) else None

    def take(self, now: float) -> CrawlUrl | None:
        """Lease the next URL that need not wait, or None when no host is eligible at ``now``.

        When all that is left is held, the best of it is released: a crawl does not idle on budgets.
        """
        self._holds.now = now
        if self._shared is not None and self._ordering.puts_aside and not self._shared.pending():
            self._ordering.resumed(())  # others have fetched what it thinks is waiting: it may recall the rest
        with self._frontier.batch():
            self._admission.recall()
            taken = self._take(now)
            if taken is None and self._holds and self._only_held_urls_wait(now):
                self._admission.recall()  # the ordering may bring URLs that are not held
                taken = self._take(now)
                if taken is None and self._release_best(now):
                    taken = self._take(now)
            return taken

    def _take(self, now: float) -> CrawlUrl | None:
        for _ in range(_LOOKED_AT):
            taken = self._frontier.take(now)
            if taken is None:
                return None
            kind = self._kinds[taken.kind]
            if reason := kind.late_refusal(taken):
                kind.refuse(taken, reason)
            elif (until := kind.hold_until(taken, now)) > now:
                self._frontier.hold(taken.key, until)
                if not taken.variant:  # the ordering does not know of other fetches
                    self._ordering.postponed(taken.url)
            else:
                return taken
        return None

    def _only_held_urls_wait(self, now: float) -> bool:
        """Whether nothing is being fetched, and nothing will be due soon. Other workers may know better, where there are any."""
        if self._shared is not None or self._frontier.leases() or not len(self._frontier):
            return False
        due = self._frontier.next_due(now)
        return due is not None and due > now + self._patience

    def _release_best(self, now: float) -> bool:
        """Release the best of the URLs that wait for a later time; whether there were any."""
        waiting = islice((url for url in self._frontier.waiting() if url.not_before > now), _LOOKED_THROUGH)
        ranked = (
            (order, url.score, url) for url in waiting if 0.0 < (order := self._holds.release_order(url.url, now)) < 1.0
        )
        best = [url for _, _, url in nlargest(_RELEASED, ranked, key=lambda item: item[:2])]
        for url in best:
            self._holds.release(url.url)
            self._frontier.withdraw(url.key)
            self._frontier.put(replace(url, not_before=0.0))
        return bool(best)
