"""An HTTP proxy that derives addresses from host names: ``a-127-1-2-3.evil.example`` is at ``127.1.2.3``.

The proxy passes on bytes unchanged, whatever a server sends, so a flood reaches the crawler as it would without a proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

_ADDRESS = re.compile(r"(\d+)[.-](\d+)[.-](\d+)[.-](\d+)")
_BLOCK = 2**16


def address_of(host: str) -> str:
    """The address in a name. Raises ``ValueError`` if there is none."""
    found = _ADDRESS.search(host)
    if not found:
        raise ValueError(f"expected an address in the name {host!r}")
    return ".".join(found.groups())


class ForwardProxy:
    """Sends each request over a new connection, and passes on the answer until the client sends another or leaves."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering: asyncio.Task[None] | None = None
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if answering:
                    answering.cancel()
                answering = asyncio.create_task(self._answer(head, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            if answering:
                answering.cancel()
            writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        method, target, rest = head.split(b" ", 2)
        url = urlsplit(target.decode())
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        server, out = await asyncio.open_connection(address_of(url.hostname or ""), url.port or 80)
        try:
            out.write(b" ".join((method, path.encode(), rest)))
            while data := await server.read(_BLOCK):
                writer.write(data)
                await writer.drain()
            writer.close()
        except ConnectionError:
            writer.close()
        finally:
            out.close()


@contextmanager
def forward_proxy() -> Iterator[str]:
    """Run the proxy in a separate process; yield its URL."""
    command = [sys.executable, "-m", "benchmarks.forward_proxy"]
    root = Path(__file__).resolve().parent.parent
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout
        try:
            yield f"http://127.0.0.1:{int(proxy.stdout.readline())}"
        finally:
            proxy.kill()


async def _serve() -> None:
    listening = await asyncio.start_server(ForwardProxy().serve, "127.0.0.1", 0, backlog=1000)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve())
