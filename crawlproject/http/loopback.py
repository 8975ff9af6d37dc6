"""Small HTTP servers. On loopback, each request first passes a guard, which examines only its headers.

A web page that is open in the same browser can send requests to loopback, and after rebinding its name to 127.0.0.1
it can read the answers. So a request must name this machine by address, which a rebound name does not; and a request that
changes something must carry a token that only our own page has. Where the content is private, all requests must carry it.
"""

from __future__ import annotations

import hmac
import socket
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import orjson

from crawlproject.errors import BadInput, BadSetting, StorageFailed
from crawlproject.urls.addresses import REBOUND, is_loopback, names_this_machine, without_port

if TYPE_CHECKING:
    from aiohttp import web

TOKEN = "X-Dashboard-Token"
PRIVATE_TOKEN = "X-Companion-Token"
EXTENSIONS = ("chrome-extension://", "moz-extension://")  # origins of a browser's extensions
# Only our scripts, nothing from other sites, and no site may frame our pages.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


_MOST_BODY = 64 * 1024  # bytes of a request


class ListeningServer(ABC):
    """Serves on a socket that is already listening, while an event loop runs."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._runner: web.ServerRunner | None = None

    @property
    def url(self) -> str:
        """The address to open, without a trailing slash."""
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
        """Return the aiohttp server, which makes a handler for each connection."""


class LoopbackServer(ListeningServer):
    """A server for browsers on this machine, behind a guard.

    A subclass sets ``routes`` (handlers by method and path) and ``assets`` (files and their content types by path) before
    ``begin``. ``objection`` says why a request is refused. A handler may raise ``BadInput`` (400) and ``StorageFailed`` (507).
    """

    def __init__(self, listening: socket.socket) -> None:
        super().__init__(listening)
        self.routes: dict[tuple[str, str], Callable[[web.BaseRequest], Awaitable[web.Response]]] = {}
        self.assets: dict[str, tuple[Traversable, str]] = {}

    @abstractmethod
    def objection(self, method: str, request: web.BaseRequest) -> str | None:
        """Why a request is refused; None: it may pass. ``method`` is GET for a HEAD request."""

    def _server(self) -> web.Server:
        from aiohttp import web

        return web.Server(self._answer, access_log=None, max_field_size=16_384)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        method = "GET" if request.method == "HEAD" else request.method
        objection = self.objection(method, request)
        if objection:
            return json_answer({"error": objection}, 403)
        if method == "GET" and request.path in self.assets:
            file, kind = self.assets[request.path]  # the file may be in a zip file
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
    """Open a listening socket. Raises ``BadSetting`` for ``setting``, that of its port, if the port cannot be used."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as refused:
        wish = "set another, or 0 for any that is free"
        raise BadSetting(f"setting {setting}", f"cannot listen on {host}:{port} ({refused}); {wish}") from None


async def json_body(request: web.BaseRequest, most: int = _MOST_BODY) -> Mapping[str, Any]:
    """The JSON object in a request of at most ``most`` bytes. Raises ``BadInput``."""
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


class Guard:
    """The guard of the dashboard. ``name`` is the setting ``DASHBOARD_HOST``, which is also accepted. ``token`` is a secret."""

    def __init__(self, name: str, token: str) -> None:
        self._name = name
        self._token = token

    def objection(self, method: str, headers: Mapping[str, str], peer: str) -> str | None:
        """Why a request is refused; None: it may pass. ``headers`` ignore case; ``peer`` is the address it came from."""
        host = headers.get("Host", "")
        if not names_this_machine(host, self._name):
            return REBOUND
        if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return "requests from other sites are refused"
        if method in ("GET", "HEAD"):
            return None
        if not is_loopback(peer):
            return "crawls can be controlled from their own machine only"
        if headers.get("Origin", f"http://{host}") != f"http://{host}":
            return "requests from other sites are refused"
        if headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            return "expected application/json"
        if not hmac.compare_digest(headers.get(TOKEN, "").encode(), self._token.encode()):
            return f"expected the token of this dashboard in {TOKEN}; reload it"
        return None


class PrivateGuard:
    """The guard of content that no other user of this machine may see. Every request must carry the token, except for pages and
    files without secrets.

    The token is in no page: it comes from the address that the command prints, or from a browser extension.
    So requests of extensions pass; no web page can have their origin.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    def objection(self, method: str, headers: Mapping[str, str], peer: str, *, is_open: bool) -> str | None:
        """As ``Guard.objection``. ``is_open``: the request is for a page or file without secrets."""
        host, origin = headers.get("Host", ""), headers.get("Origin", "")
        if without_port(host).lower() not in ("localhost", "127.0.0.1", "[::1]"):
            return "the Host header must be the loopback address of this machine, not a name (DNS rebinding)"
        if not is_loopback(peer):
            return "requests from other machines are refused"
        if is_open and method == "GET":
            return None
        if not hmac.compare_digest(headers.get(PRIVATE_TOKEN, "").encode(), self._token.encode()):
            return f"expected the token in {PRIVATE_TOKEN}; open the address that the command printed"
        if origin.startswith(EXTENSIONS):
            site = True
        else:
            site = headers.get("Sec-Fetch-Site", "same-origin") in ("same-origin", "none")
            site = site and (origin or f"http://{host}") == f"http://{host}"
        if not site:
            return "requests from other sites are refused"
        if method == "POST" and headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            return "expected application/json"
        return None
