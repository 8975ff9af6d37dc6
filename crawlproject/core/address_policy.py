"""Where a crawl may connect to: a foreign link must not lead it into the private network of its operator.

Pure rules. ``middlewares/safety.py`` checks each URL before it is fetched, and ``http/http_handler.py`` checks the exact
address of each connection after the name was resolved. A refusal is counted under its reason:

    ================== ==========================================================================================
    safety/scheme      neither http nor https
    safety/port        a port that is not usual for web servers, see ``CRAWL_ALLOWED_PORTS``
    safety/address     a private, loopback, link-local, multicast or reserved address, see ``CRAWL_ALLOWED_ADDRESSES``
    ================== ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from crawlproject.errors import BadSetting
from crawlproject.options import Options
from crawlproject.urls.addresses import (
    Address,
    Network,
    carried,
    is_local_name,
    is_own_name,
    is_public,
    read_address,
    read_network,
)

SCHEME = "safety/scheme"
PORT = "safety/port"
ADDRESS = "safety/address"
BOMB = "safety/decompression"  # a body that expands beyond ``DOWNLOAD_MAXSIZE``, or is packed more than ``MAX_CODINGS`` times

_PORTS = {"http": 80, "https": 443}

Place = tuple[str, int]


class AddressPolicy:
    """The rules of one crawl about where it may connect.

    ``allowed`` are networks, addresses, host names and ``host:port`` that are allowed besides the public Internet. ``ports`` are
    the allowed ports, empty for all. ``seeds`` are the URLs that the operator named: the pair of host and port of each is
    allowed, whatever the port; and whatever the address, if the host is given as an address or has a name that
    no outsider can assign, such as ``localhost`` (``is_own_name``). ``refused`` are networks and addresses that are refused
    nevertheless, unless their host is named. Raises ``BadSetting`` for an invalid entry of ``allowed`` or ``refused``.
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        ports: Iterable[int] = (),
        seeds: Iterable[str] = (),
        refused: Iterable[str] = (),
    ) -> None:
        self._refused = [_network(entry) for entry in refused]
        self._ports = frozenset(ports)
        self._networks: list[Network] = []
        self._hosts: set[str] = set()
        self._places: set[Place] = set()  # allowed whatever their address
        self._asked: set[Place] = set()  # seeds with any port, whose address must be public
        for entry in allowed:
            self._allow(entry.strip().lower())
        for seed in seeds:
            self.allow_seed(seed)

    def refusal(self, url: str) -> str | None:
        """Why a URL must not be requested, judged by its spelling; None: it may be, if its address is allowed."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError:
            return PORT  # such as :99999
        if parts.scheme not in _PORTS:
            return SCHEME
        host = parts.hostname or ""
        if (host, port) in self._places:
            return None
        if self._ports and port not in self._ports and (host, port) not in self._asked:
            return PORT
        address = read_address(host)
        if self.is_named(host, port) or (address is not None and self.permits(address)):
            return None
        return ADDRESS if address is not None or is_local_name(host) else None

    def is_named(self, host: str, port: int) -> bool:
        """Whether the operator allowed this host, whatever its address."""
        host = host.lower().rstrip(".")
        return host in self._hosts or (host, port) in self._places

    def permits(self, address: Address) -> bool:
        """Whether a connection to this address is allowed."""
        address = carried(address)
        if any(address in network for network in self._refused):
            return False
        return is_public(address) or any(address in network for network in self._networks)

    def _allow(self, entry: str) -> None:
        network = read_network(entry)
        if network is not None:
            self._networks.append(network)
            return
        try:
            parts = urlsplit(f"//{entry}")
            host, port = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            host, port = "", None
        if not host or parts.path or parts.query or parts.username is not None:
            raise BadSetting(
                "setting CRAWL_ALLOWED_ADDRESSES", f"expected networks, addresses, host or host:port, not {entry!r}"
            )
        if port is None:
            self._hosts.add(host)
        else:
            self._places.add((host, port))

    def allow_seed(self, url: str) -> None:
        """Allow one more seed of the operator."""
        try:
            parts = urlsplit(url)
            place = (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError:
            return
        literal = read_address(place[0]) is not None or is_own_name(place[0])
        (self._places if literal else self._asked).add(place)


def _network(entry: str) -> Network:
    network = read_network(entry.strip())
    if network is None:
        raise BadSetting("setting CRAWL_REFUSED_ADDRESSES", f"expected networks and addresses, not {entry!r}")
    return network


def make_safety(options: Options, seeds: Iterable[str] = ()) -> AddressPolicy:
    """The rules by ``CRAWL_ALLOWED_*`` and ``CRAWL_REFUSED_ADDRESSES``, for a crawl with these seeds. Raises ``BadSetting``."""
    refused = options.crawl_refused_addresses
    return AddressPolicy(options.crawl_allowed_addresses, options.crawl_allowed_ports, seeds, refused)
