"""Resolves host names: c-ares queries the name servers, whose answers have a TTL, or else the system is asked.

c-ares reads ``/etc/resolv.conf`` and ``/etc/hosts``, and needs no thread per name. Some names only the system knows (mDNS, LDAP,
``nsswitch.conf``): it resolves the names that no outsider can assign, and other names that c-ares does not find. The
system gives no TTL.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pycares
from aiohttp.abc import AbstractResolver, ResolveResult
from pycares.errno import ARES_EBADNAME, ARES_ENODATA, ARES_ENOTFOUND, ARES_ETIMEOUT, strerror

from crawlproject.core.server_addresses import MOST, KnownAddresses
from crawlproject.urls.addresses import is_own_name

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REMEMBERED = 10_000  # names
SILENCES = 3  # time-outs after which name servers that have never answered are no longer asked
TRIES = 6  # each twice as long as the one before
PATIENCE = 10.0  # seconds, as in the C library
THREADS = 64  # maximum number of names that the system looks up at the same time

_ATTRIBUTE = "topical_names"
_NUMERIC = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV
_FAR = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))  # addresses for documentation
_NO_SUCH_NAME = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))

Found = deque[str] | OSError  # addresses, the next one first; or why there are none
SystemLookup = Callable[[str, int], Sequence[str]]


class NotFound(OSError):
    """c-ares has no address for a name. ``is_late``: no server answered in time; ``is_answer``: a server says there is none."""

    def __init__(self, status: int) -> None:
        super().__init__(strerror(status))
        self.is_late = status == ARES_ETIMEOUT
        self.is_answer = status in (ARES_ENOTFOUND, ARES_ENODATA)


class NameServers:
    """Queries the name servers of the system, or those in ``options`` (of ``pycares.Channel``), for ``patience`` seconds.

    Fast answers shorten the time after which c-ares tries again, down to a quarter of a second: a slow name needs several tries.
    """

    def __init__(self, patience: float = PATIENCE, **options: Any) -> None:
        self._patience = patience
        self._options = {"tries": TRIES, **options}
        self._channel: pycares.Channel | None = None
        self._asked = 0
        self._families = socket.AF_UNSPEC  # those that this machine has a route for

    async def look_up(self, name: str, family: int) -> tuple[list[str], float]:
        """Addresses, best first (RFC 6724), and the seconds for which they hold. Raises ``NotFound``."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[pycares.AddrInfoResult] = loop.create_future()

        def settle(result: pycares.AddrInfoResult, status: int | None) -> None:
            if future.done():
                return
            if status is None:
                future.set_result(result)
            else:
                future.set_exception(NotFound(status))

        def answered(result: pycares.AddrInfoResult, status: int | None) -> None:
            with suppress(RuntimeError):  # raised when the crawl, and with it the loop, has ended
                loop.call_soon_threadsafe(settle, result, status)

        try:
            channel = self._open()
            channel.getaddrinfo(
                name,
                None,
                family=socket.AddressFamily(family or self._families),
                type=socket.SOCK_STREAM,
                callback=answered,
            )
        except (pycares.AresError, UnicodeError, RuntimeError) as error:
            raise NotFound(ARES_EBADNAME) from error
        try:
            found = await asyncio.wait_for(future, self._patience)
        except TimeoutError as late:
            raise NotFound(ARES_ETIMEOUT) from late
        if not found.nodes:
            raise NotFound(ARES_ENODATA)
        addresses = list(dict.fromkeys(_spelled(node.addr) for node in found.nodes))
        ttl = min(min(node.ttl for node in found.nodes), min((alias.ttl for alias in found.cnames), default=MOST))
        return addresses, float(ttl)

    def _open(self) -> pycares.Channel:
        if self._channel is None:
            self._channel = pycares.Channel(**self._options)
            self._families = _families()
        self._asked += 1
        if self._asked % REMEMBERED == 0:
            self._channel.reinit()  # clears the cache of c-ares, which keeps every answer for up to an hour, 2 KB each
        return self._channel

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()


class NameResolver(AbstractResolver):
    """A caching resolver. Concurrent calls for one name make one query. Raises ``OSError`` when there is no address.

    ``servers`` None: only the system is asked, in at most ``THREADS`` threads, through ``ask_system(name, family)``. Otherwise
    it is asked for names that the servers do not find, but not after a time-out: a slow name is slow for the system, too.
    Servers that have never answered may be unreachable: after a time-out the system is asked, and if it finds a name after
    ``SILENCES`` time-outs, they are dropped. Several addresses take turns. ``clock`` is in seconds.
    """

    def __init__(
        self,
        servers: NameServers | None,
        ask_system: SystemLookup | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers = servers
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="resolver")
        self._ask_system = ask_system or _look_up
        self._clock = clock
        self._known: KnownAddresses[Found] = KnownAddresses(REMEMBERED)
        self._asking: dict[str, asyncio.Task[Found]] = {}
        self._answered = False  # whether the servers have ever answered
        self._silences = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await self.addresses(host, family)
        ]

    async def addresses(self, name: str, family: int = socket.AF_UNSPEC) -> Sequence[str]:
        """The addresses of ``name``."""
        key = f"{int(family)} {name}"
        found = self._known.get(key, self._clock())
        if found is None:
            task = self._asking.get(key)
            if task is None:
                task = self._asking[key] = asyncio.create_task(self._find(key, name, family))
                task.add_done_callback(lambda _: self._asking.pop(key))
            found = await asyncio.shield(task)  # the first caller may be cancelled
        if isinstance(found, OSError):
            raise OSError(*found.args)
        in_turn = list(found)
        found.rotate(-1)
        return in_turn

    async def _find(self, key: str, name: str, family: int) -> Found:
        if self._servers is not None and not is_own_name(name):
            try:
                addresses, ttl = await self._servers.look_up(name, family)
            except NotFound as failure:
                self._answered = self._answered or failure.is_answer
                self._silences += failure.is_late
                if failure.is_late and self._answered:
                    return failure
            else:
                self._answered = True
                return self._keep(key, addresses, ttl)
        try:
            run = asyncio.get_running_loop().run_in_executor
            addresses = list(await run(self._threads, self._ask_system, name, family))
        except (OSError, UnicodeError) as failure:
            missing = failure if isinstance(failure, OSError) else OSError(str(failure))
            if missing.errno in _NO_SUCH_NAME:
                self._known.keep_missing(key, missing, self._clock())
            return missing
        if self._servers is not None and self._silences >= SILENCES and not self._answered:
            self._drop_servers()
        return self._keep(key, addresses, None)

    def _keep(self, key: str, addresses: Sequence[str], ttl: float | None) -> Found:
        found = deque(addresses)
        self._known.keep(key, found, self._clock(), ttl)
        return found

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._drop_servers()

    def _drop_servers(self) -> None:
        if self._servers is not None:
            self._servers.close()
            self._servers = None


def names_of(crawler: Crawler) -> NameResolver:
    """The resolver of this crawler; its download handler closes it."""
    found: NameResolver | None = getattr(crawler, _ATTRIBUTE, None)
    if found is None:
        found = NameResolver(NameServers())
        setattr(crawler, _ATTRIBUTE, found)
    return found


def _families() -> socket.AddressFamily:
    """The only family of addresses that this machine can reach, or ``AF_UNSPEC`` for both: a substitute for ``AI_ADDRCONFIG``."""
    reached = []
    for family, address in _FAR:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # sends nothing, but needs a route
            reached.append(family)
    return reached[0] if len(reached) == 1 else socket.AF_UNSPEC


def _look_up(name: str, family: int) -> Sequence[str]:
    found = socket.getaddrinfo(name, None, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [socket.getnameinfo(address, _NUMERIC)[0] for *_, address in found]  # for IPv6, including any scope


def _spelled(address: tuple[Any, ...]) -> str:
    text = address[0].decode()
    return f"{text}%{address[3]}" if len(address) == 4 and address[3] else text
