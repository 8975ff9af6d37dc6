"""The HTTP server of the companion: receives the current page, serves the panel. Requests must carry the token, except for
the files of the panel.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any

from crawlproject.adapters.running import time
from crawlproject.companion.companion import Companion
from crawlproject.companion.interests import heaviest, terms_of
from crawlproject.companion.person import PersonFolder
from crawlproject.errors import BadInput
from crawlproject.http.loopback import LoopbackServer, PrivateGuard, answer, json_answer, json_body
from crawlproject.pages.reader import Reader
from crawlproject.reports.html import clip, is_web

if TYPE_CHECKING:
    from aiohttp import web

_MOST_BODY = 4 * 1024 * 1024  # bytes of a request, which contains the HTML of a page
_TITLE, _URL = 200, 2000  # characters
_INTERESTS = 30  # words that are shown
_ASSETS = {
    "/": ("panel.html", "text/html; charset=utf-8"),
    "/panel.js": ("panel.js", "text/javascript; charset=utf-8"),
    "/panel.css": ("panel.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


class CompanionService(LoopbackServer):
    """Serves ``companion``. ``moved`` is called after each request that may give the crawl new work."""

    def __init__(
        self,
        companion: Companion,
        person: PersonFolder,
        reader: Reader,
        listening: socket.socket,
        moved: Callable[[], object],
    ) -> None:
        super().__init__(listening)
        self.token = person.token()
        self._guard = PrivateGuard(self.token)
        self._companion = companion
        self._person = person
        self._reader = reader
        self._moved = moved
        files = resources.files(__package__) / "browser"
        self.assets = {path: (files / name, kind) for path, (name, kind) in _ASSETS.items()}
        self.routes = {
            ("GET", "/api/panel"): self._panel,
            ("GET", "/api/profile"): self._profile,
            ("POST", "/api/page"): self._page,
            ("POST", "/api/read"): self._read,
            ("POST", "/api/judge"): self._judge,
            ("POST", "/api/pause"): self._pause,
            ("POST", "/api/leave"): self._leave,
            ("POST", "/api/never"): self._never,
            ("POST", "/api/interest"): self._interest,
            ("POST", "/api/forget"): self._forget,
        }

    def objection(self, method: str, request: web.BaseRequest) -> str | None:
        return self._guard.objection(method, request.headers, request.remote or "", is_open=request.path in self.assets)

    # ------------------------------------------------------------ what the panel shows

    async def _panel(self, request: web.BaseRequest) -> web.Response:
        wrong = ""
        try:
            self._look_at_file()
            self._companion.settle(time())
        except BadInput as found:
            wrong = str(found)
        return json_answer({**self._document(), "error": wrong})

    async def _profile(self, request: web.BaseRequest) -> web.Response:
        self._look_at_file()
        return answer(self._companion.profile.text().encode(), "application/json")

    def _document(self) -> dict[str, Any]:
        companion, pace = self._companion, self._companion.ahead.pace
        profile, page = companion.profile, companion.at_hand
        shown = heaviest({word: weight for word, weight in profile.interests.items() if weight > 0}, _INTERESTS)
        return {
            "paused": profile.paused,
            "page": {"url": page.url, "title": clip(page.title, _TITLE), "seconds": page.seconds} if page else None,
            "saved": bool(page and page.url in profile.saved),
            "suggestions": [
                {**asdict(found), "title": clip(found.title, _TITLE), "via": clip(found.via, _TITLE)}
                for found in companion.suggestions()
                if is_web(found.url)
            ],
            "learned": bool(profile.interests),
            "fetched": min(pace.spent, pace.per_page) if page else 0,
            "budget": pace.per_page,
            "interests": [{"word": word, "weight": round(weight, 2)} for word, weight in shown.items()],
            "never": profile.never,
            "file": str(self._person.path),
        }

    # ------------------------------------------------------------ what the person does

    async def _page(self, request: web.BaseRequest) -> web.Response:
        asked = await self._asked(request, most=_MOST_BODY)
        url, html, seconds = _text(asked, "url", _URL), _text(asked, "html", _MOST_BODY, ""), _seconds(asked, 0.0)
        if asked.get("private"):
            raise BadInput("page", "pages of private windows are not accepted")
        if asked.get("verdict", "") not in ("", "saved", "dismissed"):
            raise BadInput("verdict", "expected saved or dismissed")
        counts: Mapping[str, int] = {}
        words: dict[str, str] = {}
        if html and not self._companion.profile.paused:
            counts, words = terms_of(html, url, self._reader)
        now = time()
        if self._companion.open(url, _text(asked, "title", _TITLE, ""), counts, words, now):
            if seconds:
                self._companion.stay(url, seconds, now)
            if asked.get("verdict"):
                self._companion.judge(url, str(asked["verdict"]), now)
        return self._done()

    async def _read(self, request: web.BaseRequest) -> web.Response:
        asked = await self._asked(request)
        self._companion.stay(_text(asked, "url", _URL), _seconds(asked), time())
        return self._done()

    async def _judge(self, request: web.BaseRequest) -> web.Response:
        asked = await self._asked(request)
        self._companion.judge(_text(asked, "url", _URL), _text(asked, "verdict", 20, ""), time())
        return self._done()

    async def _pause(self, request: web.BaseRequest) -> web.Response:
        paused = (await self._asked(request)).get("paused")
        if not isinstance(paused, bool):
            raise BadInput("paused", "expected true or false")
        self._companion.pause(paused, time())
        return self._done()

    async def _leave(self, request: web.BaseRequest) -> web.Response:
        await self._asked(request)
        self._companion.leave(time())
        return self._done()

    async def _never(self, request: web.BaseRequest) -> web.Response:
        asked = await self._asked(request)
        self._companion.exclude(_text(asked, "url", _URL), time())
        return self._done()

    async def _interest(self, request: web.BaseRequest) -> web.Response:
        asked = await self._asked(request)
        weight = asked.get("weight")
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise BadInput("weight", "expected a number; 0 removes the word")
        self._companion.weigh(_text(asked, "word", 60), float(weight))
        return self._done()

    async def _forget(self, request: web.BaseRequest) -> web.Response:
        await json_body(request)  # without reading the profile, so that a damaged one can be deleted, too
        self._person.delete()
        self._companion.forget()
        return self._done()

    # ------------------------------------------------------------ inside

    async def _asked(self, request: web.BaseRequest, most: int = 64 * 1024) -> Mapping[str, Any]:
        """The body of a request, after reloading the profile if the person has edited it. Raises ``BadInput``."""
        asked = await json_body(request, most)
        self._look_at_file()
        return asked

    def _look_at_file(self) -> None:
        if self._person.is_changed():
            profile = self._person.load()
            if not self._person.path.exists():  # deleting the file means: forget everything
                self._companion.forget()
                profile.paused = self._companion.profile.paused
            self._companion.take_profile(profile)

    def _done(self) -> web.Response:
        self._moved()
        return json_answer(self._document())


def _text(asked: Mapping[str, Any], name: str, most: int, default: str | None = None) -> str:
    """A text field of a request. Without a ``default`` it is required, and refused if longer than ``most`` characters; with
    one it is cut there. Raises ``BadInput``.
    """
    value = asked.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise BadInput(name, "expected a text")
    if default is None and len(value) > most:
        raise BadInput(name, f"expected at most {most:,} characters")
    return value[:most]


def _seconds(asked: Mapping[str, Any], default: float | None = None) -> float:
    value = asked.get("seconds", default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 86_400:
        raise BadInput("seconds", "expected a number from 0 to 86,400")
    return float(value)
