"""What a delivery of a hub is worth: its feed is read at once, if deliveries for feeds of its host have brought news. A delivery
is signed: an HMAC of its body with the secret of the subscription (WebSub, section 8).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from math import inf

from crawlproject.frontier.base import Frontier
from crawlproject.parts.revisits.hints import Truth
from crawlproject.parts.revisits.rereads import FeedReading, Rereads
from crawlproject.parts.websub.subscription import Subscription
from crawlproject.records import Fetch
from crawlproject.urls.hosts import host_of

STRETCH = 4.0  # times its interval that a feed waits while a hub reports its changes
PAUSE = 60.0  # seconds between two readings that deliveries cause, at least

_NOT_MODIFIED = 304
_METHODS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha384": hashlib.sha384, "sha512": hashlib.sha512}


class Deliveries:
    """The deliveries for ``known`` subscriptions. ``note`` stores a subscription that has changed.

    ``pause`` is the time between two readings that deliveries cause, in seconds, at least.
    """

    def __init__(
        self,
        known: Iterable[Subscription],
        frontier: Frontier,
        rereads: Rereads,
        note: Callable[[Subscription], object],
        pause: float = PAUSE,
    ) -> None:
        self._frontier = frontier
        self._rereads = rereads
        self._note = note
        self._pause = pause
        self._came_at: dict[str, float] = {}  # feed -> time of the last delivery
        self._read_at: dict[str, float] = {}  # feed -> time of the last reading for a delivery
        self._hosts: dict[str, Truth] = {}
        for each in known:
            truth = self._truth(each.feed)
            truth.true, truth.false = truth.true + each.true, truth.false + each.false

    def came(self, known: Subscription, now: float) -> None:
        """Note a delivery with a valid signature: its feed is due, if its host is believed."""
        self._came_at[known.feed] = now
        if known.told:
            return
        known.told = True
        self._note(known)
        if self._truth(known.feed).is_believed and known.feed in self._rereads:
            self._hold(known.feed, max(now, self._read_at.get(known.feed, 0.0) + self._pause))

    def was_read(self, known: Subscription, fetch: Fetch, *, news: bool) -> FeedReading:
        """Note that a feed was read again, or could not be."""
        is_read = fetch.status == _NOT_MODIFIED or 200 <= fetch.status < 300
        truth, pushed, again = self._truth(known.feed), known.told and is_read, inf
        if pushed:
            self._read_at[known.feed] = fetch.at
        if pushed and self._came_at.get(known.feed, 0.0) > fetch.at - fetch.seconds:
            pushed, again = False, fetch.at + self._pause if truth.is_believed else inf
        elif pushed:
            truth.add(news)
            known.true, known.false = known.true + news, known.false + (not news)
            known.told, known.covers = False, news
            self._note(known)
        elif news and known.covers:
            known.covers = False
            self._note(known)
        speaks = known.covers and known.is_live(fetch.at) and truth.is_believed
        return FeedReading(pushed, STRETCH if speaks else 1.0, again)

    def stopped(self, feed: str, now: float) -> None:
        """Note that no hub reports changes of a feed any more."""
        if feed in self._rereads:
            self._hold(feed, self._rereads.no_later(feed, now))

    def _hold(self, feed: str, until: float) -> None:
        key = self._rereads.record(feed).key
        if self._frontier.leased(key) is None:
            self._frontier.hold(key, until)

    def _truth(self, feed: str) -> Truth:
        return self._hosts.setdefault(host_of(feed), Truth())


class SignedBody:
    """Checks a signature. ``header`` is ``X-Hub-Signature``, such as ``sha256=`` and 64 hexadecimal digits. The body is added in
    pieces."""

    def __init__(self, header: str, secret: str) -> None:
        method, _, self._digits = header.strip().partition("=")
        made_by = _METHODS.get(method.lower())
        self._mac = hmac.new(secret.encode(), digestmod=made_by) if made_by and secret else None

    def add(self, piece: bytes) -> None:
        if self._mac is not None:
            self._mac.update(piece)

    @property
    def is_valid(self) -> bool:
        """Whether the header signs the body that was added; compared in constant time."""
        if self._mac is None:
            return False
        return hmac.compare_digest(
            self._mac.hexdigest().encode(), self._digits.strip().lower().encode("utf-8", "replace")
        )
