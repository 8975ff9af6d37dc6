"""The DevTools protocol of Chromium over a pair of pipes: JSON messages, each ended by a zero byte.

Of the protocol little is used, and that has been stable for years: targets, navigation, interception, evaluation.
https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

import orjson

LARGEST = 2**26  # bytes of a message: snapshots are cut, so a larger one is an attack, and nobody hears of it

Params = dict[str, Any]
Listener = Callable[[str, Params, int], None]


class BrowserGone(Exception):
    """The browser was closed, was killed, or is at its end."""


class CommandFailed(Exception):
    """The browser refused a command."""


class DevTools(asyncio.Protocol):
    """One connection. ``listen`` says who is told of the events of a session."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._is_dropped = False  # what the buffer has is the rest of a message that is too large
        self._answers: dict[int, asyncio.Future[Params]] = {}
        self._listeners: dict[str, Listener] = {}
        self._number = 0
        self._out: asyncio.WriteTransport | None = None
        self._in: asyncio.BaseTransport | None = None
        self.is_closed = False

    @classmethod
    async def connect(cls, reading: int, writing: int) -> DevTools:
        """Over two file descriptors, which it closes at its end."""
        loop, connection = asyncio.get_running_loop(), cls()
        connection._out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb", 0))
        connection._in, _ = await loop.connect_read_pipe(lambda: connection, os.fdopen(reading, "rb", 0))
        return connection

    async def send(self, method: str, session: str = "", **params: Any) -> Params:
        """The result of a command. Raises ``BrowserGone``, and ``CommandFailed`` when the browser refuses."""
        answer: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        number = self.post(method, session, **params)
        self._answers[number] = answer
        try:
            return await answer
        finally:
            self._answers.pop(number, None)

    def post(self, method: str, session: str = "", **params: Any) -> int:
        """Send a command whose result nobody waits for; its number. Raises ``BrowserGone``."""
        if self.is_closed or self._out is None:
            raise BrowserGone
        self._number += 1
        message: Params = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._out.write(orjson.dumps(message) + b"\0")
        return self._number

    def listen(self, session: str, listener: Listener | None) -> None:
        """``listener`` is called with name, parameters and bytes of each event of ``session``; None: nobody is."""
        if listener is None:
            self._listeners.pop(session, None)
        else:
            self._listeners[session] = listener

    def close(self) -> None:
        """Whoever waits gets ``BrowserGone``."""
        self.is_closed = True
        for transport in (self._in, self._out):
            if transport is not None:
                transport.close()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BrowserGone())
        for session, listener in list(self._listeners.items()):
            self.listen(session, None)
            listener("closed", {}, 0)

    # ------------------------------------------------------------ asyncio.Protocol

    def data_received(self, data: bytes) -> None:
        searched = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\0", searched)) >= 0:
            message = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            searched = 0
            if not self._is_dropped:  # orjson takes no half of a surrogate pair, which pages may have
                self._dispatch(json.loads(message), len(message))
            self._is_dropped = False
        if len(self._buffer) > LARGEST:
            self._is_dropped = True
            self._buffer.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        self.close()

    def _dispatch(self, message: Params, size: int) -> None:
        if "id" in message:
            answer = self._answers.get(message["id"])
            if answer is not None and not answer.done():
                if "error" in message:
                    answer.set_exception(CommandFailed(message["error"].get("message", "")))
                else:
                    answer.set_result(message.get("result", {}))
        elif listener := self._listeners.get(message.get("sessionId", "")):
            listener(message["method"], message.get("params", {}), size)
