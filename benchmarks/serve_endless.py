"""Serve the endless web as a proxy on a free port of loopback, until terminated."""

from __future__ import annotations

import asyncio
import contextlib

from benchmarks.endless import EndlessWeb
from crawlproject.virtualweb.server import WebServer


async def serve() -> None:
    async with WebServer(EndlessWeb()) as server:
        print(f"serving the endless web on http://127.0.0.1:{server.port}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
