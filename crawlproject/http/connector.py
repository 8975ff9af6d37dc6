"""Makes connections (``GuardedProtocol``) to permitted addresses, within the number of files that may be open.

The crawler connects only to addresses that ``address_policy.py`` permits. It checks the addresses from the name server, cached
or not, and again the one address that a socket is made for: nothing is resolved between that check and the connection.

Sockets get the share of the open files that the crawl's own files, which come first, leave to them.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from crawlproject.core.address_policy import AddressPolicy
from crawlproject.http.guarded_protocol import GuardedProtocol
from crawlproject.urls.addresses import read_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp.client_proto import ResponseHandler
    from aiohttp.client_reqrep import ConnectionKey

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

AddrInfo = tuple[int, int, int, str, tuple[Any, ...]]

logger = logging.getLogger(__name__)

KEEP_ALIVE = 15.0  # seconds that an idle connection stays open: longer than most hosts rest
WANTED = 65_536  # open files: more are not needed
RESERVED = 256  # open files reserved for the crawl folder and look-ups of names, at most half of all
FULL = (errno.EMFILE, errno.ENFILE)  # the file table of this process, or that of the machine
WAIT = 0.1  # seconds until the next check of a full table
MAKE_ROOM = 16  # idle connections that are closed when it is full

_REMEMBERED = 10_000  # servers


class AddressRefused(OSError):
    """The host has no permitted address."""


class GuardedConnector(aiohttp.TCPConnector):
    """``safety`` says which addresses are permitted (None: all). ``max_overhead`` is as in ``GuardedProtocol``."""

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
        # Servers that close idle connections without notice: each request to them gets a new connection.
        self._impatient: OrderedDict[tuple[str, int | None], None] = OrderedDict()
        super().__init__(
            limit=sockets.most_in_use,
            keepalive_timeout=KEEP_ALIVE,
            use_dns_cache=False,  # aiohttp's cache has one TTL for all names
            resolver=SafeResolver(safety, resolver) if safety else resolver,
            socket_factory=self._make_socket,
            **options,
        )
        connection: Callable[..., ResponseHandler] = GuardedProtocol
        self._factory = partial(connection, self._loop, max_overhead)

    def _make_socket(self, address: AddrInfo) -> socket.socket:
        """Make the socket for a connection to one address. It is checked here because a literal address is never resolved."""
        family, kind, protocol, _, target = address
        if self._safety and not _permits(self._safety, str(target[0])):
            raise AddressRefused(f"{target[0]} is not public")
        return self._sockets.open(family, kind, protocol)

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        server = key.host, key.port
        if isinstance(protocol, GuardedProtocol) and protocol.kept_in_vain:
            self._impatient[server] = None
            if len(self._impatient) > _REMEMBERED:
                self._impatient.popitem(last=False)
        super()._release(key, protocol, should_close=should_close or server in self._impatient)
        if protocol.is_connected() and isinstance(protocol, GuardedProtocol):  # otherwise aiohttp has closed it
            protocol.idle = True
            self._sockets.keep(protocol)


class SafeResolver(AbstractResolver):
    """Resolves a name, through ``resolver``, to its permitted addresses. Raises ``AddressRefused`` when none is permitted."""

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


def raise_limit() -> int:
    """Raise the limit of open files of this process as far as allowed, at most to ``WANTED``; return the limit."""
    if resource is None:
        return WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wish = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft == resource.RLIM_INFINITY or soft >= wish:
        return WANTED if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wish, hard))
    except (OSError, ValueError) as refused:  # macOS has another, lower limit
        logger.info("cannot raise the limit of %d open files: %s", soft, refused)
        return soft
    return wish


class TableFull(OSError):
    """No more sockets can be opened until others are closed."""


class Sockets:
    """The sockets of one crawl: ``limit`` files may be open, and ``in_use`` connections are used at the same time.

    Idle connections are kept as far as there is room; the least recently used one is closed first.
    """

    def __init__(self, limit: int, in_use: int) -> None:
        self.limit = limit - min(RESERVED, limit // 2)
        self.most_in_use = min(in_use or self.limit, self.limit)
        self._most_kept = self.limit - self.most_in_use
        self._kept: OrderedDict[GuardedProtocol, None] = OrderedDict()  # in order of use; some are in use again

    def open(self, family: int, kind: int, protocol: int) -> socket.socket:
        """Make a new socket. Raises ``OSError`` with ``EMFILE`` when the rest of the table is reserved for files."""
        made = socket.socket(family, kind, protocol)
        if made.fileno() >= self.limit:  # the kernel assigns the lowest free number
            made.close()
            raise OSError(errno.EMFILE, "no room for another socket")
        return made

    def keep(self, connection: GuardedProtocol) -> None:
        """Keep an idle ``connection``, which the next request to its host may use."""
        self._kept[connection] = None
        self._kept.move_to_end(connection)
        self._close_oldest(len(self._kept) - self._most_kept)

    async def wait_for_room(self) -> None:
        """The table is full: close some idle connections, and give others time to end."""
        self._close_oldest(MAKE_ROOM)
        await asyncio.sleep(WAIT)

    def close_kept(self) -> None:
        """Close all idle connections, which may be dead."""
        self._close_oldest(len(self._kept))

    def _close_oldest(self, number: int) -> None:
        for _ in range(min(number, len(self._kept))):
            connection, _ = self._kept.popitem(last=False)
            if connection.idle:
                connection.close()
