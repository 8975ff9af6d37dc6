"""The network between a worker and Redis: a process that passes on bytes until the connection is cut."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from multiprocessing import Pipe, Process
from typing import Any

_AT_ONCE = 1 << 16
_LOOPBACK = "127.0.0.1"


class Relay:
    """Passes bytes between ``port`` and another loopback port, in both directions."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.port = 0
        self._start()

    @property
    def url(self) -> str:
        return f"redis://{_LOOPBACK}:{self.port}/0"

    def silence(self) -> None:
        """Stop passing bytes in both directions. They are delayed, not lost, as in TCP when a network is down for a while."""
        self._signal(signal.SIGSTOP)

    def speak(self) -> None:
        self._signal(signal.SIGCONT)

    def tear(self) -> None:
        """Break all connections and refuse new ones. Bytes on their way are lost."""
        self._process.kill()
        self._process.join()

    def mend(self) -> None:
        self._start()

    def _start(self) -> None:
        here, there = Pipe()
        self._process = Process(target=_run, args=(self.port, self._target, there), daemon=True)
        self._process.start()
        self.port = here.recv()

    def _signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)


def _run(port: int, target: int, pipe: Any) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(_LOOPBACK, target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pass(reader, back), _pass(there, writer))

    async def serve() -> None:
        server = await asyncio.start_server(connected, _LOOPBACK, port)
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(serve())


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_AT_ONCE):
            writer.write(data)
            await writer.drain()
    writer.close()
