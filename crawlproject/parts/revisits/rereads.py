"""Sitemaps and feeds that are read again: the cheapest way to learn of new pages and of changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crawlproject.parts.revisits.shared_records import SharedListing
from crawlproject.records import REREAD, REREADS, CrawlUrl, Visit

_FIRST = 86_400.0  # seconds until a listing is read for the second time
_LONGEST = 30 * 86_400.0


@dataclass(slots=True)
class _Listing:
    kind: str
    depth: int
    interval: float
    due: float
    etag: str = ""
    last_modified: str = ""


class Rereads:
    """When each listing is read again: in half the time after it told something new, in one and a half times after it did not.

    ``shortest`` is ``CRAWL_REVISIT_MIN`` in seconds. The intervals begin anew with each run.
    """

    def __init__(self, shortest: float) -> None:
        self._shortest = shortest
        self._listings: dict[str, _Listing] = {}

    def __len__(self) -> int:
        return len(self._listings)

    def __contains__(self, url: str) -> bool:
        return url in self._listings

    def add(self, visit: Visit) -> None:
        """A listing was read for the first time, live or replayed."""
        interval = max(_FIRST, self._shortest)
        self._listings.setdefault(
            visit.url, _Listing(visit.kind, visit.depth, interval, visit.at + interval, visit.etag, visit.last_modified)
        )

    def shared(self, url: str) -> SharedListing:
        """What other workers have to know of a listing, to read it next."""
        known = self._listings[url]
        return SharedListing(url, known.kind, known.depth, known.interval, known.due, known.etag, known.last_modified)

    def adopt(self, listing: SharedListing) -> None:
        """Another worker has read a listing last."""
        self._listings[listing.url] = _Listing(*listing[1:])

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
        known = self._listings[url]
        asked = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
        return {name: value for name, value in asked.items() if value}

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

        ``pushed``: a hub had asked for it, which says nothing about the interval. That is ``stretch`` times as long this time.
        """
        known, longest = self._listings[url], max(_LONGEST, self._shortest)
        if not pushed:
            known.interval = min(max(known.interval * (0.5 if news else 1.5), self._shortest), longest)
        known.etag, known.last_modified = etag or known.etag, last_modified or known.last_modified
        known.due = now + min(known.interval * stretch, longest)
        return known.due

    def no_later(self, url: str, now: float) -> float:
        """No hub speaks for a listing any more: when it is due next, an interval from ``now`` at the latest."""
        known = self._listings[url]
        known.due = min(known.due, now + known.interval)
        return known.due
