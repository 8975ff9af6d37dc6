"""Which IP addresses belong to the public Internet, and which to somebody's own network.

After the IANA registries of special-purpose addresses (RFC 6890 and its updates), written out, because what Python's
``is_global`` says of them differs from version to version, and counts multicast as global. An IPv6 address that carries an
IPv4 address (mapped, NAT64, 6to4) is as public as the one it carries.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network; Linux connects 0.0.0.0 to itself
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host, as seen from its guests
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
_GLOBAL_6 = IPv6Network("2000::/3")  # all that was ever given out; the rest is local, multicast or reserved
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_CARRIES_4 = (  # network, and by how many bits an address of it is shifted to end with the IPv4 address
    (IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64 (RFC 6052)
    (IPv6Network("2002::/16"), 80),  # 6to4 (RFC 3056)
)

_OWN_TOPS = (".localhost", ".test", ".example", ".local", ".internal", ".home.arpa")


@lru_cache(maxsize=4096)
def is_public(address: Address) -> bool:
    """Whether an address is one that a stranger may send a crawler to."""
    address = carried(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _GLOBAL_6 and not any(address in network for network in _NOT_PUBLIC_6)


def carried(address: Address) -> Address:
    """The IPv4 address in an IPv6 address that carries one; any other address as it is."""
    if isinstance(address, IPv6Address):
        for network, shift in _CARRIES_4:
            if address in network:
                return IPv4Address(int(address) >> shift & 0xFFFF_FFFF)
    return address


def read_address(host: str) -> Address | None:
    """The address that ``host`` spells, with or without brackets and a zone; None for a name."""
    try:
        return ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def read_network(text: str) -> Network | None:
    """The network, or the single address, that ``text`` spells; None for anything else. Bits of a host are ignored."""
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None


def is_own_name(host: str) -> bool:
    """Whether no stranger can decide where a host name leads: it has one label, or a top that the public DNS does not have.

    These are reserved for tests, documentation, and one's own network (RFC 2606, 6761, 6762, 8375, and ICANN for
    ``internal``).
    """
    host = host.lower().rstrip(".")
    return "." not in host or host.endswith(_OWN_TOPS)


def is_local_name(host: str) -> bool:
    """Whether a host name means this machine, whatever a name server says (RFC 6761 section 6.3)."""
    host = host.lower().rstrip(".")
    return host == "localhost" or host.endswith(".localhost")
