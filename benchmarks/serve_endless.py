"""Serve the endless web as a proxy on a free port of loopback, until terminated: ``serve_endless.py [HOSTS]`` (200)."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from benchmarks.endless import EndlessWeb
from crawlproject.http.virtual_web_server import WebServer


async def serve(hosts: int) -> None:
    async with WebServer(EndlessWeb(hosts=hosts)) as server:
        print(f"serving the endless web on http://127.0.0.1:{server.port}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
