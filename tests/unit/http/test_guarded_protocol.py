"""The amount that a connection reads from a server that sends more than requested: counted, not timed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from crawlproject.core.responses import MAX_FRAMING, OVERHEAD, Flood, ResponseMeter
from crawlproject.http.guarded_protocol import (
    BODY_BITE,
    FREE_READS,
    GATHERING,
    GATHERING_SHARE,
    LONGEST_GATHERING,
    GuardedProtocol,
)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = HEAD + b"Content-Length: 4\r\n\r\nreef"


class Counting(GuardedProtocol):
    """Counts the parsed responses."""

    messages = 0

    def feed_data(self, data: Any, size: int = 0) -> None:
        self.messages += 1
        super().feed_data(data, size)


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def pause_reading(self) -> None:
        """Nothing is read."""

    def resume_reading(self) -> None:
        """Nothing is read."""

    def close(self) -> None:
        self.aborted = True


def reading(test: Callable[[Counting], None]) -> None:
    async def run() -> None:
        connection = Counting(asyncio.get_running_loop(), 2**18)
        connection.connection_made(Transport())
        connection.set_response_params(read_until_eof=True, auto_decompress=False, read_bufsize=2**24)
        test(connection)

    asyncio.run(run())


def test_what_nobody_asked_for_is_not_parsed() -> None:
    def test(connection: Counting) -> None:
        connection.data_received(WHOLE * (MAX_FRAMING // len(WHOLE) + 100))
        few = BODY_BITE // len(WHOLE)
        assert 1 <= connection.messages <= few
        assert connection.should_close, "the connection is not used again"
        connection.data_received(WHOLE * 10_000)
        assert connection.messages <= few
        assert connection.exception() is None, "the response itself is whole"

    reading(test)


def test_more_than_a_page_that_nobody_asked_for_is_a_flood() -> None:
    def test(connection: Counting) -> None:
        connection.data_received(WHOLE * 10_000)
        assert connection.messages <= BODY_BITE // len(WHOLE)
        flood = connection.exception()
        assert isinstance(flood, Flood) and flood.reason == OVERHEAD

    reading(test)


def test_a_length_that_is_too_small_is_no_flood() -> None:
    """Some servers count characters instead of bytes, and send two bytes for each."""

    def test(connection: Counting) -> None:
        letters = 500_000
        connection.data_received(HEAD + b"Content-Length: %d\r\n\r\n" % letters + b"\xd0\xb0" * letters)
        assert not isinstance(connection.exception(), Flood)
        assert connection.should_close

    reading(test)


def test_a_connection_that_brought_more_than_was_asked_for_is_not_used_again() -> None:
    """The reader releases it at the last byte of the body, before the rest is examined."""

    def test(connection: Counting) -> None:
        def released() -> None:
            connection.idle = True

        connection.data_received(WHOLE[:-1])
        assert connection._body is not None
        connection._body.on_eof(released)
        connection.data_received(WHOLE[-1:] + WHOLE * ((BODY_BITE + MAX_FRAMING // 2) // len(WHOLE)))
        assert not connection.is_connected()

    reading(test)


def test_one_response_leaves_the_connection_as_it_is() -> None:
    def test(connection: Counting) -> None:
        connection.data_received(WHOLE)
        connection.set_response_params(read_until_eof=True, auto_decompress=False)
        connection.data_received(WHOLE)
        assert connection.messages == 2

    reading(test)


@pytest.mark.parametrize(
    ("took", "pause"), [(0.0, GATHERING), (5.0, 5.0 * GATHERING_SHARE), (100.0, LONGEST_GATHERING)]
)
def test_a_server_that_drips_is_read_less_often_the_longer_it_takes(
    took: float, pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def test(connection: Counting) -> None:
        pauses: list[float] = []
        loop = asyncio.get_running_loop()
        connection.data_received(HEAD + b"\r\n")
        connection.meter = ResponseMeter(2**18, loop.time() - took)
        monkeypatch.setattr(loop, "call_later", lambda delay, *_: pauses.append(delay))
        for _ in range(FREE_READS):
            connection.data_received(b"x")
        assert not pauses
        connection.data_received(b"x")
        (paused,) = pauses
        assert pause <= paused <= pause + 1.0, "that a busy machine may add"

    reading(test)


@pytest.mark.parametrize("size", [1, 4])
def test_chunks_with_less_in_them_than_around_them_are_a_flood_early(size: int) -> None:
    def test(connection: Counting) -> None:
        chunk = b"%x\r\n%b\r\n" % (size, b"x" * size)
        connection.data_received(CHUNKED)
        sent = 0
        while not isinstance(connection.exception(), Flood) and sent < 2**18:
            connection.data_received(chunk * 100)
            sent += 100 * len(chunk)
        flood = connection.exception()
        assert isinstance(flood, Flood) and flood.reason == OVERHEAD
        assert sent <= 8 * MAX_FRAMING, "long before a quarter of a megabyte"

    reading(test)


def test_a_page_in_small_chunks_is_read() -> None:
    def test(connection: Counting) -> None:
        connection.data_received(CHUNKED)
        for _ in range(20_000):
            connection.data_received(b"20\r\n" + b"x" * 32 + b"\r\n")
        connection.data_received(b"0\r\n\r\n")
        assert connection.exception() is None

    reading(test)


def test_a_small_page_in_chunks_of_one_byte_is_read() -> None:
    def test(connection: Counting) -> None:
        connection.data_received(CHUNKED + b"1\r\nx\r\n" * 3_000 + b"0\r\n\r\n")
        assert connection.exception() is None

    reading(test)
