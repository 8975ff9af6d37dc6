"""Servers on a port of ours. On loopback, each request to the table of routes passes a guard first."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import orjson

from crawlproject.errors import BadInput, BadSetting, StorageFailed
from crawlproject.http.loopback.guard import HEADERS

if TYPE_CHECKING:
    from aiohttp import web

_MOST_BODY = 64 * 1024  # bytes of a request


class ListeningServer(ABC):
    """Serves on a socket that listens already, while an event loop runs."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._runner: web.ServerRunner | None = None

    @property
    def url(self) -> str:
        """The address to open, without a slash at its end."""
        host, port = self._listening.getsockname()[:2]
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        return f"http://{shown}:{port}"

    async def begin(self) -> None:
        """Answer requests from now on."""
        from aiohttp import web

        self._runner = web.ServerRunner(self._server(), shutdown_timeout=0.5)
        await self._runner.setup()
        await web.SockSite(self._runner, self._listening).start()

    async def end(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @abstractmethod
    def _server(self) -> web.Server:
        """What makes a handler for each connection."""


class LoopbackServer(ListeningServer):
    """For browsers on this machine, behind a guard.

    A subclass sets ``routes``, by method and path, and ``assets``, files and their content types by path, before ``begin``.
    ``objection`` says why a request is refused. A handler may raise ``BadInput`` (400) and ``StorageFailed`` (507).
    """

    def __init__(self, listening: socket.socket) -> None:
        super().__init__(listening)
        self.routes: dict[tuple[str, str], Callable[[web.BaseRequest], Awaitable[web.Response]]] = {}
        self.assets: dict[str, tuple[Traversable, str]] = {}

    @abstractmethod
    def objection(self, method: str, request: web.BaseRequest) -> str | None:
        """Why a request is refused; None: it may pass. A HEAD comes as a GET."""

    def _server(self) -> web.Server:
        from aiohttp import web

        return web.Server(self._answer, access_log=None, max_field_size=16_384)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        method = "GET" if request.method == "HEAD" else request.method
        objection = self.objection(method, request)
        if objection:
            return json_answer({"error": objection}, 403)
        if method == "GET" and request.path in self.assets:
            file, kind = self.assets[request.path]  # which may be in a zip file
            return answer(file.read_bytes(), kind)
        handler = self.routes.get((method, request.path))
        if handler is None:
            wrong_method = any(path == request.path for _, path in self.routes)
            return json_answer({"error": "no such page"}, 405 if wrong_method else 404)
        try:
            return await handler(request)
        except BadInput as wrong:
            return json_answer({"error": str(wrong)}, 400)
        except StorageFailed as failure:
            return json_answer({"error": str(failure)}, 507)


def listen(host: str, port: int, setting: str) -> socket.socket:
    """A socket for a server; raises ``BadSetting`` for the ``setting`` of its port when nothing can listen there."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as refused:
        wish = "set another, or 0 for any that is free"
        raise BadSetting(f"setting {setting}", f"cannot listen on {host}:{port} ({refused}); {wish}") from None


async def json_body(request: web.BaseRequest, most: int = _MOST_BODY) -> Mapping[str, Any]:
    """The JSON object of a request with at most so many bytes. Raises ``BadInput``."""
    raw = bytearray()
    async for chunk in request.content.iter_any():
        raw += chunk
        if len(raw) > most:
            raise BadInput("request", f"expected at most {most:,} bytes")
    try:
        found = orjson.loads(bytes(raw))
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise BadInput("request", "expected a JSON object")
    return found


def json_answer(document: Any, status: int = 200) -> web.Response:
    body = orjson.dumps(document, default=str, option=orjson.OPT_NON_STR_KEYS)
    return answer(body, "application/json", status=status)


def answer(body: bytes, kind: str, headers: Mapping[str, str] | None = None, status: int = 200) -> web.Response:
    from aiohttp import web

    return web.Response(body=body, status=status, headers={**HEADERS, "Content-Type": kind, **(headers or {})})
