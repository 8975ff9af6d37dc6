"""Which host names are one server, for politeness: those with the same address, unless it belongs to a content network.

A polite crawler spares machines, not names (004 section 2.3.1, footnote 2). An address of a content network stands for many
machines: it is recognised by the number of registrable domains that share it, and by how fast it answers. Addresses are
remembered for as long as their records say, within bounds (RFC 1035 section 3.2.1: TTL).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from crawlproject.urls.hosts import domain_of

MANY = 20  # registrable domains from which an address may belong to a content network
FAST = 0.5  # average seconds of a fetch below which it does
LEAST, MOST = 60.0, 86_400.0  # bounds of the seconds for which a name is remembered
UNKNOWN = 300.0  # seconds, if no TTL is known
MISSING = 30.0  # seconds for which the absence of a name is remembered
Found = TypeVar("Found")

_SMOOTHING = 0.1  # weight of the latest fetch in that average
_REMEMBERED = 100_000  # hosts, and addresses


class _Server:
    """What is known about an address. ``hosts`` are its names by registrable domain."""

    __slots__ = ("hosts", "is_network", "seconds")

    def __init__(self) -> None:
        self.hosts: dict[str, set[str]] = {}
        self.seconds: float | None = None
        self.is_network = False


class ServerAddresses:
    """The addresses of the hosts of one crawl. ``tell`` is the method ``host_address`` of its frontier."""

    def __init__(self, tell: Callable[[str, str], bool]) -> None:
        self._tell = tell
        self._addresses: OrderedDict[str, str] = OrderedDict()
        self._servers: OrderedDict[str, _Server] = OrderedDict()

    def knows(self, host: str) -> bool:
        """Whether the addresses of a host were found."""
        return host in self._addresses

    def found(self, host: str, addresses: Iterable[str]) -> bool:
        """Note that ``host`` has these addresses. Return whether it may be visited now.

        Of several addresses the smallest counts, because name servers return them in any order.
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
        """A fetch from ``host`` took ``seconds``."""
        server = self._servers.get(self._addresses.get(host, ""))
        if server is None:
            return
        server.seconds = seconds if server.seconds is None else server.seconds + _SMOOTHING * (seconds - server.seconds)
        self._tell_apart(server)

    def _tell_apart(self, server: _Server) -> None:
        """Treat the hosts of an address as separate servers from now on if it belongs to a content network."""
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
    """An LRU cache of what was found for names, with at most ``size`` entries that expire."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: OrderedDict[str, tuple[Found, float]] = OrderedDict()

    def get(self, name: str, now: float) -> Found | None:
        """What was found, unless it has expired; ``now`` is in seconds of any clock."""
        if name not in self._found:
            return None
        found, until = self._found[name]
        if until <= now:
            del self._found[name]
            return None
        self._found.move_to_end(name)
        return found

    def keep(self, name: str, found: Found, now: float, ttl: float | None) -> None:
        """Keep ``found`` for ``ttl`` seconds from ``now``; None: the TTL is unknown."""
        self._keep(name, found, now + (UNKNOWN if ttl is None else min(max(ttl, LEAST), MOST)))

    def keep_missing(self, name: str, found: Found, now: float) -> None:
        """Keep ``found``, which says that there is no such name."""
        self._keep(name, found, now + MISSING)

    def _keep(self, name: str, found: Found, until: float) -> None:
        self._found[name] = (found, until)
        self._found.move_to_end(name)
        if len(self._found) > self._size:
            self._found.popitem(last=False)

    def __len__(self) -> int:
        return len(self._found)
