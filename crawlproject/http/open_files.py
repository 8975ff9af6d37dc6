"""How many of the files that a process may have open are left to sockets: the crawl's own files come first."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlproject.http.guarded_protocol import GuardedProtocol

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

WANTED = 65_536  # open files: more are no use
RESERVED = 256  # files that are never sockets of ours, at most half of all: the crawl folder, look-ups of names
FULL = (errno.EMFILE, errno.ENFILE)  # the table of this process, that of the machine
WAIT = 0.1  # seconds until the next look at a full table
MAKE_ROOM = 16  # idle connections that are closed when it is full


def raise_limit() -> int:
    """Let this process open as many files as it may, ``WANTED`` at most; return the limit."""
    if resource is None:
        return WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wish = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft == resource.RLIM_INFINITY or soft >= wish:
        return WANTED if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wish, hard))
    except (OSError, ValueError) as refused:  # macOS has a lower limit of its own
        logger.info("at most %d files may be open: %s", soft, refused)
        return soft
    return wish


class TableFull(OSError):
    """No more sockets may be opened until others are closed."""


class Sockets:
    """The sockets of one crawl: ``limit`` files may be open, and ``in_use`` connections are used at the same time.

    Connections that nobody uses are kept, as far as there is room; the one that was used longest ago is closed first.
    """

    def __init__(self, limit: int, in_use: int) -> None:
        self.limit = limit - min(RESERVED, limit // 2)
        self.most_in_use = min(in_use or self.limit, self.limit)
        self._most_kept = self.limit - self.most_in_use
        self._kept: OrderedDict[GuardedProtocol, None] = OrderedDict()  # in order of use; some are in use again

    def open(self, family: int, kind: int, protocol: int) -> socket.socket:
        """A new socket. Raises ``OSError`` with ``EMFILE`` when the rest of the table is for files."""
        made = socket.socket(family, kind, protocol)
        if made.fileno() >= self.limit:  # the kernel gives the lowest number that is free
            made.close()
            raise OSError(errno.EMFILE, "no room for another socket")
        return made

    def keep(self, connection: GuardedProtocol) -> None:
        """Nobody uses ``connection`` any more; the next request to its host may."""
        self._kept[connection] = None
        self._kept.move_to_end(connection)
        self._close_oldest(len(self._kept) - self._most_kept)

    async def wait_for_room(self) -> None:
        """The table is full: close some connections that nobody uses, and give others time to end."""
        self._close_oldest(MAKE_ROOM)
        await asyncio.sleep(WAIT)

    def _close_oldest(self, number: int) -> None:
        for _ in range(min(number, len(self._kept))):
            connection, _ = self._kept.popitem(last=False)
            if connection.idle:
                connection.close()
