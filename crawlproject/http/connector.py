"""Makes connections, each a ``GuardedProtocol``, to addresses that are permitted, within the number of files that may be open.

A host is connected to only at an address that ``address_policy.py`` permits. It is asked about the addresses that the name
server gave, remembered or not, and once more about the one that a socket is made for: nothing is resolved between that and the
connection.
"""

from __future__ import annotations

import socket
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from crawlproject.core.address_policy import AddressPolicy
from crawlproject.http.guarded_protocol import GuardedProtocol
from crawlproject.http.open_files import Sockets
from crawlproject.urls.addresses import read_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import ConnectionKey

KEEP_ALIVE = 15.0  # seconds that an idle connection stays open: longer than most hosts rest

AddrInfo = tuple[int, int, int, str, tuple[Any, ...]]


class AddressRefused(OSError):
    """The host has no address that may be connected to."""


class GuardedConnector(aiohttp.TCPConnector):
    """``safety``: what may be connected to, anything unless given. ``max_overhead``: as in ``GuardedProtocol``."""

    def __init__(
        self,
        sockets: Sockets,
        resolver: AbstractResolver,
        safety: AddressPolicy | None,
        max_overhead: int,
        **options: Any,
    ) -> None:
        self._sockets = sockets
        self._safety = safety
        super().__init__(
            limit=sockets.most_in_use,
            keepalive_timeout=KEEP_ALIVE,
            use_dns_cache=False,  # it has one TTL for all names
            resolver=SafeResolver(safety, resolver) if safety else resolver,
            socket_factory=self._make_socket,
            **options,
        )
        connection: Callable[..., ResponseHandler] = GuardedProtocol
        self._factory = partial(connection, self._loop, max_overhead)

    def _make_socket(self, address: AddrInfo) -> socket.socket:
        """The socket for a connection to one address: what spells an address in its URL is never resolved."""
        family, kind, protocol, _, target = address
        if self._safety and not _permits(self._safety, str(target[0])):
            raise AddressRefused(f"{target[0]} is not public")
        return self._sockets.open(family, kind, protocol)

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        if protocol.is_connected() and isinstance(protocol, GuardedProtocol):  # else aiohttp has closed it
            protocol.idle = True
            self._sockets.keep(protocol)


class SafeResolver(AbstractResolver):
    """Resolves a name to those of its addresses that are permitted; ``AddressRefused`` when none of them is.

    ``resolver`` is who is asked.
    """

    def __init__(self, safety: AddressPolicy, resolver: AbstractResolver) -> None:
        self._safety = safety
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        permitted = [result for result in found if _permits(self._safety, result["host"])]
        if found and not permitted:
            raise AddressRefused(f"{host} is at {found[0]['host']}")
        return permitted

    async def close(self) -> None:
        await self._resolver.close()


def _permits(safety: AddressPolicy, host: str) -> bool:
    address = read_address(host)
    return address is not None and safety.permits(address)
