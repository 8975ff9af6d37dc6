"""What makes a URL wait, or count for less, although its score says otherwise: its URL template, its site, its host."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Protocol

from crawlproject.records import CrawlUrl


class UrlHold(Protocol):
    """What was learned about the template, the site or the host of URLs."""

    def adjusted_score(self, url: str, score: float) -> float:
        """``score``, lowered as far as ``url`` is held back; never higher than ``score``."""
        ...

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when a URL that is about to be fetched has to wait; ``now`` or earlier: it may be fetched."""
        ...

    def host_blocked_until(self, url: str) -> float:
        """Until when ``url`` would have to wait if its turn came now, in seconds since the epoch; a past time: not at all."""
        ...

    def release_order(self, url: str, now: float) -> float:
        """How early to release ``url`` when all that is left has to wait, 0 to 1.

        1: this hold does not apply; 0: the URL is not released.
        """
        ...

    def release(self, url: str) -> None:
        """Nothing else is left to fetch: ``url`` need not wait any more."""
        ...


class Holds:
    """The holds of a crawl, asked as one. ``now`` is the time of the latest take, in seconds since the epoch."""

    def __init__(self, holds: Sequence[UrlHold] = ()) -> None:
        self.now = 0.0
        self._holds = holds
        self._adjusters = [hold.adjusted_score for hold in holds]  # asked of every link
        self._blocks = [hold.host_blocked_until for hold in holds]

    def __bool__(self) -> bool:
        return bool(self._holds)

    def adjusted_score(self, url: str, score: float) -> float:
        """The score that ``url`` enters the frontier with."""
        for adjusted_score in self._adjusters:
            score = adjusted_score(url, score)
        return score

    def blocked_until(self, url: str) -> float:
        """Until when ``url`` has to wait that enters the frontier now; 0 when it need not."""
        until = 0.0
        for host_blocked_until in self._blocks:
            until = max(until, host_blocked_until(url))
        return until if until > self.now else 0.0

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when a URL whose turn has come has to wait; ``now``: it may be fetched."""
        return max([hold.hold_until(url, now) for hold in self._holds], default=now)

    def rests_until(self, url: str, now: float) -> float:
        """Until when the host of ``url`` is left alone by everybody; ``now``: it is not."""
        resting = [hold for hold in self._holds if hold.release_order(url, now) == 0.0]
        return max([hold.host_blocked_until(url) for hold in resting], default=now)

    def release_order(self, url: str, now: float) -> float:
        """How early to release ``url``, 0 to 1: 0 not at all, 1 nothing holds it."""
        return prod([hold.release_order(url, now) for hold in self._holds])

    def release(self, url: str) -> None:
        """``url`` need not wait any more."""
        for hold in self._holds:
            hold.release(url)
