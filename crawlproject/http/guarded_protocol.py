"""Connections that read no more of a response than ``core/responses.py`` allows, in pieces small enough not to delay others.

aiohttp reads as much as a socket holds, a quarter of a megabyte at a time, and accepts any number of 1xx responses, trailers
and chunks of one byte. This module extends its classes for a connection and for a response;
``tests/security/test_floods.py`` checks what is used of them, some of which is private to aiohttp.

Responses that are not quite valid HTTP are read as in browsers: their heads are corrected and then parsed by aiohttp. Only
responses that the parser refuses are handled this way, so others cost nothing. ``tests/scrapy/test_odd_responses.py`` lists the
kinds that are read.
"""

from __future__ import annotations

import re
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import thread_time
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import _EXC_SENTINEL
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from scrapy.core.downloader.handlers._aiohttp import _ClientResponse

from crawlproject.core.responses import HEAD, MAX_FRAMING, OVERHEAD, SLOW, Flood, ResponseMeter

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.connector import Connection

HEAD_BITE = 2**14  # bytes of a head that are parsed between two checks of the limits
BODY_BITE = 2**16
FEW = 512  # bytes: a smaller read is less than a packet
FREE_READS = 16  # such reads before the connection pauses to let bytes gather
GATHERING = 0.05  # minimum seconds of a pause
GATHERING_SHARE, LONGEST_GATHERING = 0.2, 2.0  # pause as a share of the time that a response has taken; maximum seconds
TOO_MANY = "Too many headers"  # in the error message of aiohttp
Fed = tuple[Any, bool, bytes]  # messages, whether the connection was upgraded, and the bytes of the new protocol

_CLOSED = aiohttp.ClientOSError, aiohttp.ServerDisconnectedError
_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"(?i:HTTP)/(\d)(?:\.(\d))?[ \t]+(\d{3})(?!\d)[ \t]*([^\r\n]*)")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class IdleConnectionLost(aiohttp.ClientConnectionError):
    """The server closed a kept connection while the next request was on its way: no byte of an answer came."""


class GuardedProtocol(ResponseHandler):
    """One connection to a server. ``max_overhead`` limits the bytes of a response outside its body.

    A flood raises ``Flood`` in the reader and closes the connection. A server that sends its bytes one by one is read twenty
    times a second, and less often the longer it takes. Bytes that come while the connection is ``idle`` close it.
    """

    def __init__(self, loop: AbstractEventLoop, max_overhead: int) -> None:
        super().__init__(loop)
        self.idle = False
        self.requests = 0
        self.kept_in_vain = False  # whether the server closed it instead of answering a further request
        self.meter = ResponseMeter(max_overhead, loop.time())
        self._max_overhead = max_overhead
        self._body: StreamReader | None = None  # of the final response, not of a response 1xx
        self._over = False

    def set_response_params(self, **parameters: Any) -> None:
        """Prepare for the response to a request that is being sent."""
        self.idle = False
        self.requests += 1
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
            # While reading pauses, aiohttp holds back bytes that may belong to the body.
            if not self._reading_paused and (reason := meter.excess(self._body.total_bytes if self._body else 0)):
                self._stop(Flood(reason))
                return
        if data:
            meter.latest = self._loop.time()
            if len(data) < FEW:
                self._gather()

    def set_exception(self, exc: BaseException, exc_cause: BaseException = _EXC_SENTINEL) -> None:
        """Handle an error of aiohttp: a response that is not HTTP, a head beyond its limits, or a lost connection."""
        if is_flood(exc_cause):
            self._stop(Flood(HEAD))
        elif (
            self.requests > 1
            and not self.meter.received
            and isinstance(exc, aiohttp.ClientOSError | aiohttp.ServerDisconnectedError)
        ):
            self.kept_in_vain = True
            super().set_exception(IdleConnectionLost(*exc.args), exc)
        else:
            super().set_exception(exc, exc_cause)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """Receive the head of a response, as ``(message, payload)``."""
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
        """Refuse unrequested bytes after the end of a response: ``more`` so far."""
        if more > MAX_FRAMING + body.total_bytes:
            body.set_exception(Flood(OVERHEAD))
            self._stop(Flood(OVERHEAD))
        elif self.idle and self.transport is not None:  # the reader of the response has released the connection
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
        self._parser = self._payload = None  # so that the end of the connection raises nothing else in the reader
        self._buffer.clear()
        if self.transport is not None:
            self.transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        flood = self._exception if self._over else None
        super().connection_lost(exc)
        if flood is not None:
            self._exception = flood


class GuardedResponse(_ClientResponse):
    """A response over a ``GuardedProtocol`` to a request that began at ``began``."""

    guard: GuardedProtocol
    began: float

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head. Raises ``Flood``, also for a head that came too slowly before the time-out, and ``TimeoutError``."""
        assert isinstance(connection.protocol, GuardedProtocol)
        self.guard = connection.protocol
        try:
            return await super().start(connection)
        except TimeoutError:
            if self.guard.meter.is_silent(self._loop.time()):
                raise
            raise Flood(SLOW) from None

    def late(self) -> Exception | None:
        """The meaning of a time-out before the end of the body: a flood, or a body that is cut short.

        None if the server fell silent, because the reason is unknown.
        """
        now, meter = self._loop.time(), self.guard.meter
        if meter.is_silent(now):
            return None
        return Flood(SLOW) if meter.is_slow(now) else aiohttp.ClientPayloadError("its time was over")


def is_flood(refusal: BaseException | None) -> bool:
    """Whether aiohttp refused a head because of its size."""
    return isinstance(refusal, LineTooLong) or TOO_MANY in str(refusal)


class TolerantParser:
    """Reads one response with ``parser``. If that refuses it, a new parser (``renew()``) reads it again with a corrected head.

    For responses that no browser reads either, and for heads that are too long, the error of ``parser`` is raised.
    """

    def __init__(self, parser: Any, renew: Callable[[], Any]) -> None:
        self._parser, self._renew = parser, renew
        self._seen: bytes | None = b""  # the bytes of the response so far; None: its head was parsed
        self._refusal: BadHttpMessage | None = None

    def feed_data(self, data: bytes) -> Fed:
        if self._seen is None:
            fed: Fed = self._parser.feed_data(data)
            return fed
        self._seen += data
        if self._refusal is None:
            try:
                fed = self._parser.feed_data(data)
            except BadHttpMessage as refusal:
                if is_flood(refusal):
                    raise
                self._refusal = refusal
            else:
                if fed[0]:
                    self._seen = b"" if fed[0][-1][0].code < 200 else None
                return fed
        return self._read_again(self._seen)

    def _read_again(self, seen: bytes) -> Fed:
        """Parse the response again, once its head is complete. Unrequested bytes after the end of the body are ignored."""
        assert self._refusal is not None
        if (end := _END.search(seen.lstrip(b"\r\n"))) is None:
            return (), False, b""
        seen = seen.lstrip(b"\r\n")
        if (head := put_right(seen[: end.start()])) is None:
            raise self._refusal
        self._seen, self._parser = None, self._renew()
        fed: Fed = self._parser.feed_data(head)
        if not fed[0]:
            raise self._refusal
        _, payload = fed[0][-1]
        if rest := seen[end.end() :]:
            with suppress(BadHttpMessage):
                self._parser.feed_data(rest)
                return fed
            if not payload.is_eof():
                raise self._refusal
        return fed

    def feed_eof(self) -> Any:
        return self._parser.feed_eof()

    def pause_reading(self) -> None:
        self._parser.pause_reading()


def put_right(head: bytes) -> bytes | None:
    """Correct the head of a response so that any parser accepts it; None if it is no head, or that of a response 1xx.

    Lines that are not headers are left out, and so are lengths that contradict each other or a chunked body. The connection
    ends after such a response.
    """
    first, *lines = re.split(rb"\r?\n", head)
    status = _STATUS.fullmatch(first)
    if status is None or status[3] < b"200":
        return None
    fields: list[tuple[bytes, bytes]] = []
    lengths: set[bytes] = set()
    chunked = False
    for line in lines:
        name, colon, value = line.partition(b":")
        name, value = name.rstrip(), _CONTROLS.sub(b" ", value).strip()
        if not colon or _NAME.fullmatch(name) is None:
            continue  # not a header, or the continuation of the one before
        kind = name.lower()
        if kind == b"content-length":
            lengths.update(length.strip().lstrip(b"+") for length in value.split(b","))
        elif kind == b"transfer-encoding":
            chunked = chunked or b"chunked" in value.lower()
        elif kind not in (b"connection", b"upgrade"):
            fields.append((name, value))
    if chunked:
        fields.append((b"Transfer-Encoding", b"chunked"))
    elif len(lengths) == 1 and (length := lengths.pop()).isdigit():
        fields.append((b"Content-Length", length))
    fields.append((b"Connection", b"close"))
    version = b"1.0" if status[1] + (status[2] or b"") == b"10" else b"1.1"
    said = _CONTROLS.sub(b" ", status[4])
    return b"".join(
        (b"HTTP/%s %s %s\r\n" % (version, status[3], said), *(b"%s: %s\r\n" % field for field in fields), b"\r\n")
    )
