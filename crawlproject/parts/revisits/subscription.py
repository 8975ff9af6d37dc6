"""One subscription to a feed at a hub (WebSub, https://www.w3.org/TR/websub/): what was asked, what was said, what is next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

HOUR = 3_600.0  # seconds: between two requests at least, and until a hub that has accepted has to verify
WEEK = 7 * 86_400.0
LEASE = 864_000  # seconds that are asked for
LONGEST = 30 * 86_400.0  # seconds of a lease that are believed
_RENEWED = 0.8  # of a lease
_MOVES = 3  # redirects of a hub that are followed
_SUBSCRIBE, _UNSUBSCRIBE, _DENIED = "subscribe", "unsubscribe", "denied"


@dataclass(slots=True)
class Subscription:
    """Pure: the caller sends the requests and passes on what comes. Times are seconds since the epoch.

    A delivery makes ``feed`` due, which the hub knows as ``topic``. Of ``hubs``, canonical URLs, the one whose ``turn`` it is
    is asked to call ``callback``, an unguessable URL that ends with ``path``, and to sign with ``secret``. It is at ``hub`` now,
    after ``moves``. ``due`` is the next request, ``ends`` the end of the lease (0: there is none). ``asked``: a hub knows the
    callback; ``accepted``: it has yet to verify. ``leaving``: the lease is given back. ``told``: a delivery has come since the
    last reading of the feed. ``covers``: the last news of the feed came with a delivery. ``true`` and ``false`` count readings
    for deliveries, by whether they brought news. ``number`` is for the caller.
    """

    feed: str
    topic: str
    hubs: list[str]
    callback: str
    path: str
    secret: str
    number: int = 0
    turn: int = 0
    hub: str = ""
    moves: int = 0
    rounds: int = 0  # of all hubs, in vain
    due: float = 0.0
    ends: float = 0.0
    asked: bool = False
    accepted: bool = False
    leaving: bool = False
    told: bool = False
    covers: bool = False
    true: int = 0
    false: int = 0

    def __post_init__(self) -> None:
        self.hub = self.hub or self.hubs[self.turn]

    def is_live(self, now: float) -> bool:
        return now < self.ends and not self.leaving

    def form(self) -> str:
        """The body of the request that is due."""
        fields = {"hub.mode": _UNSUBSCRIBE if self.leaving else _SUBSCRIBE, "hub.topic": self.topic}
        fields["hub.callback"] = self.callback
        if not self.leaving:
            fields |= {"hub.secret": self.secret, "hub.lease_seconds": str(LEASE)}
        return urlencode(fields)

    def was_accepted(self, now: float) -> None:
        """The hub answered 2xx to a request. It may have verified before it did."""
        if self.due <= now:
            self.accepted, self.due = True, now + HOUR

    def heard(self, query: Mapping[str, str], now: float) -> bool:
        """The hub verifies, or denies: whether that is what was asked for. ``query`` are the parameters of its request."""
        mode, topic = query.get("hub.mode", ""), query.get("hub.topic", "")
        wanted = _UNSUBSCRIBE if self.leaving else _SUBSCRIBE
        if not self.asked or topic != self.topic or mode not in (wanted, _DENIED):
            return False
        if mode == _DENIED:
            self.ends, self.due = 0.0, now
            self.failed(now, WEEK)
            return True
        if not query.get("hub.challenge"):
            return False
        if self.leaving:
            self.asked = False
            return True
        lease = min(_seconds(query.get("hub.lease_seconds", "")), LONGEST)
        self.accepted, self.rounds = False, 0
        self.ends, self.due = now + lease, now + max(_RENEWED * lease, HOUR)
        return True

    def failed(self, now: float, rest: float = HOUR) -> None:
        """The hub refuses, or has not verified: the next one is asked; all of them again after a rest, longer each time."""
        self.accepted = False
        if now < self.ends:  # a renewal
            self.due = now + HOUR
            return
        self.ends, self.moves, self.turn = 0.0, 0, (self.turn + 1) % len(self.hubs)
        self.hub = self.hubs[self.turn]
        if self.turn == 0:
            self.rounds += 1
            self.due = max(self.due, now + min(max(rest, HOUR * 2.0 ** min(self.rounds - 1, 10)), WEEK))

    def moved(self, hub: str, now: float) -> None:
        """The hub is at another URL, which is asked now."""
        self.moves += 1
        if self.moves > _MOVES:
            self.failed(now)
        else:
            self.hub = hub

    def leave(self, now: float) -> bool:
        """The feed names another hub, or is not read any more: whether this one is to be told."""
        self.leaving, told = True, self.asked and now < self.ends
        self.due, self.ends = now, 0.0
        return told


def _seconds(said: str) -> float:
    return float(said) if said.isascii() and said.isdecimal() and 0 < len(said) < 16 else float(LEASE)
