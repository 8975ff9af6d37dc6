"""Serves any virtual web as an HTTP proxy on loopback, to exercise the whole stack over real sockets.

A client with ``http_proxy=http://127.0.0.1:PORT`` requests absolute URLs (RFC 9112 section 3.2.2) and gets the replies of the
web. A request in origin form is answered for its Host header, so that the server can also replace a single host.
Connections are kept alive. A refused connection in the web becomes a connection closed without an answer, and a timeout becomes
a 504, which is all that a proxy can express.

The access log has one JSON line per request, in the order in which the requests ended:

    {"start": 1700000000.25, "end": 1700000000.26, "host": "h.example", "url": "http://h.example/", "method": "GET",
     "status": 200, "agent": "topical-crawler/0.1", "bytes": 4711}

``start`` is when the request was read, and ``end`` when its response began to be written, in seconds since the epoch: a client
receives a response only after that, however busy the machine is. ``status`` is 0 when the connection was closed
without a response; ``bytes`` is the size of the body sent.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self, TypedDict

from aiohttp import web as http

from crawlproject.records import Reply
from crawlproject.webs.base import Web, answer

LOOPBACK = "127.0.0.1"

_GRACE = 0.5  # seconds for open requests to finish when the server stops
_MAX_LINE = 2**16  # bytes of a request line or header: crawlers encounter long URLs


class Access(TypedDict):
    """A line of the log."""

    start: float
    end: float
    host: str
    url: str
    method: str
    status: int
    agent: str
    bytes: int


class AccessLog:
    """Appends lines to the file at ``path``; each is flushed before the next request is answered."""

    def __init__(self, path: Path) -> None:
        self._file: IO[str] = path.open("a", buffering=1, encoding="utf-8")

    def write(self, access: Access) -> None:
        self._file.write(json.dumps(access, separators=(",", ":")) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read_log(path: Path) -> list[Access]:
    """The complete lines of a log, without one that is being written."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]


class WebServer:
    """Serves ``web`` on ``port`` (0: any free port) of ``address``. Not started until ``start``.

    With ``latency``, every reply is delayed by its ``Reply.seconds``. Requests are written to ``log`` as they end.
    """

    def __init__(
        self, web: Web, port: int = 0, *, address: str = LOOPBACK, latency: bool = False, log: AccessLog | None = None
    ) -> None:
        self.port = port
        self._address = address
        self._web = web
        self._latency = latency
        self._log = log

    @property
    def url(self) -> str:
        """The value for ``http_proxy``."""
        return f"http://{LOOPBACK}:{self.port}"

    async def start(self) -> None:
        """Listen. ``port`` is the real port afterwards. Raises ``OSError`` when the port is taken."""
        listening = socket.create_server((self._address, self.port), backlog=1024)
        self.port = listening.getsockname()[1]
        server = http.Server(
            self._handle, max_line_size=_MAX_LINE, max_field_size=_MAX_LINE, auto_decompress=False, access_log=None
        )
        self._runner = http.ServerRunner(server, shutdown_timeout=_GRACE)
        await self._runner.setup()
        await http.SockSite(self._runner, listening).start()

    async def stop(self) -> None:
        """Close the port; requests in flight have half a second to end."""
        await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _handle(self, request: http.BaseRequest) -> http.Response:
        start = time.time()
        url = _asked_url(request)
        reply = self._reply(request, url, await _sent(request))
        if self._latency and reply.seconds:
            await asyncio.sleep(reply.seconds)
        response = _response(reply)
        end = time.time()
        sent = not reply.error and await _send(response, request)
        if not sent and request.transport is not None:
            request.transport.close()
        if self._log is not None:
            self._log.write(
                {
                    "start": start,
                    "end": end,
                    "host": _host(url),
                    "url": url,
                    "method": request.method,
                    "status": reply.status if sent else 0,
                    "agent": request.headers.get("User-Agent", ""),
                    "bytes": len(reply.body) if sent else 0,
                }
            )
        return response

    def _reply(self, request: http.BaseRequest, url: str, sent: bytes) -> Reply:
        if request.method == "CONNECT":
            return _plain(
                url, 501, "No tunnel: https pages are at the same URL with http. VIRTUAL_WEB serves them as they are."
            )
        if not url.startswith(("http://", "https://")):
            return _plain(url, 400, "Ask for an absolute URL, as a proxy's client does, or send a Host header.")
        reply = answer(self._web, request.method, self._held_as(url), request.headers, sent)
        if reply.error == "timeout":
            return _plain(url, 504, "The host did not answer in time.", seconds=reply.seconds)
        return reply

    def _held_as(self, url: str) -> str:
        """The https URL in place of an http URL that is not in the web, or only redirects there."""
        if not url.startswith("http://"):
            return url
        secure = f"https://{url.removeprefix('http://')}"
        if secure not in self._web:
            return url
        leads = self._web.get(url).headers.get("location", "") if url in self._web else secure
        return secure if leads == secure else url


@contextmanager
def running(
    web: Web, port: int = 0, *, address: str = LOOPBACK, latency: bool = False, log: AccessLog | None = None
) -> Iterator[WebServer]:
    """Run a server in a separate thread while the context lasts, for experiments and tests."""
    server = WebServer(web, port, address=address, latency=latency, log=log)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="virtual web", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _sent(request: http.BaseRequest) -> bytes:
    """The body of a request, up to the maximum length of a form."""
    return await request.content.read(_MAX_LINE) if request.can_read_body else b""


async def _send(response: http.Response, request: http.BaseRequest) -> bool:
    """Write the whole response now; False when the client has left."""
    try:
        await response.prepare(request)
        await response.write_eof()
    except ConnectionError:
        return False
    return True


def _response(reply: Reply) -> http.Response:
    # A missing content type is sent as an empty one, because aiohttp would send application/octet-stream.
    headers = reply.headers if "content-type" in reply.headers else {**reply.headers, "content-type": ""}
    return http.Response(status=reply.status or 502, body=reply.body, headers=headers)


def _asked_url(request: http.BaseRequest) -> str:
    """The URL as the client spelled it: the request target, or Host and the request target."""
    target = request.raw_path
    host = request.headers.get("Host")
    return f"http://{host}{target}" if host and target.startswith("/") else target


def _host(url: str) -> str:
    """The host of an absolute URL, with its port if the URL names one."""
    authority = url.partition("://")[2].partition("/")[0].partition("?")[0]
    return authority.rpartition("@")[2].lower()


def _plain(url: str, status: int, sentence: str, *, seconds: float = 0.0) -> Reply:
    return Reply(url, status, {"content-type": "text/plain; charset=utf-8"}, f"{sentence}\n".encode(), seconds)
