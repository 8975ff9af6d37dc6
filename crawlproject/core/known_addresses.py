"""The addresses of names, remembered for as long as their records say, within bounds (RFC 1035 section 3.2.1: TTL)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

LEAST, MOST = 60.0, 86_400.0  # seconds that a name is remembered, whatever its records say
UNKNOWN = 300.0  # seconds, when nobody says
MISSING = 30.0  # seconds that it is remembered that there is no such name

Found = TypeVar("Found")


class KnownAddresses(Generic[Found]):
    """What was found for at most ``size`` names; the one that was asked for longest ago is forgotten first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: OrderedDict[str, tuple[Found, float]] = OrderedDict()

    def get(self, name: str, now: float) -> Found | None:
        """What was found, as long as it holds; ``now`` is in seconds of any clock."""
        if name not in self._found:
            return None
        found, until = self._found[name]
        if until <= now:
            del self._found[name]
            return None
        self._found.move_to_end(name)
        return found

    def keep(self, name: str, found: Found, now: float, ttl: float | None) -> None:
        """``found`` holds for ``ttl`` seconds from ``now``; None: nobody knows."""
        self._keep(name, found, now + (UNKNOWN if ttl is None else min(max(ttl, LEAST), MOST)))

    def keep_missing(self, name: str, found: Found, now: float) -> None:
        """There is no such name; ``found`` says so."""
        self._keep(name, found, now + MISSING)

    def _keep(self, name: str, found: Found, until: float) -> None:
        self._found[name] = (found, until)
        self._found.move_to_end(name)
        if len(self._found) > self._size:
            self._found.popitem(last=False)

    def __len__(self) -> int:
        return len(self._found)
