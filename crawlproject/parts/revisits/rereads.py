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
    """What a notice says about the reading of a listing. ``pushed``: a notice asked for it. The next interval is ``stretch``
    times as long. ``again``: when to read it again at the latest, for a notice that came meanwhile."""

    pushed: bool = False
    stretch: float = 1.0
    again: float = inf


class FeedNotices:
    """Notices that a listing has changed, in addition to its interval. There are none by default; another part may bring them."""

    def __len__(self) -> int:
        """How many URLs it has in the frontier."""
        return 0

    def listed(self, url: str, header: str, found: Listing, now: float) -> None:
        """Note that a listing was read. ``header`` holds the ``Link`` headers of its reply, joined by commas."""

    def left(self, url: str, now: float) -> None:
        """Note that a listing is no longer read."""

    def was_read(self, url: str, fetch: Fetch, *, news: bool) -> FeedReading:
        """Note that a listing was read again, or could not be."""
        return FeedReading()


class Rereads:
    """When each listing is read again: after half the interval if it brought news, after one and a half times as long if not.

    ``shortest`` is ``CRAWL_REVISIT_MIN`` in seconds. The intervals start anew with each run.
    """

    def __init__(self, shortest: float) -> None:
        self._shortest = shortest
        self._listings: dict[str, SharedListing] = {}
        self._left: set[str] = set()  # those that are not read again in this run

    def __len__(self) -> int:
        """How many listings wait for their next reading, or are being read."""
        return len(self._listings) - len(self._left)

    def __contains__(self, url: str) -> bool:
        return url in self._listings

    def __getitem__(self, url: str) -> SharedListing:
        return self._listings[url]

    def add(self, visit: Visit) -> None:
        """Add a listing that was read for the first time, live or replayed."""
        url, interval = visit.url, max(_FIRST, self._shortest)
        found = visit.kind, visit.depth, interval, visit.at + interval, visit.etag, visit.last_modified
        self._listings.setdefault(url, SharedListing(url, *found))

    def adopt(self, listing: SharedListing) -> None:
        """Take over the record of a listing that another worker read last."""
        self._listings[listing.url] = listing
        self._left.discard(listing.url)

    def leave(self, url: str) -> None:
        """Note that a listing is not read again in this run."""
        if url in self._listings:
            self._left.add(url)

    def begin(self) -> None:
        """A run begins: all listings are read again, also those that earlier runs left."""
        self._left.clear()

    def records(self, *, now: bool = False) -> Iterator[CrawlUrl]:
        """The frontier records of all listings; ``now``: due at once."""
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
        """Note that a listing was read again, or could not be. Returns when it is due next, in seconds since the epoch.

        ``pushed``: a notice asked for it, which leaves the interval as it is. This time it lasts ``stretch`` times as long.
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
        """Without further notices a listing is due an interval from ``now`` at the latest. Returns when it is due next."""
        known = self._listings[url]
        due = min(known.due, now + known.interval)
        self._listings[url] = known._replace(due=due)
        return due


def validators(etag: str, last_modified: str) -> dict[str, str]:
    """The headers that ask whether a document has changed that came with these validators."""
    asked = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in asked.items() if value}
