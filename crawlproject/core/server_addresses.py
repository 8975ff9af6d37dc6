"""Which names are one server, for politeness: those with one address, unless a content network answers there.

What a polite crawler spares is a machine, not a name (004 section 2.3.1, footnote 2). Behind an address of a content network
stand many machines: it is known by the registrable domains that share it and by how fast it answers. Addresses are remembered
for as long as their records say, within bounds (RFC 1035 section 3.2.1: TTL).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from crawlproject.urls.hosts import domain_of

MANY = 20  # registrable domains from which on an address may be a content network's
FAST = 0.5  # seconds of a fetch, on average, below which it is one
LEAST, MOST = 60.0, 86_400.0  # seconds that a name is remembered, whatever its records say
UNKNOWN = 300.0  # seconds, when nobody says
MISSING = 30.0  # seconds that it is remembered that there is no such name
Found = TypeVar("Found")

_SMOOTHING = 0.1  # of that average
_REMEMBERED = 100_000  # hosts, and addresses


class _Server:
    """What is known of an address. ``hosts`` are its names by registrable domain."""

    __slots__ = ("hosts", "is_network", "seconds")

    def __init__(self) -> None:
        self.hosts: dict[str, set[str]] = {}
        self.seconds: float | None = None
        self.is_network = False


class ServerAddresses:
    """The addresses of the hosts of one crawl. ``tell`` is ``host_address`` of its frontier."""

    def __init__(self, tell: Callable[[str, str], bool]) -> None:
        self._tell = tell
        self._addresses: OrderedDict[str, str] = OrderedDict()
        self._servers: OrderedDict[str, _Server] = OrderedDict()

    def knows(self, host: str) -> bool:
        """Whether the addresses of a host were found."""
        return host in self._addresses

    def found(self, host: str, addresses: Iterable[str]) -> bool:
        """The name of ``host`` has these addresses; whether it may be visited now.

        Of several the least counts: name servers give them in any order.
        """
        address = min(addresses, default="")
        self._addresses[host] = address
        if len(self._addresses) > _REMEMBERED:
            self._addresses.popitem(last=False)
        if not address:
            return True
        server = self._server(address)
        if server.is_network:
            return True
        server.hosts.setdefault(domain_of(f"http://{host}/"), set()).add(host)
        self._tell_apart(server)
        return True if server.is_network else self._tell(host, address)

    def answered(self, host: str, seconds: float) -> None:
        """A fetch from ``host`` took so long."""
        server = self._servers.get(self._addresses.get(host, ""))
        if server is None:
            return
        server.seconds = seconds if server.seconds is None else server.seconds + _SMOOTHING * (seconds - server.seconds)
        self._tell_apart(server)

    def _tell_apart(self, server: _Server) -> None:
        """Its hosts are servers of their own from now on, if it is a content network's."""
        if server.is_network or len(server.hosts) < MANY or server.seconds is None or server.seconds >= FAST:
            return
        server.is_network = True
        for hosts in server.hosts.values():
            for host in hosts:
                self._tell(host, "")
        server.hosts.clear()

    def _server(self, address: str) -> _Server:
        server = self._servers.setdefault(address, _Server())
        self._servers.move_to_end(address)
        if len(self._servers) > _REMEMBERED:
            self._servers.popitem(last=False)
        return server


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
