"""One subscription to a feed at a hub (WebSub, https://www.w3.org/TR/websub/): what was asked, what was answered, and what is
next; and the file of all subscriptions of a crawl. They hold secrets: only the owner may read the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from crawlproject.storage.append_log import AppendLog, read_lines, unexpected

HOUR = 3_600.0  # seconds: least time between two requests, and the time in which a hub that has accepted has to verify
WEEK = 7 * 86_400.0
LEASE = 864_000  # seconds that are requested
LONGEST = 30 * 86_400.0  # seconds of a lease that are believed
NAME = "websub.jsonl"

_RENEWED = 0.8  # of a lease
_MOVES = 3  # redirects of a hub that are followed
_SUBSCRIBE, _UNSUBSCRIBE, _DENIED = "subscribe", "unsubscribe", "denied"
_TYPES = {"str": str, "list[str]": list, "int": int, "float": int | float, "bool": bool}
_SURPLUS = 1_000  # outdated lines, above nine of each subscription, before the file is rewritten


@dataclass(slots=True)
class Subscription:
    """Pure: the caller sends the requests and passes on what arrives. Times are seconds since the epoch.

    A delivery makes ``feed`` due, which the hub knows as ``topic``. ``hubs`` are canonical URLs; ``turn`` is the index of the one
    that is asked to call ``callback``, an unguessable URL that ends with ``path``, and to sign with ``secret``. ``hub`` is its
    present URL, after ``moves`` redirects. ``due`` is the time of the next request, ``ends`` the end of the lease (0: none).
    ``asked``: a hub knows the callback; ``accepted``: it has yet to verify. ``leaving``: the lease is given back. ``told``: a
    delivery has come since the last reading of the feed. ``covers``: the last news of the feed came with a delivery. ``true`` and
    ``false`` count the readings for deliveries, by whether they brought news. ``number`` is for the caller.
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
    rounds: int = 0  # in which all hubs were asked in vain
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
        """Note that the hub answered a request with 2xx. It may have verified before it did."""
        if self.due <= now:
            self.accepted, self.due = True, now + HOUR

    def heard(self, query: Mapping[str, str], now: float) -> bool:
        """Handle a verification or a denial; return whether it was asked for. ``query`` holds the parameters of the request."""
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
        """The hub refused, or has not verified: ask the next one; after all of them there is a rest, longer each time."""
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
        """Ask the hub at another URL, to which it has moved."""
        self.moves += 1
        if self.moves > _MOVES:
            self.failed(now)
        else:
            self.hub = hub

    def leave(self, now: float) -> bool:
        """Leave the hub: the feed names another one, or is no longer read. Returns whether the hub has to be told."""
        self.leaving, told = True, self.asked and now < self.ends
        self.due, self.ends = now, 0.0
        return told


def _seconds(said: str) -> float:
    return float(said) if said.isascii() and said.isdecimal() and 0 < len(said) < 16 else float(LEASE)


def read_subscriptions(folder: Path) -> list[Subscription]:
    """The subscriptions of the crawl in ``folder``. Raises ``BadCrawlDir`` for a damaged file."""
    found: dict[str, Any] = {}
    path = folder / NAME
    for line in read_lines(path):
        try:
            found[line["path"]] = line
        except (KeyError, TypeError) as damage:
            raise unexpected(path, None, damage) from None
    try:
        return [_checked(Subscription(**line)) for line in found.values() if "feed" in line]
    except (IndexError, OverflowError, TypeError, ValueError) as damage:
        raise unexpected(path, None, damage) from None


def _checked(found: Subscription) -> Subscription:
    """``found``. Raises an error if a field has a value that no crawl would write."""
    for field in fields(found):
        if not isinstance(getattr(found, field.name), _TYPES[str(field.type)]):
            raise TypeError(f"{field.name} is not of type {field.type}")
    if not found.hubs or not all(isinstance(hub, str) for hub in found.hubs):
        raise TypeError("hubs are not URLs")
    for at in (found.due, found.ends):
        datetime.fromtimestamp(at, UTC)
    return found


class SubscriptionLog:
    """A line for each change; the last one of a ``path`` counts. Methods raise ``StorageFailed``."""

    def __init__(self, folder: Path, known: Iterable[Subscription]) -> None:
        self._log = AppendLog(folder / NAME, private=True)
        self._known: dict[str, Subscription] = {each.path: each for each in known}
        self._write_anew()

    def note(self, subscription: Subscription) -> None:
        self._known[subscription.path] = subscription
        self._append(asdict(subscription))

    def forget(self, subscription: Subscription) -> None:
        self._known.pop(subscription.path, None)
        self._append({"path": subscription.path})

    def close(self) -> None:
        self._log.close()

    def _append(self, line: dict[str, Any]) -> None:
        self._log.append(line)
        self._lines += 1
        if self._lines > 10 * len(self._known) + _SURPLUS:
            self._write_anew()

    def _write_anew(self) -> None:
        self._log.replace_all([[asdict(each) for each in self._known.values()]])
        self._lines = len(self._known)
