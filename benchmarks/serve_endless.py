"""Serve the endless web as a proxy on a free port of loopback: ``serve_endless.py [HOSTS [INSIDE]]`` (200 0)."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from benchmarks.endless import EndlessWeb
from crawlproject.http.virtual_web_server import WebServer


async def serve(hosts: int = 200, inside: float = 0.0) -> None:
    async with WebServer(EndlessWeb(hosts=hosts, inside=inside)) as server:
        print(f"serving the endless web on http://127.0.0.1:{server.port}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(*(convert(text) for convert, text in zip((int, float), sys.argv[1:], strict=False))))
