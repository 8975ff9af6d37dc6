"""Decides which IP addresses are public, and reads addresses and host names.

The lists follow the IANA registries of special-purpose addresses (RFC 6890 and its updates), because Python's
``is_global`` differs between versions and treats multicast as global. An IPv6 address with an embedded IPv4 address
(mapped, NAT64, 6to4) is public if and only if the embedded address is.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

REBOUND = "the Host header must be the address of this machine, not a name (DNS rebinding)"

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network; Linux connects 0.0.0.0 to itself
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's virtual host, as seen by its guests
        "169.254.0.0/16",  # link-local, with the metadata services of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, withdrawn
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")  # the only range ever allocated; the rest is local, multicast or reserved
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_CARRIES_4 = (  # network, and the right shift in bits that yields the IPv4 address
    (IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64 (RFC 6052)
    (IPv6Network("2002::/16"), 80),  # 6to4 (RFC 3056)
)

_OWN_TOPS = (".localhost", ".test", ".example", ".local", ".internal", ".home.arpa")


@lru_cache(maxsize=4096)
def is_public(address: Address) -> bool:
    """Whether an address is public, so that a crawler may follow untrusted links to it."""
    address = carried(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _GLOBAL_6 and not any(address in network for network in _NOT_PUBLIC_6)


def carried(address: Address) -> Address:
    """Return the IPv4 address embedded in an IPv6 address; any other address unchanged."""
    if isinstance(address, IPv6Address):
        for network, shift in _CARRIES_4:
            if address in network:
                return IPv4Address(int(address) >> shift & 0xFFFF_FFFF)
    return address


@lru_cache(maxsize=4096)  # called for each URL of a host; a name costs an exception
def read_address(host: str) -> Address | None:
    """Return the address in ``host``, with or without brackets and a zone; None for a name."""
    try:
        return ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def read_network(text: str) -> Network | None:
    """Return the network or single address in ``text``; None for anything else. Host bits are ignored."""
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None


def is_own_name(host: str) -> bool:
    """Whether a host name is outside the public DNS: it has a single label or a reserved top-level domain.

    These domains are reserved for tests, documentation and local networks (RFC 2606, 6761, 6762, 8375, and ICANN for
    ``internal``).
    """
    host = host.lower().rstrip(".")
    return "." not in host or host.endswith(_OWN_TOPS)


def is_local_name(host: str) -> bool:
    """Whether a host name always means this machine, whatever a name server answers (RFC 6761 section 6.3)."""
    host = host.lower().rstrip(".")
    return host == "localhost" or host.endswith(".localhost")


def names_this_machine(host: str, named: str) -> bool:
    """Whether a Host header is an address, ``localhost`` or ``named``, the user's name for this machine, not a rebound name."""
    name = without_port(host).lower()
    if name in ("localhost", named.lower()):
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def is_loopback(peer: str) -> bool:
    """Whether ``peer``, an address with or without a zone, is a loopback address."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def without_port(host: str) -> str:
    """Return the name or address of a Host header."""
    bracket = host.rfind("]") + 1  # after an IPv6 address
    return host[:bracket] or host.partition(":")[0]
