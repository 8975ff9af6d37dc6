"""What makes URLs wait, or count for less, although their scores say otherwise: their host or site, their URL template.

A host hold blocks a whole host in the frontier; a URL hold concerns single URLs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Protocol

from crawlproject.records import CrawlUrl


class Hold(Protocol):
    """What both kinds of holds say when all that is left has to wait."""

    def release_order(self, url: str, now: float) -> float:
        """How early to release ``url``, or any URL of its host, 0 to 1.

        1: this hold does not apply; 0: the URL is not released.
        """
        ...

    def release(self, url: str) -> None:
        """Nothing else is left to fetch: ``url``, or one URL of its host, need not wait any more."""
        ...


class UrlHold(Hold, Protocol):
    """What was learned about the template or the site of URLs."""

    def adjusted_score(self, url: str, score: float) -> float:
        """``score``, lowered as far as ``url`` is held back; never higher than ``score``."""
        ...

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when a URL whose turn has come has to wait; ``now`` or earlier: it may be fetched."""
        ...


class HostHold(Hold, Protocol):
    """What was learned about hosts or sites: which of them is left alone for a time."""

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when the host of a URL whose turn has come is blocked; ``now`` or earlier: it may be fetched."""
        ...

    def host_blocked_until(self, url: str) -> float:
        """Until when the host of ``url`` would be blocked if its turn came now; a past time: not at all."""
        ...


class Holds:
    """The holds of a crawl, asked as one. ``now`` is the time of the latest take, in seconds since the epoch."""

    def __init__(self, of_hosts: Sequence[HostHold] = (), of_urls: Sequence[UrlHold] = ()) -> None:
        self.now = 0.0
        self._of_hosts = of_hosts
        self._of_urls = of_urls
        self._all: tuple[Hold, ...] = (*of_hosts, *of_urls)
        # These are asked of every link.
        self._adjusters = [hold.adjusted_score for hold in of_urls]
        self._blocks = [hold.host_blocked_until for hold in of_hosts]

    def adjusted_score(self, url: str, score: float) -> float:
        """The score that ``url`` enters the frontier with."""
        for adjusted_score in self._adjusters:
            score = adjusted_score(url, score)
        return score

    def is_blocked(self, url: str) -> bool:
        """Whether the host of a URL that enters the frontier now is blocked."""
        for blocked_until in self._blocks:  # any(...) takes longer, and every link is asked
            until = blocked_until(url)
            if until > self.now:
                return True
        return False

    def block_until(self, url: CrawlUrl, now: float) -> float:
        """Until when the host of a URL whose turn has come is to be blocked; ``now``: the URL may be fetched."""
        return max([hold.hold_until(url, now) for hold in self._of_hosts], default=now)

    def rests_until(self, url: str, now: float) -> float:
        """Until when the host of ``url`` is left alone by probes as well; ``now``: it is not."""
        resting = [hold for hold in self._of_hosts if hold.release_order(url, now) == 0.0]
        return max([hold.host_blocked_until(url) for hold in resting], default=now)

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when a URL whose turn has come has to wait by itself; ``now``: it may be fetched."""
        return max([hold.hold_until(url, now) for hold in self._of_urls], default=now)

    def release_order(self, url: str, now: float) -> float:
        """How early to release ``url``, 0 to 1: 0 not at all, 1 nothing holds it."""
        return prod([hold.release_order(url, now) for hold in self._all])

    def release(self, url: str) -> None:
        """``url`` need not wait any more."""
        for hold in self._all:
            hold.release(url)
