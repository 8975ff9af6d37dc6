"""The dashboard over HTTP: page, numbers, search box, buttons. Every request passes the guard first."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from crawlproject.components.clock import time
from crawlproject.components.dashboard.crawl_json import seeds_document
from crawlproject.components.dashboard.guard import HEADERS, Guard
from crawlproject.components.dashboard.search import SearchBox
from crawlproject.errors import BadInput, BadSetting, StorageFailed
from crawlproject.storage.judgments import Judgment, add_judgment

if TYPE_CHECKING:
    from aiohttp import web

    from crawlproject.components.seed_search import SeedsFound

_MOST_BODY = 64 * 1024  # bytes of a request
_MOST_SHOWN = 8  # crawls shown at once
_HITS = 10
_ASSETS = {
    "/dashboard.js": ("dashboard.js", "text/javascript; charset=utf-8"),
    "/dom.js": ("dom.js", "text/javascript; charset=utf-8"),
    "/chart.js": ("chart.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/dashboard.css": ("dashboard.css", "text/css; charset=utf-8"),
}


class Crawls(Protocol):
    """The crawls that are shown: that of this process, or many. Methods raise ``BadInput`` for unknown names."""

    can_start: bool

    def crawls(self) -> list[dict[str, Any]]: ...
    def folder(self, name: str) -> Path: ...
    async def state(self, name: str) -> dict[str, Any]: ...
    async def control(self, name: str, action: str) -> None: ...
    async def seeds(self, query: str) -> SeedsFound: ...
    async def start(self, form: Any) -> tuple[list[str], SeedsFound | None]: ...


class Dashboard:
    """Serves ``crawls`` on a socket that listens already. ``live`` gives the numbers for ``/api/live``, ``sources`` says
    where seeds are looked for."""

    def __init__(
        self,
        crawls: Crawls,
        listening: socket.socket,
        name: str,
        live: Callable[[], dict[str, Any]] | None = None,
        orderings: Callable[[], list[tuple[str, str]]] = list,
        sources: str = "",
    ) -> None:
        self.token = secrets.token_urlsafe(24)
        self._crawls = crawls
        self._listening = listening
        self._guard = Guard(name, self.token)
        self._live = live
        self._search_box = SearchBox()
        self._orderings = orderings
        self._sources = sources
        self._runner: web.ServerRunner | None = None
        self._routes: dict[tuple[str, str], Callable[[web.BaseRequest], Awaitable[web.Response]]] = {
            ("GET", "/"): self._page,
            ("GET", "/api/crawls"): self._list,
            ("GET", "/api/state"): self._state,
            ("GET", "/api/live"): self._live_numbers,
            ("GET", "/api/search"): self._search,
            ("GET", "/report"): self._report,
            ("GET", "/map"): self._map,
            ("POST", "/api/control"): self._control,
            ("POST", "/api/seeds"): self._seeds,
            ("POST", "/api/start"): self._start,
            ("POST", "/api/judge"): self._judge,
        }

    @property
    def url(self) -> str:
        """The address to open, without a slash at its end."""
        host, port = self._listening.getsockname()[:2]
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        return f"http://{shown}:{port}"

    async def begin(self) -> None:
        """Answer requests from now on."""
        from aiohttp import web

        server = web.Server(self._answer, access_log=None, max_field_size=16_384)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.SockSite(self._runner, self._listening).start()

    async def end(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    # ------------------------------------------------------------ requests

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        method = "GET" if request.method == "HEAD" else request.method
        objection = self._guard.objection(method, request.headers, request.remote or "")
        if objection:
            return _json({"error": objection}, 403)
        if method == "GET" and request.path in _ASSETS:
            name, kind = _ASSETS[request.path]
            return _answer(_asset(name), kind)
        handler = self._routes.get((method, request.path))
        if handler is None:
            wrong_method = any(path == request.path for _, path in self._routes)
            return _json({"error": "no such page"}, 405 if wrong_method else 404)
        try:
            return await handler(request)
        except BadInput as wrong:
            return _json({"error": str(wrong)}, 400)
        except StorageFailed as failure:
            return _json({"error": str(failure)}, 507)

    async def _page(self, request: web.BaseRequest) -> web.Response:
        from crawlproject.reports.html import render

        page = render(
            "dashboard.html.j2",
            __package__,
            token=self.token,
            can_start=self._crawls.can_start,
            orderings=self._orderings(),
            sources=self._sources,
        )
        return _answer(page, "text/html; charset=utf-8")

    async def _list(self, request: web.BaseRequest) -> web.Response:
        return _json({"crawls": self._crawls.crawls()})

    async def _state(self, request: web.BaseRequest) -> web.Response:
        names = request.query.getall("crawl", [])[:_MOST_SHOWN]
        states = []
        for name in names:
            try:
                states.append(await self._crawls.state(name))
            except BadInput as wrong:
                states.append({"name": name[:200], "status": "failed", "output": str(wrong)})
        return _json({"states": states})

    async def _live_numbers(self, request: web.BaseRequest) -> web.Response:
        return _json(self._live() if self._live else {})

    async def _search(self, request: web.BaseRequest) -> web.Response:
        folder = self._crawls.folder(request.query.get("crawl", ""))
        query, offset = request.query.get("q", ""), request.query.get("offset", "0")
        start = int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 7 else 0
        return _json(await asyncio.to_thread(self._search_box.search, folder, query[:500], _HITS, start))

    async def _report(self, request: web.BaseRequest) -> web.Response:
        from crawlproject.components.dashboard.pages import report_page

        return await self._standalone(report_page, request)

    async def _map(self, request: web.BaseRequest) -> web.Response:
        from crawlproject.components.dashboard.pages import map_page

        return await self._standalone(map_page, request)

    async def _standalone(self, page: Callable[[Path], tuple[bytes, str]], request: web.BaseRequest) -> web.Response:
        """A page that is also written as a file: served under its own policy, in an origin of its own."""
        body, policy = await asyncio.to_thread(page, self._crawls.folder(request.query.get("crawl", "")))
        sandboxed = (
            f"{policy}; frame-ancestors 'none'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"
        )
        return _answer(body, "text/html; charset=utf-8", {"Content-Security-Policy": sandboxed})

    async def _control(self, request: web.BaseRequest) -> web.Response:
        asked = await _body(request)
        await self._crawls.control(str(asked.get("crawl", "")), str(asked.get("action", "")))
        return _json({"done": True})

    async def _judge(self, request: web.BaseRequest) -> web.Response:
        asked = await _body(request)
        url, relevant = asked.get("url"), asked.get("relevant")
        if not isinstance(url, str) or not isinstance(relevant, bool | None):
            raise BadInput("judgment", "expected url, and relevant: true, false, or null to take it back")
        add_judgment(self._crawls.folder(str(asked.get("crawl", ""))), Judgment(url, relevant, time()))
        return _json({"done": True})

    async def _start(self, request: web.BaseRequest) -> web.Response:
        names, found = await self._crawls.start(await _body(request))
        return _json({"started": names, **(seeds_document(found) if found else {})})

    async def _seeds(self, request: web.BaseRequest) -> web.Response:
        asked = await _body(request)
        return _json(seeds_document(await self._crawls.seeds(str(asked.get("query", ""))[:500])))


def listen(host: str, port: int) -> socket.socket:
    """A socket for the dashboard; raises ``BadSetting`` when nothing can listen there."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as refused:
        wish = "set another, or 0 for any that is free"
        raise BadSetting("setting DASHBOARD_PORT", f"cannot listen on {host}:{port} ({refused}); {wish}") from None


async def _body(request: web.BaseRequest) -> Mapping[str, Any]:
    raw = b""
    async for chunk in request.content.iter_any():
        raw += chunk
        if len(raw) > _MOST_BODY:
            raise BadInput("request", f"expected at most {_MOST_BODY:,} bytes")
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise BadInput("request", "expected a JSON object")
    return found


def _asset(name: str) -> bytes:
    """A file of this package, which may be in a zip file."""
    return (resources.files(__package__) / "assets" / name).read_bytes()


def _json(document: Any, status: int = 200) -> web.Response:
    body = orjson.dumps(document, default=str, option=orjson.OPT_NON_STR_KEYS)
    return _answer(body, "application/json", status=status)


def _answer(body: bytes, kind: str, headers: Mapping[str, str] | None = None, status: int = 200) -> web.Response:
    from aiohttp import web

    return web.Response(body=body, status=status, headers={**HEADERS, "Content-Type": kind, **(headers or {})})
