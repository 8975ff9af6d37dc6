"""The HTTP server of the dashboard: page, numbers, search box, buttons. Every request passes the guard first.

The report and the map of a crawl folder are served with their own content security policies. The search box updates the
index of a crawl folder before it searches it.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import resources
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from crawlproject.adapters.running import time
from crawlproject.dashboard.crawl_json import seeds_document
from crawlproject.errors import BadCrawlDir, BadInput, BadSetting, StorageFailed
from crawlproject.http import loopback
from crawlproject.http.loopback import Guard, answer, json_answer, json_body
from crawlproject.parts.registry import part_module
from crawlproject.reports.html import clip, is_web
from crawlproject.reports.report import write_report
from crawlproject.storage.crawl_files import REPORT
from crawlproject.storage.searches import note_search

if TYPE_CHECKING:
    from aiohttp import web

    from crawlproject.adapters.seed_search import SeedsFound

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MAP_NODES = 1_500
REFRESH = 5.0  # seconds for which an index counts as up to date

_MOST_SHOWN = 8  # crawls displayed at once
_HITS = 10
_ASSETS = {
    "/dashboard.js": ("dashboard.js", "text/javascript; charset=utf-8"),
    "/dom.js": ("dom.js", "text/javascript; charset=utf-8"),
    "/chart.js": ("chart.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/dashboard.css": ("dashboard.css", "text/css; charset=utf-8"),
}


class Crawls(Protocol):
    """The crawls of a dashboard: the crawl of this process, or many. Methods raise ``BadInput`` for unknown names."""

    can_start: bool

    def crawls(self) -> list[dict[str, Any]]: ...
    def folder(self, name: str) -> Path: ...
    async def state(self, name: str) -> dict[str, Any]: ...
    async def control(self, name: str, action: str) -> None: ...
    async def seeds(self, query: str) -> SeedsFound: ...
    async def start(self, form: Any) -> tuple[list[str], SeedsFound | None]: ...


class Dashboard(loopback.LoopbackServer):
    """Serves ``crawls`` on a listening socket. ``live`` returns the numbers for ``/api/live``. ``sources`` describes where
    seeds come from. ``search_model`` is the setting ``SEARCH_MODEL``."""

    def __init__(
        self,
        crawls: Crawls,
        listening: socket.socket,
        name: str,
        live: Callable[[], dict[str, Any]] | None = None,
        orderings: Callable[[], list[tuple[str, str]]] = list,
        sources: str = "",
        search_model: str = "",
    ) -> None:
        super().__init__(listening)
        self.token = secrets.token_urlsafe(24)
        self._crawls = crawls
        self._guard = Guard(name, self.token)
        self._live = live
        self._search_box = SearchBox(model=search_model)
        self._orderings = orderings
        self._sources = sources
        self.assets = {
            path: (resources.files(__package__) / "assets" / name, kind) for path, (name, kind) in _ASSETS.items()
        }
        self.routes = {
            ("GET", "/"): self._page,
            ("GET", "/api/crawls"): self._list,
            ("GET", "/api/state"): self._state,
            ("GET", "/api/live"): self._live_numbers,
            ("GET", "/api/search"): self._search,
            ("GET", "/report"): partial(self._standalone, report_page),
            ("GET", "/map"): partial(self._standalone, map_page),
            ("POST", "/api/control"): self._control,
            ("POST", "/api/seeds"): self._seeds,
            ("POST", "/api/start"): self._start,
            ("POST", "/api/judge"): self._judge,
        }

    def objection(self, method: str, request: web.BaseRequest) -> str | None:
        return self._guard.objection(method, request.headers, request.remote or "")

    # ------------------------------------------------------------ requests

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
        return answer(page, "text/html; charset=utf-8")

    async def _list(self, request: web.BaseRequest) -> web.Response:
        return json_answer({"crawls": self._crawls.crawls()})

    async def _state(self, request: web.BaseRequest) -> web.Response:
        names = request.query.getall("crawl", [])[:_MOST_SHOWN]
        states = []
        for name in names:
            try:
                states.append(await self._crawls.state(name))
            except BadInput as wrong:
                states.append({"name": name[:200], "status": "failed", "output": str(wrong)})
        return json_answer({"states": states})

    async def _live_numbers(self, request: web.BaseRequest) -> web.Response:
        return json_answer(self._live() if self._live else {})

    async def _search(self, request: web.BaseRequest) -> web.Response:
        folder = self._crawls.folder(request.query.get("crawl", ""))
        query, offset = request.query.get("q", ""), request.query.get("offset", "0")
        start = int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 7 else 0
        return json_answer(await asyncio.to_thread(self._search_box.search, folder, query[:500], _HITS, start))

    async def _standalone(self, page: Callable[[Path], tuple[bytes, str]], request: web.BaseRequest) -> web.Response:
        """Serve a page that is also a file, with its own policy, and sandboxed so that it has a separate origin."""
        try:
            body, policy = await asyncio.to_thread(page, self._crawls.folder(request.query.get("crawl", "")))
        except FileNotFoundError:
            return json_answer({"error": "this crawl has no report: it fetched nothing"}, 404)
        sandboxed = (
            f"{policy}; frame-ancestors 'none'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"
        )
        return answer(body, "text/html; charset=utf-8", {"Content-Security-Policy": sandboxed})

    async def _control(self, request: web.BaseRequest) -> web.Response:
        asked = await json_body(request)
        await self._crawls.control(str(asked.get("crawl", "")), str(asked.get("action", "")))
        return json_answer({"done": True})

    async def _judge(self, request: web.BaseRequest) -> web.Response:
        asked = await json_body(request)
        url, relevant = asked.get("url"), asked.get("relevant")
        if not isinstance(url, str) or not isinstance(relevant, bool | None):
            raise BadInput("judgment", "expected url, and relevant: true, false, or null to take it back")
        if (judgments := part_module("judgments", "judgments")) is None:
            raise BadInput("judgment", "the part judgments is not installed")
        folder = self._crawls.folder(str(asked.get("crawl", "")))
        judgments.add_judgment(folder, judgments.Judgment(url, relevant, time()))
        return json_answer({"done": True})

    async def _start(self, request: web.BaseRequest) -> web.Response:
        names, found = await self._crawls.start(await json_body(request))
        return json_answer({"started": names, **(seeds_document(found) if found else {})})

    async def _seeds(self, request: web.BaseRequest) -> web.Response:
        asked = await json_body(request)
        return json_answer(seeds_document(await self._crawls.seeds(str(asked.get("query", ""))[:500])))


def listen(host: str, port: int) -> socket.socket:
    """A listening socket for the dashboard. Raises ``BadSetting`` if the port cannot be used."""
    return loopback.listen(host, port, "DASHBOARD_PORT")


def report_page(folder: Path) -> tuple[bytes, str]:
    """The report and its policy. The report is written again if the history is newer. Raises ``FileNotFoundError`` if
    nothing was fetched, ``BadCrawlDir`` and ``StorageFailed``.
    """
    path = folder / REPORT
    if _age(path) < _age(folder / "history.jsonl"):
        path = write_report(folder)
    try:
        return path.read_bytes(), REPORT_POLICY
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error}") from error


def map_page(folder: Path) -> tuple[bytes, str]:
    """The map of the crawl and its policy. Raises ``BadCrawlDir``."""
    from crawlproject.reports.map import map_html
    from crawlproject.reports.map_data import read_map

    return map_html(read_map(folder, limit=MAP_NODES))


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1


class SearchBox:
    """Searches crawl folders. Call it in a thread: indexing takes a while, and mostly runs without the GIL."""

    def __init__(self, clock: Callable[[], float] = monotonic, model: str = "") -> None:
        self._clock = clock
        self._model = model
        self._one_at_a_time = Lock()
        self._updated: dict[Path, float] = {}

    def search(self, folder: Path, query: str, limit: int, offset: int) -> dict[str, Any]:
        """One page of results. A snippet is HTML: escaped text with ``<b>`` marks.

        Raises ``BadCrawlDir`` for a damaged folder, and ``StorageFailed``.
        """
        if not query.strip():
            return {"total": 0, "hits": []}
        from crawlproject.exporting.index import noted, search, search_words
        from crawlproject.language_models.embeddings import search_model

        self._bring_up_to_date(folder)
        try:
            found = search(folder, query, limit=limit, offset=offset, model=search_model(self._model))
        except BadSetting as wrong:  # for example, the vectors of this crawl are from another model
            found = noted(search_words(folder, query, limit=limit, offset=offset), f"by words alone: {wrong}")
        if not offset:
            note_search(folder, query, found.total, time())
        return {
            "total": found.total,
            **({"note": found.note} if found.note else {}),
            "hits": [
                {"url": clip(hit.url, 500), "web": is_web(hit.url) and len(hit.url) <= 500, "title": clip(hit.title, 200),
                 "snippet": hit.snippet, "score": hit.score, "relevance": hit.relevance}
                for hit in found.hits
            ],
        }  # fmt: skip

    def _bring_up_to_date(self, folder: Path) -> None:
        from crawlproject.exporting.index import update

        with self._one_at_a_time:
            if self._clock() - self._updated.get(folder, float("-inf")) < REFRESH:
                return
            # Another process may be updating the index; then the existing index is searched. If that fails, too, the search
            # raises the reason.
            with suppress(BadCrawlDir):
                update(folder)
            self._updated[folder] = self._clock()
