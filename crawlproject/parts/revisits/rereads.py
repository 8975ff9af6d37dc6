"""Sitemaps and feeds that are read again: the cheapest way to learn of new pages and of changes."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from crawlproject.parts.listings.listing import Listing
from crawlproject.parts.revisits.shared_records import SharedListing
from crawlproject.records import REREAD, REREADS, CrawlUrl, Fetch, Visit

_FIRST = 86_400.0  # seconds until a listing is read for the second time
_LONGEST = 30 * 86_400.0


class FeedReading(NamedTuple):
    """What a reading of a listing comes to: a notice had asked for it (``pushed``), the next interval is ``stretch`` times as
    long, and it is to be read ``again`` at a time, for a notice that came meanwhile."""

    pushed: bool = False
    stretch: float = 1.0
    again: float = inf


class FeedNotices:
    """What gives notice that a listing has changed, besides its interval: by default nothing does. Another part may."""

    def __len__(self) -> int:
        """How many URLs it has in the frontier."""
        return 0

    def listed(self, url: str, header: str, found: Listing, now: float) -> None:
        """A listing was read. ``header`` are the ``Link`` headers of its reply, joined by commas."""

    def left(self, url: str, now: float) -> None:
        """A listing may not be read any more."""

    def was_read(self, url: str, fetch: Fetch, *, news: bool) -> FeedReading:
        """A listing was read again, or could not be."""
        return FeedReading()


class Rereads:
    """When each listing is read again: in half the time after it told something new, in one and a half times after it did not.

    ``shortest`` is ``CRAWL_REVISIT_MIN`` in seconds. The intervals begin anew with each run.
    """

    def __init__(self, shortest: float) -> None:
        self._shortest = shortest
        self._listings: dict[str, SharedListing] = {}

    def __len__(self) -> int:
        return len(self._listings)

    def __contains__(self, url: str) -> bool:
        return url in self._listings

    def __getitem__(self, url: str) -> SharedListing:
        return self._listings[url]

    def add(self, visit: Visit) -> None:
        """A listing was read for the first time, live or replayed."""
        url, interval = visit.url, max(_FIRST, self._shortest)
        found = visit.kind, visit.depth, interval, visit.at + interval, visit.etag, visit.last_modified
        self._listings.setdefault(url, SharedListing(url, *found))

    def adopt(self, listing: SharedListing) -> None:
        """Another worker has read a listing last."""
        self._listings[listing.url] = listing

    def records(self, *, now: bool = False) -> Iterator[CrawlUrl]:
        """As the frontier has them; ``now``: due at once."""
        for url in self._listings:
            yield self.record(url, now=now)

    def record(self, url: str, *, now: bool = False) -> CrawlUrl:
        known = self._listings[url]
        due = 0.0 if now else known.due
        return CrawlUrl(url, 0.0, known.depth, not_before=due, kind=REREAD, variant=known.kind, precedence=REREADS)

    def validators(self, url: str) -> dict[str, str]:
        """The headers that ask whether a listing has changed."""
        return validators(self._listings[url].etag, self._listings[url].last_modified)

    def read(
        self,
        url: str,
        now: float,
        *,
        news: bool,
        etag: str = "",
        last_modified: str = "",
        pushed: bool = False,
        stretch: float = 1.0,
    ) -> float:
        """A listing was read again, or could not be: when it is due next, in seconds since the epoch.

        ``pushed``: a notice had asked for it, which says nothing about the interval. That is ``stretch`` times as long this time.
        """
        known, longest = self._listings[url], max(_LONGEST, self._shortest)
        interval = known.interval
        if not pushed:
            interval = min(max(interval * (0.5 if news else 1.5), self._shortest), longest)
        due = now + min(interval * stretch, longest)
        known = known._replace(etag=etag or known.etag, last_modified=last_modified or known.last_modified)
        self._listings[url] = known._replace(interval=interval, due=due)
        return due

    def no_later(self, url: str, now: float) -> float:
        """No notice of a listing comes any more: when it is due next, an interval from ``now`` at the latest."""
        known = self._listings[url]
        due = min(known.due, now + known.interval)
        self._listings[url] = known._replace(due=due)
        return due


def validators(etag: str, last_modified: str) -> dict[str, str]:
    """The headers that ask whether something has changed that came with these."""
    asked = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in asked.items() if value}
