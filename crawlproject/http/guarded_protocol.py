"""Connections that read no more of a response than ``response_limits.py`` allows, in bites that keep nobody else waiting.

aiohttp reads as much as a socket holds, a quarter of a megabyte at a time, and takes any number of 1xx responses, trailers and
chunks of one byte. Its class for a connection and that for a response are extended here; what is used of them, some of it
private to aiohttp, is tried by ``tests/security/test_floods.py``.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Iterator
from time import thread_time
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import _EXC_SENTINEL
from scrapy.core.downloader.handlers._aiohttp import _ClientResponse

from crawlproject.core.response_limits import HEAD, MAX_FRAMING, OVERHEAD, SLOW, Flood, ResponseMeter
from crawlproject.http.tolerant_parser import TolerantParser, is_flood

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.connector import Connection

HEAD_BITE = 2**14  # bytes of a head that are parsed between two looks at the limits
BODY_BITE = 2**16
FEW = 512  # bytes of a read: packets have more
FREE_READS = 16  # reads of few bytes before they have to gather
GATHERING = 0.05  # seconds, at least
GATHERING_SHARE, LONGEST_GATHERING = 0.2, 2.0  # of the time that a response has taken; seconds


class GuardedProtocol(ResponseHandler):
    """One connection to a server. ``max_overhead``: bytes of a response that are no body.

    A flood ends in ``Flood`` for whoever reads, and in a closed connection. A server that sends its bytes one by one is read
    twenty times a second, and less often the longer it takes. What comes while the connection is ``idle`` closes it.
    """

    def __init__(self, loop: AbstractEventLoop, max_overhead: int) -> None:
        super().__init__(loop)
        self.idle = False
        self.meter = ResponseMeter(max_overhead, loop.time())
        self._max_overhead = max_overhead
        self._body: StreamReader | None = None  # of the response that counts
        self._over = False

    def set_response_params(self, **parameters: Any) -> None:
        """A request is sent; its response comes next."""
        self.idle = False
        self.meter = ResponseMeter(self._max_overhead, self._loop.time())
        self._body = None
        super().set_response_params(**parameters)

        def renew() -> Any:
            super(GuardedProtocol, self).set_response_params(**parameters)
            parser, self._parser = self._parser, tolerant
            return parser

        tolerant: Any = TolerantParser(self._parser, renew)
        self._parser = tolerant

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        if self.idle:
            if data and self.transport is not None:
                self.transport.abort()
            return
        meter, left = self.meter, len(data)
        for bite in self._bites(data):
            began = thread_time()
            super().data_received(bite)
            meter.work += thread_time() - began
            meter.received += len(bite)
            left -= len(bite)
            if self._over:
                return
            if self._body is not None:
                meter.head = meter.head or meter.received - self._body.total_bytes
                if left and self._body.is_eof():
                    self._refuse_more(left, self._body)
                    return
            # While reading pauses, aiohttp holds bytes back that may be of the body.
            if not self._reading_paused and (reason := meter.excess(self._body.total_bytes if self._body else 0)):
                self._stop(Flood(reason))
                return
        if data:
            meter.latest = self._loop.time()
            if len(data) < FEW:
                self._gather()

    def set_exception(self, exc: BaseException, exc_cause: BaseException = _EXC_SENTINEL) -> None:
        """What is read is no HTTP, or more of it than aiohttp takes."""
        if is_flood(exc_cause):
            self._stop(Flood(HEAD))
        else:
            super().set_exception(exc, exc_cause)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """The head of a response came, as ``(message, payload)``."""
        message, payload = data
        if 100 <= message.code < 200:
            self.meter.interim += 1
        elif self._body is None:
            self._body = payload
        super().feed_data(data, size)

    def _bites(self, data: bytes) -> Iterator[bytes]:
        at = 0
        while True:
            size = HEAD_BITE if self._body is None else BODY_BITE
            yield data[at : at + size] if at or len(data) > size else data
            at += size
            if at >= len(data):
                return

    def _refuse_more(self, more: int, body: StreamReader) -> None:
        """Nobody asked for what comes behind the end of a response: ``more`` bytes by now."""
        if more > MAX_FRAMING + body.total_bytes:
            body.set_exception(Flood(OVERHEAD))
            self._stop(Flood(OVERHEAD))
        elif self.idle and self.transport is not None:  # whoever read the response has let go of the connection
            self.transport.abort()
        self._over = True
        self.force_close()

    def _gather(self) -> None:
        self.meter.reads += 1
        if self.meter.reads > FREE_READS and not self._buffer_paused:
            self._pause_reading_for_buffer()
            pause = min(max(GATHERING, GATHERING_SHARE * self.meter.seconds), LONGEST_GATHERING)
            self._loop.call_later(pause, self._resume_reading_for_buffer)

    def _stop(self, flood: Flood) -> None:
        self._over = True
        super().set_exception(flood)
        if self._body is not None and not self._body.is_eof():
            self._body.set_exception(flood)
        self._parser = self._payload = None  # the end of the connection is no news to whoever reads
        self._buffer.clear()
        if self.transport is not None:
            self.transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        flood = self._exception if self._over else None
        super().connection_lost(exc)
        if flood is not None:
            self._exception = flood


class GuardedResponse(_ClientResponse):
    """A response over a ``GuardedProtocol``."""

    guard: GuardedProtocol

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head. Raises ``Flood``, also for one that dripped until its time was over, and ``TimeoutError``."""
        assert isinstance(connection.protocol, GuardedProtocol)
        self.guard = connection.protocol
        try:
            return await super().start(connection)
        except TimeoutError:
            if self.guard.meter.is_silent(self._loop.time()):
                raise
            raise Flood(SLOW) from None

    def late(self) -> Exception | None:
        """What it means that the time is over before the body is: a flood, or an end that comes early.

        None when the server fell silent: nobody knows why.
        """
        now, meter = self._loop.time(), self.guard.meter
        if meter.is_silent(now):
            return None
        return Flood(SLOW) if meter.is_slow(now) else aiohttp.ClientPayloadError("its time was over")
